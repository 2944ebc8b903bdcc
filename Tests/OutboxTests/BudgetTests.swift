// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Lanes that may send only so much over paths that cost.
@Suite struct BudgetTests {
    private let lab: BatchLab
    private let network = ScriptedNetwork()

    init() throws { lab = try BatchLab() }

    @Test("OBX-242 A clock that is set back fills no budget, and one that was far ahead costs a day at most")
    func clock() throws {
        let storage = try TablesLab()
        let tables = storage.tables
        func spent(_ day: Int64) throws -> Int64 { try tables.spending(of: "a", on: day).bytes }
        try tables.spend(70, of: "a", on: 100)
        try tables.spend(5, of: "a", on: 100)
        try tables.spend(9, of: "b", on: 100)
        #expect(try tables.spending(of: "a", on: 100) == LaneSpending(bytes: 75, requests: 2))
        // Set back by a day, and forward again.
        #expect(try spent(99) == 75)
        try tables.spend(1, of: "a", on: 99)
        #expect(try spent(99) == 76 && spent(100) == 75 && spent(101) == 0)
        // Far ahead, and corrected.
        try tables.spend(40, of: "a", on: 9_000)
        #expect(try tables.isAhead(of: 101) && !tables.isAhead(of: 9_000))
        try tables.bringBack(to: 101)
        #expect(try spent(101) == 40 && spent(102) == 0)
        // Old ones are not kept.
        try tables.spend(1, of: "b", on: 120)
        #expect(try storage.database.integer("SELECT count(*) FROM spending WHERE day < 113") == 0)
    }

    private func open(_ budget: LaneBudget) async throws -> RequestOutbox {
        try await lab.outbox.open { $0.budgets["samples"] = budget }
    }

    private func manager(_ answer: Answer = .status(200)) -> URLSessionManager {
        var queue = RequestQueue.Settings()
        queue.follows = .provider(network)
        let sent = lab.sent
        return URLSessionManager(queue: queue, responseSerializer: HTTPResponseSerializer()) { request in
            sent.append(request)
            return answer
        }
    }

    private func held(_ outbox: RequestOutbox, _ number: Int) async throws -> String? {
        try await outbox.entries(lane: "samples").first { $0.idempotencyKey == "k\(number)" }?.hold
    }

    private func samples(_ numbers: Range<Int>) throws -> [OutboxRequest] {
        try numbers.map { number in try BatchLab.sample(number) { $0.idempotencyKey = "k\(number)" } }
    }

    @Test(
        "OBX-243 What is over the budget waits, and says so, and leaves over the next path that does not cost"
    )
    func requests() async throws {
        network.become(.wired, isExpensive: true)
        let outbox = try await open(LaneBudget(requestsPerDay: 2))
        try await outbox.startDelivery(with: manager())
        let reported = EventLog<String>()
        let reader = Task {
            for await change in outbox.changes(lane: "samples") {
                if let hold = change.hold { reported.append(hold) }
            }
        }
        let receipts = try await outbox.enqueue(samples(0..<4))
        try await lab.outbox.delivered(receipts[1].id)
        // Another lane goes on, after which this one would have.
        let other = try await outbox.enqueue(BatchLab.sample(9, lane: "other"))
        try await lab.outbox.delivered(other.id)
        #expect(lab.bodies == ["0", "1", "9"])
        let reason = "budget: 2 of 2 requests used today on expensive paths"
        #expect(try await held(outbox, 2) == reason)
        #expect(try await held(outbox, 3) == reason)
        #expect(await reported.wait(forCount: 2) == [reason, reason])
        network.become(.wifi)
        try await lab.outbox.delivered(receipts[3].id)
        #expect(lab.bodies == ["0", "1", "9", "2", "3"])
        #expect(try await outbox.counts().waiting == 0)
        await outbox.close()
        await reader.value
    }

    @Test("OBX-244 Bytes are counted with what is answered, and what was spent is known after a restart")
    func bytes() async throws {
        network.become(.wired, isExpensive: true)
        // A request has less than 1,000 bytes, its answer more than the day's.
        let budget = LaneBudget(bytesPerDay: 3_000)
        let outbox = try await open(budget)
        try await outbox.startDelivery(with: manager(.text(String(repeating: "x", count: 5_000))))
        let receipts = try await outbox.enqueue(samples(0..<2))
        try await lab.outbox.delivered(receipts[0].id)
        await outbox.close()
        let next = try await open(budget)
        try await next.startDelivery(with: manager())
        let other = try await next.enqueue(BatchLab.sample(9, lane: "other"))
        try await lab.outbox.delivered(other.id)
        #expect(lab.bodies == ["0", "9"])
        let reason = try #require(try await held(next, 1))
        #expect(
            reason.hasPrefix("budget: ") && reason.hasSuffix("of 3 kB used today on expensive paths"))
        await next.close()
        let rich = try await open(LaneBudget(bytesPerDay: 10_000))
        try await rich.startDelivery(with: manager())
        try await lab.outbox.delivered(receipts[1].id)
        await rich.close()
    }

    @Test("OBX-245 The next day has its own budget, and paths that do not cost spend none")
    func tomorrow() async throws {
        network.become(.wifi)
        let outbox = try await open(LaneBudget(requestsPerDay: 1))
        try await outbox.startDelivery(with: manager())
        let free = try await outbox.enqueue(samples(0..<3))
        try await lab.outbox.delivered(free[2].id)
        network.become(.wired, isExpensive: true)
        let paid = try await outbox.enqueue(samples(3..<5))
        try await lab.outbox.delivered(paid[0].id)
        #expect(lab.bodies == ["0", "1", "2", "3"])
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                _ = try database.run("UPDATE spending SET day = day - 1")
            }
            engine.startReady()
        }
        try await lab.outbox.delivered(paid[1].id)
        await outbox.close()
    }

    @Test("OBX-246 A lane that has spent its budget has its request wait where the path begins to cost")
    func becomesExpensive() async throws {
        network.become(.wired, isExpensive: true)
        let outbox = try await open(LaneBudget(requestsPerDay: 1))
        let manager = self.manager()
        let (holds, reader) = OutboxLab.holdReasons(of: manager)
        defer { reader.cancel() }
        try await outbox.startDelivery(with: manager)
        let first = try await outbox.enqueue(samples(0..<1))
        try await lab.outbox.delivered(first[0].id)
        network.become(.wifi)
        network.become(.unreachable)
        // The last path did not cost, so the manager gets the second, and has the next path to send it by.
        let second = try await outbox.enqueue(samples(1..<2))
        await holds.wait(forCount: 1)
        let other = try await outbox.enqueue(BatchLab.sample(9, lane: "other"))
        network.become(.wired, isExpensive: true)
        try await lab.outbox.delivered(other.id)
        #expect(lab.bodies == ["0", "9"])
        #expect(try await held(outbox, 1) == "budget: 1 of 1 requests used today on expensive paths")
        network.become(.wifi)
        try await lab.outbox.delivered(second[0].id)
        await outbox.close()
    }

    @Test("OBX-247 A batch has no more than the rest of the day's bytes")
    func batch() async throws {
        network.become(.wired, isExpensive: true)
        var rule = BatchRule()
        (rule.maximumCount, rule.maximumAge) = (100, .zero)
        let outbox = try await lab.outbox.open { [rule] in
            $0.budgets["samples"] = LaneBudget(bytesPerDay: 20)
            $0.batches["samples"] = rule
        }
        let receipts = try await outbox.enqueue(samples(0..<50))
        try await outbox.startDelivery(with: manager())
        // A number and a comma have two bytes.
        try await lab.outbox.delivered(receipts[9].id)
        let other = try await outbox.enqueue(BatchLab.sample(9, lane: "other"))
        try await lab.outbox.delivered(other.id)
        #expect(lab.bodies == ["[0,1,2,3,4,5,6,7,8,9]", "9"])
        await outbox.close()
    }

    @Test("OBX-248 The rate of an expensive path is its own, or that of all")
    func rates() {
        var configuration = OutboxConfiguration()
        #expect(configuration.rate(isExpensive: true) == nil)
        configuration.rate = 1_000
        #expect(configuration.rate(isExpensive: true) == 1_000)
        configuration.expensiveRate = 10
        #expect(configuration.rate(isExpensive: true) == 10)
        #expect(configuration.rate(isExpensive: false) == 1_000)
    }
}
