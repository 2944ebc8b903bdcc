// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage
import TestSupport
import Testing

@testable import Outbox

/// The order of deliveries and their outcomes.
@Suite struct DeliveryTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    @Test("Requests of a lane arrive in order, and are out then")
    func order() async throws {
        let outbox = try await lab.open()
        let receipts = try await outbox.enqueue((0..<20).map { try lab.request($0) })
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[19].id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == Array(0..<20))
        #expect(try await lab.origin.statistics(lab.account).peak == 1)
        #expect(try await outbox.counts() == OutboxCounts())
        #expect(try await outbox.result(of: receipts[3].id)?.statusCode == 200)
        await outbox.close()
    }

    @Test(
        "The events end when the outbox is closed, when it has gone, and at once after that",
        .timeLimit(.minutes(10)))
    func ends() async throws {
        var outbox: RequestOutbox? = try await lab.open()
        let gone = Task { [events = outbox?.events] in await events?.reduce(0) { count, _ in count + 1 } }
        _ = try await outbox?.enqueue([try lab.request(0)])
        outbox = nil
        #expect(await gone.value == 1)
        let next = try await lab.open()
        let closed = Task { [events = next.events] in await events.reduce(0) { count, _ in count + 1 } }
        await next.close()
        #expect(await closed.value == 0)
        #expect(await next.events.reduce(0) { count, _ in count + 1 } == 0)
    }

    @Test("What fails is sent again with the same key, and only then what comes behind it in its lane")
    func retrying() async throws {
        let outbox = try await lab.open()
        let receipts = try await outbox.enqueue([
            try lab.request(0, path: "/retry-after?times=3&status=503&after=0&"), try lab.request(1),
        ])
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[1].id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [0, 0, 0, 0, 1])
        let failures = lab.outbox.events.elements.compactMap { event -> OutboxFailure? in
            if case .failed(receipts[0].id, let failure, _) = event { failure } else { nil }
        }
        #expect(failures.map(\.statusCode) == [503, 503, 503])
        await outbox.close()
    }

    @Test(
        "A refusal becomes a dead letter with the reply, and the lane goes on; it can be tried again and removed"
    )
    func deadLetters() async throws {
        let outbox = try await lab.open()
        let receipts = try await outbox.enqueue([
            try lab.request(0, path: "/body?status=422&type=text/plain&text=too%20salty&"),
            try lab.request(1),
        ])
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[1].id)
        let dead = try #require(try await outbox.entries(state: .dead).first)
        #expect(dead.id == receipts[0].id && dead.attempts == 1 && dead.failure?.statusCode == 422)
        let reply = try #require(try await outbox.reply(to: dead.id))
        #expect(reply.statusCode == 422 && String(decoding: reply.body, as: UTF8.self) == "too salty")
        #expect(reply.header.contains("text/plain"))
        guard case .dead = try await outbox.settlement(of: dead.id) else {
            Issue.record("a dead letter is settled")
            return
        }
        #expect(try await outbox.counts().dead == 1)
        #expect(try await outbox.retry() == [dead.id])
        try await lab.origin.wait(for: lab.account, [.count: 3])
        try await lab.wait { event -> Bool? in
            if case .died = event { lab.outbox.died > 1 ? true : nil } else { nil }
        }
        #expect(try await outbox.remove([dead.id]) == [dead.id])
        #expect(try await outbox.counts() == OutboxCounts())
        await outbox.close()
    }

    @Test("A lane that is stuck holds up no other; urgent lanes go first")
    func lanes() async throws {
        let outbox = try await lab.open {
            $0.maximumDeliveries = 2
            $0.retries.first = .seconds(3_600)
            $0.retries.longest = .seconds(3_600)
        }
        let gate = "\(lab.account)-gate"
        let stuck = try await outbox.enqueue(lab.request(0, lane: "stuck", path: "/status/500?"))
        let held = try await outbox.enqueue(
            OutboxRequest(
                to: lab.origin.url("/hold/\(gate)?key=\(lab.account)-held"), lane: "held", priority: 9))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.wait { event -> Bool? in if case .failed(stuck.id, _, _) = event { true } else { nil } }
        try await lab.origin.wait(for: "\(lab.account)-held", [.count: 1])
        // One slot is left for these.
        let receipts = try await outbox.enqueue([
            try lab.request(1, lane: "a", priority: 1), try lab.request(2, lane: "b", priority: 3),
            try lab.request(3, lane: "c", priority: 2), try lab.request(4, lane: "stuck", priority: 8),
        ])
        for receipt in receipts[..<3] { try await lab.delivered(receipt.id) }
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [0, 2, 3, 1])
        try await lab.origin.release(gate)
        try await lab.delivered(held.id)
        #expect(try await outbox.counts().waiting == 2)
        try await outbox.flush()
        try await lab.origin.wait(for: lab.account, [.count: 5])
        await outbox.close()
    }

    @Test("What becomes due while others are being chosen is not forgotten")
    func dueMeanwhile() async throws {
        let outbox = try await lab.open()
        try await outbox.pause()
        let receipt = try await outbox.enqueue(lab.request(0))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await outbox.on { (engine) throws(OutboxError) in
            let now = WallClock.now
            try engine.file.write { (database) throws(StorageError) in
                try OutboxTables(database).postpone(
                    receipt.id, lane: "default", OutboxFailure(.network, "x"), next: now + 1)
                _ = try database.run("UPDATE totals SET paused = 0")
            }
            _ = engine.machine.pauseChanged(false)
            while WallClock.now <= now + 1 {}
            engine.startReady(now: now)
        }
        try await lab.delivered(receipt.id)
        await outbox.close()
    }

    @Test(
        "FLD-022 A server that needs longer than the limit is waited for longer with each try that was sent whole"
    )
    func slowAnswer() async throws {
        let outbox = try await lab.open { $0.timeout = .milliseconds(200) }
        let receipt = try await outbox.enqueue(lab.request(0, path: "/delay/1.5?"))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipt.id)
        let failures = lab.outbox.events.elements.count { if case .failed = $0 { true } else { false } }
        #expect((1...5).contains(failures), "\(failures)")
        var patient = try lab.request(1, path: "/delay/0.5?")
        patient.timeout = .zero
        let waited = try await outbox.enqueue(patient)
        try await lab.delivered(waited.id)
        let tries = lab.outbox.events.elements.count {
            if case .failed(waited.id, _, _) = $0 { true } else { false }
        }
        #expect(tries == 0)
        await outbox.close()
    }

    @Test(
        "FLD-036 An entry is given up after as many tries as it says, or else as the outbox says, and its lane goes on"
    )
    func maximumAttempts() async throws {
        let outbox = try await lab.open { $0.retries.maximumAttempts = 2 }
        var own = try lab.request(0, path: "/status/500?")
        own.maximumAttempts = 3
        let receipts = try await outbox.enqueue([own, lab.request(1, path: "/status/500?"), lab.request(2)])
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[2].id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [0, 0, 0, 1, 1, 2])
        #expect(try await outbox.entries(state: .dead).map(\.attempts) == [3, 2])
        await outbox.close()
    }

    @Test("FLD-023 A conflict with an earlier try of the same request passes, after a restart too")
    func conflict() async throws {
        let first = try await lab.open()
        let receipt = try await first.enqueue(
            lab.request(0, path: "/retry-after?times=2&status=409&after=&"))
        await first.close()
        // An earlier process may have sent it without storing the outcome.
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipt.id)
        let new = try await outbox.enqueue(lab.request(1, path: "/status/409?"))
        try await lab.wait { event -> Bool? in if case .died(new.id, _) = event { true } else { nil } }
        await outbox.close()
    }

    @Test("What the server asks for counts: Retry-After, and no more of its answer than is wanted")
    func retryAfter() async throws {
        let outbox = try await lab.open { $0.limits.maximumReplySize = 4 }
        let before = Date()
        let later = try await outbox.enqueue(
            lab.request(0, lane: "later", path: "/retry-after?times=1&status=503&after=1000&"))
        let refused = try await outbox.enqueue(
            lab.request(1, path: "/body?status=422&type=text/plain&text=too%20salty&"))
        try await outbox.startDelivery(with: OutboxLab.manager())
        let next = try await lab.wait { event -> Date? in
            if case .failed(later.id, _, let next) = event { next } else { nil }
        }
        #expect(next.timeIntervalSince(before) >= 1_000)
        try await lab.wait { event -> Bool? in if case .died(refused.id, _) = event { true } else { nil } }
        #expect(try await outbox.reply(to: refused.id)?.body == Data("too ".utf8))
        await outbox.close()
    }
}

extension OutboxLab {
    /// The number of published dead letters.
    var died: Int { events.elements.count { if case .died = $0 { true } else { false } } }
}
