// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Entries at their times: not before, within a window, each period.
@Suite struct ScheduleTests {
    private let lab: TablesLab
    private var tables: OutboxTables { lab.tables }
    private let now: Int64 = 1_000_000_000_000
    private let hour: Int64 = 3_600_000

    init() throws { lab = try TablesLab() }

    @discardableResult
    private func insert(
        _ lane: String = "a", at time: Int64? = nil, limits: OutboxLimits = OutboxLimits(),
        _ change: (inout OutboxRequest) -> Void = { _ in }
    ) throws -> OutboxID {
        var request = try OutboxRequest(to: "http://example.com/", lane: lane)
        change(&request)
        return try lab.insert(request, at: time ?? now, limits: limits).receipts[0].id
    }

    private func ready(at time: Int64) throws -> [Int64] {
        try tables.ready(.any, now: time, horizon: hour, exceptHosts: [], limit: 100).map(\.id.rawValue)
    }

    private func entries(at time: Int64) throws -> [OutboxEntry] {
        try tables.entries(OutboxSelection(), limit: 99, now: time)
    }

    @Test(
        "OBX-030 A scheduled entry does not hold up its lane, and takes the place of its number with its time"
    )
    func notBefore() throws {
        let later = try insert { $0.notBefore = WallClock.date(now + hour) }
        let first = try insert()
        let second = try insert()
        #expect(try ready(at: now + hour) == [first.rawValue])
        #expect(try entries(at: now).map(\.state) == [.scheduled, .waiting, .waiting])
        #expect(try entries(at: now)[0].nextAttempt == WallClock.date(now + hour))
        #expect(try tables.counts().waiting == 3 && tables.counts().oldest == WallClock.date(now))
        #expect(try tables.nextDeadline(after: now) == now + hour)
        #expect(try tables.due(now: now + hour - 1, limit: 9).isEmpty)
        #expect(try tables.due(now: now + hour, limit: 9) == [later])
        #expect(try tables.join([later, first]) == [later])
        #expect(try ready(at: now + hour) == [later.rawValue])
        var files: [String] = []
        #expect(try tables.remove(later, as: .delivered, now: now, files: &files))
        #expect(try ready(at: now + hour) == [first.rawValue])
        #expect(try tables.remove(first, as: .removed, now: now, files: &files))
        #expect(try ready(at: now + hour) == [second.rawValue])
        #expect(try tables.counts().waiting == 1)
    }

    @Test(
        "OBX-031 A time that has passed is none; one that expires first is refused; what is scheduled expires too"
    )
    func expiry() throws {
        try insert { $0.notBefore = WallClock.date(now) }
        #expect(try entries(at: now).map(\.state) == [.waiting])
        #expect(throws: OutboxError.self) {
            try insert {
                $0.notBefore = WallClock.date(now + hour)
                $0.expires = WallClock.date(now + hour)
            }
        }
        let id = try insert("b") {
            $0.notBefore = WallClock.date(now + hour)
            $0.expires = WallClock.date(now + 2 * hour)
        }
        #expect(try tables.expired(now: now + 2 * hour, limit: 9) == [id])
        var limits = OutboxLimits()
        (limits.maximumEntries, limits.policy) = (2, .dropOldest)
        // What waits gives way before what is scheduled.
        try insert("c", limits: limits)
        #expect(try entries(at: now).map(\.lane) == ["b", "c"])
        try insert("d", limits: limits)
        #expect(try entries(at: now).map(\.lane) == ["b", "d"])
    }

    @Test("OBX-032 A clock that is set moves what was stored since boot, but no date a year away")
    func clock() throws {
        try tables.follow(ClockReading(wall: 9_000, elapsed: 8_000, boot: "b"))
        let soon = try insert(at: 9_000) {
            $0.notBefore = WallClock.date(9_000 + hour)
            ($0.replaces, $0.every) = ("x", .seconds(3_600))
        }
        let date = try insert("date", at: 9_000) { $0.notBefore = WallClock.date(now) }
        try insert("window", at: 9_000) { $0.window = OutboxWindow("02:00-02:01") }
        #expect(
            try tables.hold(
                gate: "g", reason: "", until: 9_000 + hour,
                clock: ClockReading(wall: 9_000, elapsed: 8_000, boot: "b")))
        try tables.closeLanes(now: 9_000) { _ in 0 }
        #expect(try tables.hasClosedLanes())
        let jump = now - 9_000
        try tables.follow(ClockReading(wall: now, elapsed: 8_000, boot: "b"))
        let moved = try entries(at: now)
        #expect(moved.first { $0.id == soon }?.nextAttempt == WallClock.date(9_000 + hour + jump))
        #expect(moved.first { $0.id == soon }?.notBefore == WallClock.date(9_000 + hour + jump))
        #expect(moved.first { $0.id == date }?.notBefore == WallClock.date(now))
        #expect(moved.first { $0.id == date }?.nextAttempt == WallClock.date(now))
        #expect(try tables.gates(now: now).map(\.until) == [WallClock.date(9_000 + hour + jump)])
        // The window is looked up anew.
        #expect(try !tables.hasClosedLanes())
    }

    @Test(
        "OBX-033 Outside of its window an entry's lane waits with it, another does not, and lists say until when"
    )
    func window() throws {
        // 2001-09-09 01:46:40 UTC.
        let inside = try #require(OutboxWindow("01:00-02:00"))
        let outside = try #require(OutboxWindow("03:00-04:00"))
        let utc: LocalOffset = { _ in 0 }
        try insert("open") { $0.window = inside }
        try insert("closed") { $0.window = outside }
        try insert("closed")
        // As another zone has left it.
        try tables.forgetOpenings()
        #expect(try ready(at: now) == [1, 2])
        try tables.closeLanes(now: now, utc)
        #expect(try ready(at: now) == [1])
        let opens = now + 4_400_000
        #expect(try tables.nextDeadline(after: now) == opens)
        #expect(try ready(at: opens) == [1, 2])
        try tables.closeLanes(now: opens, utc)
        #expect(try ready(at: opens) == [2])
        var holds = EntryHolds(now: now, utc)
        let plan = try #require(try tables.plan(OutboxID(rawValue: 2)))
        #expect(
            holds.reason(plan, lane: "a") { nil }
                == "its window 03:00-04:00 lets it leave at 2001-09-09T03:00:00.000Z")
        #expect(holds.reason(OutboxPlan(window: inside), lane: "a") { nil } == nil)
        // When it waits for its next try its lane's window is looked up again.
        try tables.postpone(
            OutboxID(rawValue: 2), lane: "closed", OutboxFailure(.server, "x"), next: opens + 5)
        #expect(try ready(at: opens + 5).contains(2))
    }

    @Test(
        "OBX-034 Periodic work is stored again with its next time, its content and a new key; a file is shared"
    )
    func periodic() throws {
        let id = try insert {
            ($0.replaces, $0.every, $0.tags, $0.gates) = ("p", .seconds(3_600), ["t"], ["g"])
            ($0.body, $0.expires) = (
                .data(Data(repeating: 1, count: 100_000)), WallClock.date(now + hour / 2)
            )
        }
        let before = try entries(at: now)[0]
        #expect(before.state == .waiting && before.notBefore == WallClock.date(now))
        // Two periods were missed.
        let later = now + 2 * hour + 5
        let next = try #require(try tables.storeNext(after: id, now: later))
        #expect(try tables.counts().waiting == 2 && tables.counts().bytes == 200_000)
        var files: [String] = []
        #expect(try tables.remove(id, as: .delivered, now: later, files: &files))
        #expect(files.isEmpty)
        let entry = try #require(try entries(at: later).first)
        #expect(
            entry.id == next && entry.state == .scheduled && entry.notBefore == WallClock.date(now + 3 * hour)
        )
        #expect(entry.expires == WallClock.date(now + 3 * hour + hour / 2))
        #expect(
            entry.replaces == "p" && entry.tags == ["t"] && entry.gates == ["g"]
                && entry.every == .seconds(3_600))
        #expect(entry.idempotencyKey != before.idempotencyKey && entry.bodySize == 100_000)
        #expect(try tables.remove(next, as: .removed, now: later, files: &files))
        #expect(try files.count == 1 && tables.counts() == OutboxCounts())
    }

    @Test("OBX-035 What cannot be is refused with what to do", arguments: 0..<8)
    func refusals(_ number: Int) throws {
        #expect(throws: OutboxError.self) {
            try insert {
                switch number {
                case 0: ($0.replaces, $0.every) = ("x", .seconds(59))
                case 1: $0.every = .seconds(60)
                case 2: $0.replaces = ""
                case 3: $0.tags = ["a\nb"]
                case 4: $0.gates = [String(repeating: "g", count: 65)]
                case 5: $0.spread = .seconds(-1)
                case 6: $0.tags = Set((0..<33).map { "\($0)" })
                default: $0.spread = .seconds(400 * 86_400)
                }
            }
        }
        #expect(try tables.counts() == OutboxCounts())
    }
}

/// The same by a process that delivers.
@Suite struct ScheduledDeliveryTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    /// Has an entry's time come.
    private func advance(_ id: OutboxID, _ outbox: RequestOutbox) async throws {
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                _ = try database.run("UPDATE entries SET next = 1 WHERE id = ?", [.integer(id.rawValue)])
            }
            engine.startReady()
        }
    }

    @Test("OBX-036 A scheduled entry leaves when its time comes, and what stands behind it before that")
    func notBefore() async throws {
        let outbox = try await lab.open()
        var later = try lab.request(0)
        later.notBefore = Date(timeIntervalSinceNow: 3_600)
        let receipt = try await outbox.enqueue(later)
        let other = try await outbox.enqueue(lab.request(1))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(other.id)
        #expect(try await outbox.entry(receipt.id)?.state == .scheduled)
        try await advance(receipt.id, outbox)
        try await lab.delivered(receipt.id)
        // One whose time comes by the clock, which wakes the outbox.
        var soon = try lab.request(2)
        soon.notBefore = Date(timeIntervalSinceNow: 0.2)
        try await lab.delivered(outbox.enqueue(soon).id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [1, 0, 2])
        #expect(Date() >= (soon.notBefore ?? .distantFuture))
        await outbox.close()
    }

    @Test(
        "OBX-037 Periodic work goes on after a delivery and a refusal, keeps one dead letter, and ends when replaced"
    )
    func periodic() async throws {
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        var request = try lab.request(0, path: "/status/422?")
        (request.replaces, request.every) = ("report", .seconds(3_600))
        var id = try await outbox.enqueue(request).id
        var dead: [OutboxID] = []
        for _ in 0..<2 {
            let next = try await lab.wait { event -> OutboxID? in
                if case .repeated(id, let next) = event { next } else { nil }
            }
            dead.append(id)
            try await advance(next, outbox)
            id = next
        }
        _ = try await lab.wait { event -> Bool? in if case .repeated(id, _) = event { true } else { nil } }
        dead.append(id)
        #expect(try await outbox.entries(state: .dead).map(\.id) == [dead[2]])
        #expect(try await outbox.result(of: dead[0])?.successor == dead[1])
        let scheduled = try await outbox.entries(state: .scheduled)
        #expect(scheduled.count == 1)
        var last = try lab.request(1)
        last.replaces = "report"
        let receipt = try await outbox.enqueue(last)
        #expect(receipt.replaced == scheduled.map(\.id))
        try await lab.delivered(receipt.id)
        #expect(try await outbox.counts().waiting == 0)
        await outbox.close()
    }
}
