// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Storage
import TestSupport
import Testing

@testable import Outbox

/// The choice of entries at given instants.
@Suite struct TablesTests {
    private let lab: TablesLab
    private var tables: OutboxTables { lab.tables }
    private var bodies: BodyFolder { lab.bodies }
    private let now: Int64 = 1_000_000_000_000
    private let hour: Int64 = 3_600_000

    init() throws { lab = try TablesLab() }

    @discardableResult
    private func insert(
        _ lane: String, expires: Int64? = nil, at time: Int64? = nil, limits: OutboxLimits = OutboxLimits()
    ) throws -> OutboxTables.Insertion {
        var request = try OutboxRequest(to: "http://example.com/", lane: lane)
        request.expires = expires.map { WallClock.date($0) }
        return try lab.insert(request, at: time ?? now, limits: limits)
    }

    private func id(_ number: Int64) -> OutboxID { OutboxID(rawValue: number) }

    private func ready(at time: Int64) throws -> [Int64] {
        try tables.ready(.any, now: time, horizon: hour, exceptHosts: [], limit: 100).map(\.id.rawValue)
    }

    @Test("An entry expires with its instant and not before; then there is nothing more to wait for")
    func expiry() throws {
        try insert("a", expires: now + 500)
        try insert("b")
        #expect(try tables.expired(now: now + 499, limit: 10).isEmpty)
        #expect(try tables.expired(now: now + 500, limit: 10) == [id(1)])
        #expect(try tables.nextDeadline(after: now + 499) == now + 500)
        #expect(try tables.nextDeadline(after: now + 500) == nil)
    }

    @Test("FLD-024 What goes to a stopped origin, or without TLS, is not chosen, and lists tell why")
    func holds() throws {
        try insert("a")
        var secure = try OutboxRequest(to: "https://example.com:8443/", lane: "b")
        secure.maximumAttempts = 7
        _ = try lab.insert(secure, at: now)
        func ready(_ origins: [String] = [], holdsPlain: Bool = false) throws -> [Int64] {
            try tables.ready(
                .any, now: now, horizon: hour, exceptHosts: [], exceptOrigins: origins,
                holdsPlain: holdsPlain,
                limit: 100
            ).map(\.id.rawValue)
        }
        #expect(try ready() == [1, 2] && ready(["https://example.com:8443"]) == [1])
        #expect(try ready(["https://example.com"]) == [1, 2] && ready(holdsPlain: true) == [2])
        var record = OriginRefusals.Record(origin: "https://example.com:8443", last: now)
        (record.suspects, record.until, record.trials, record.reason) = (
            [id(7), id(9)], now, 3, "it refuses"
        )
        try tables.store(record)
        try tables.holdPlain("a portal")
        #expect(try tables.originRecords() == [record])
        let entries = try tables.entries(OutboxSelection(), limit: 9, now: now)
        #expect(entries.map(\.hold) == ["a portal", "it refuses"])
        #expect(entries.map(\.maximumAttempts) == [nil, 7])
        try tables.holdPlain(nil)
        try tables.remove(hold: record.origin)
        #expect(try tables.originRecords().isEmpty && tables.entry(id(1))?.hold == nil)
    }

    @Test("UPL-363 A hold of the manager stands over an origin's record, and a new delivery forgets it")
    func managerHolds() throws {
        try insert("a")
        let origin = "http://example.com"
        var record = OriginRefusals.Record(origin: origin, last: now)
        record.suspects = [id(7)]
        try tables.store(record)
        try tables.hold(origin, "a clock", beside: record)
        #expect(
            try tables.entry(id(1))?.hold == "a clock" && tables.originRecords().map(\.suspects) == [[id(7)]])
        try tables.hold(origin, nil, beside: record)
        #expect(try tables.entry(id(1))?.hold == nil && tables.originRecords() == [record])
        (record.since, record.until) = (now, now + hour)
        try tables.store(record)
        try tables.hold("http://other.example", "a clock")
        try tables.holdPlain("a portal")
        // As an earlier version stored it.
        try tables.hold("#1", "a clock")
        try tables.forgetHolds()
        #expect(try tables.holds() == [origin: ""] && tables.originRecords() == [record])
    }

    @Test(
        "What was put off leaves with its instant; one that lies further off than any pause, at once: the clock was set back"
    )
    func pauses() throws {
        let failure = OutboxFailure(.server, "x")
        for (lane, pause) in [("a", 500), ("b", hour), ("c", hour + 1)] {
            let receipt = try #require(try insert(lane).receipts.first)
            try tables.postpone(receipt.id, lane: lane, failure, next: now + pause)
        }
        #expect(try ready(at: now) == [3])
        #expect(try ready(at: now + 499) == [])
        #expect(try ready(at: now + 500) == [1])
        #expect(try ready(at: now + hour) == [1, 2])
        #expect(try tables.nextDeadline(after: now) == now + 500)
    }

    @Test("With the network, what failed for its sake leaves at once, and nothing else")
    func makeDue() throws {
        for (lane, kind) in [("a", OutboxFailure.Kind.network), ("b", .server), ("c", .security)] {
            let receipt = try #require(try insert(lane).receipts.first)
            try tables.postpone(receipt.id, lane: lane, OutboxFailure(kind, "x"), next: now + 1000)
        }
        try tables.makeDue(.network)
        #expect(try ready(at: now) == [1])
        try tables.makeDue()
        #expect(try ready(at: now) == [1, 2, 3])
    }

    @Test(
        "What gives way: first what has expired, then dead letters, the oldest first, and what waits only where that is wanted"
    )
    func room() throws {
        var limits = OutboxLimits()
        (limits.maximumEntries, limits.policy) = (5, .dropExpiredFirst)
        for lane in ["a", "b", "c"] { try insert(lane, limits: limits) }
        for number in [Int64(1), 2] {
            #expect(
                try tables.markDead(
                    id(number), lane: number == 1 ? "a" : "b", OutboxFailure(.refused, "x"), nil))
        }
        try insert("d", expires: now + 100, limits: limits)
        try insert("e", limits: limits)
        #expect(try insert("f", at: now + 100, limits: limits).dropped == [id(4)])
        #expect(try insert("g", limits: limits).dropped == [id(1)])
        #expect(try insert("h", limits: limits).dropped == [id(2)])
        let entry = try PreparedEntry(
            try OutboxRequest(to: "http://example.com/", lane: "i"), bodies: bodies, largest: .max)
        #expect(throws: OutboxTables.InsertFailure.self) {
            try lab.database.transaction { () throws(StorageError) in
                try tables.insert([entry], limits: limits, bodies: bodies, now: now)
            }.get()
        }
        limits.policy = .dropOldest
        #expect(try insert("j", limits: limits).dropped == [id(3)])
        #expect(try tables.counts().waiting == 5)
    }

    @Test(
        "An entry that is there is repeated, also where there is no room for another; the others of its batch are taken"
    )
    func repeated() throws {
        var limits = OutboxLimits()
        limits.maximumEntries = 2
        func entry(_ key: String) throws -> PreparedEntry {
            var request = try OutboxRequest(to: "http://example.com/")
            request.idempotencyKey = key
            return try PreparedEntry(request, bodies: bodies, largest: .max)
        }
        let first = try tables.insert(
            [try entry("a"), try entry("a"), try entry("b")], limits: limits, bodies: bodies, now: now
        ).get()
        #expect(first.receipts.map(\.isRepeated) == [false, true, false])
        #expect(first.receipts[0].id == first.receipts[1].id)
        #expect(try tables.counts().waiting == 2)
        let again = try tables.insert([try entry("b")], limits: limits, bodies: bodies, now: now).get()
        #expect(
            again.receipts == [OutboxReceipt(id: first.receipts[2].id, idempotencyKey: "b", isRepeated: true)]
        )
        limits.policy = .dropOldest
        #expect(
            try tables.insert([try entry("a")], limits: limits, bodies: bodies, now: now).get().dropped
                .isEmpty)
    }

    @Test(
        "FLD-040 A key that another request has is no repetition: other URL, method or content, in memory or in a file"
    )
    func keyInUse() throws {
        func insert(
            _ body: Data?, to url: String = "http://example.com/", by method: HTTPRequest.Method = .post,
            key: String = "a"
        ) throws -> Result<OutboxTables.Insertion, OutboxTables.InsertFailure> {
            var request = try OutboxRequest(url, method: method, body: body.map { .data($0) })
            request.idempotencyKey = key
            let entry = try PreparedEntry(request, bodies: bodies, largest: .max)
            return try tables.insert([entry], limits: OutboxLimits(), bodies: bodies, now: now)
        }
        func owner(_ result: Result<OutboxTables.Insertion, OutboxTables.InsertFailure>) -> OutboxID? {
            if case .failure(let refusal) = result { refusal.owner } else { nil }
        }
        let (small, large) = (Data("x".utf8), Data(repeating: 7, count: 200_000))
        #expect(try insert(small).get().receipts.map(\.isRepeated) == [false])
        #expect(try insert(small).get().receipts.map(\.isRepeated) == [true])
        #expect(owner(try insert(Data("y".utf8))) == id(1))
        #expect(owner(try insert(nil)) == id(1))
        #expect(owner(try insert(small, to: "http://example.com/b")) == id(1))
        #expect(owner(try insert(small, by: .put)) == id(1))
        #expect(owner(try insert(large)) == id(1))
        #expect(try insert(large, key: "b").get().receipts.map(\.isRepeated) == [false])
        #expect(try insert(large, key: "b").get().receipts.map(\.isRepeated) == [true])
        var other = large
        other[150_000] = 8
        #expect(owner(try insert(other, key: "b")) == id(2))
        #expect(try tables.counts().waiting == 2)
    }

    @Test("The results of the last thousand are remembered")
    func results() throws {
        var files: [String] = []
        for number in 1...1_003 {
            try insert("a")
            #expect(
                try tables.remove(id(Int64(number)), as: .delivered, statusCode: 201, now: now, files: &files)
            )
        }
        try tables.trimResults()
        #expect(try tables.result(id(3)) == nil)
        #expect(try tables.result(id(4))?.statusCode == 201 && tables.result(id(1_003)) != nil)
    }
}
