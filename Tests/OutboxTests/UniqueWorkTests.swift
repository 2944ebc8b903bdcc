// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Requests with a name, of which the newest leaves.
@Suite struct UniqueWorkTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    private func request(
        _ number: Int, lane: String = "state", path: String = "/post?",
        _ unique: OutboxRequest.Uniqueness = .replace
    ) throws -> OutboxRequest {
        var request = try lab.request(number, lane: lane, path: path)
        (request.replaces, request.unique) = ("meter-state", unique)
        return request
    }

    private func replaced(_ outbox: RequestOutbox, _ id: OutboxID) async throws -> OutboxID? {
        let result = try await outbox.result(of: id)
        return result?.outcome == .replaced ? result?.successor : nil
    }

    @Test("OBX-020 Of many with a name only the newest leaves; the others say which took their place")
    func newest() async throws {
        let outbox = try await lab.open()
        // A process that delivers knows that nothing is in flight.
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        let receipts = try await outbox.enqueue((0..<5).map { try request($0) })
        let other = try await outbox.enqueue(lab.request(9, lane: "state"))
        #expect(receipts.map(\.replaced) == [[]] + receipts.dropLast().map { [$0.id] })
        #expect(try await outbox.entries().map(\.id) == [receipts[4].id, other.id])
        for (former, next) in zip(receipts, receipts.dropFirst()) {
            #expect(try await replaced(outbox, former.id) == next.id)
            let result = try #require(try await outbox.result(of: former.id))
            #expect(try await outbox.settlement(of: former.id) == .left(result))
        }
        #expect(try await outbox.counts().waiting == 2)
        try await outbox.resume()
        try await lab.delivered(other.id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [4, 9])
        let events = lab.outbox.events.elements.compactMap { event -> [OutboxID]? in
            if case .replaced(let id, let successor) = event { [id, successor] } else { nil }
        }
        #expect(events == zip(receipts, receipts.dropFirst()).map { [$0.id, $1.id] })
        await outbox.close()
    }

    @Test(
        "OBX-021 With keep the one that waits stays, and the receipt names it; a large content is not left behind"
    )
    func keep() async throws {
        let outbox = try await lab.open()
        let first = try await outbox.enqueue(request(0))
        var second = try request(1, .keep)
        second.body = .data(Data(repeating: 1, count: 100_000))
        let receipt = try await outbox.enqueue(second)
        #expect(
            receipt == OutboxReceipt(id: first.id, idempotencyKey: first.idempotencyKey, isRepeated: true))
        #expect(try await outbox.entries().map(\.id) == [first.id])
        #expect(BodyFolder(paths: OutboxPaths(folder: lab.outbox.path)).count == 0)
        #expect(try await outbox.enqueue(lab.request(2, lane: "state")).id > first.id)
        await outbox.close()
    }

    @Test("OBX-022 A name belongs to one lane while requests with it wait, and no longer")
    func lane() async throws {
        let outbox = try await lab.open()
        let first = try await outbox.enqueue(request(0))
        do {
            try await outbox.enqueue(request(1, lane: "other"))
            Issue.record("it was stored")
        } catch let error as OutboxError {
            #expect(error.code == .nameTaken && error.message.contains("“state”"), "\(error)")
        }
        #expect(try await outbox.entries().map(\.id) == [first.id])
        try await outbox.remove([first.id])
        try await outbox.enqueue(request(1, lane: "other"))
        await outbox.close()
    }

    @Test(
        "OBX-023 One on its way ends first: it is delivered, or leaves as replaced instead of being sent again",
        arguments: [200, 503, 422])
    func inFlight(status: Int) async throws {
        let outbox = try await lab.open()
        let gate = "\(lab.account)-gate"
        let first = try await outbox.enqueue(request(0, path: "/hold/\(gate)?status=\(status)&"))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.origin.wait(for: lab.account, [.count: 1])
        let second = try await outbox.enqueue(request(1))
        let third = try await outbox.enqueue(request(2))
        #expect(second.replaced == [first.id] && third.replaced == [first.id, second.id])
        let entry = try #require(try await outbox.entry(first.id))
        #expect(entry.successor == third.id && entry.hold == "request \(third.id) takes its place")
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [0])
        try await lab.origin.release(gate)
        try await lab.delivered(third.id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [0, 2])
        let result = try #require(try await outbox.result(of: first.id))
        #expect(result.outcome == (status == 200 ? .delivered : .replaced))
        #expect(result.successor == (status == 200 ? nil : third.id))
        #expect(try await replaced(outbox, second.id) == third.id)
        #expect(try await outbox.counts() == OutboxCounts())
        await outbox.close()
    }

    @Test(
        "OBX-024 A process that does not deliver marks what may be on its way; the delivering one removes it unsent"
    )
    func otherProcess() async throws {
        let writer = try await lab.open()
        let first = try await writer.enqueue(request(0))
        let second = try await writer.enqueue(request(1))
        let third = try await writer.enqueue(request(2))
        #expect(try await writer.entries().map(\.id) == [first.id, third.id])
        #expect(try await writer.entries().map(\.successor) == [third.id, nil])
        #expect(try await replaced(writer, second.id) == third.id)
        #expect(try await writer.enqueue(request(3, .keep)).id == third.id)
        let deliverer = try await lab.open()
        try await deliverer.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(third.id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [2])
        #expect(try await replaced(writer, first.id) == third.id)
        await deliverer.close()
        await writer.close()
    }

    @Test(
        "OBX-025 One that the manager holds without a network is taken back at once, also for another process's",
        arguments: [true, false])
    func held(isOwn: Bool) async throws {
        let outbox = try await lab.open()
        let other = try await isOwn ? outbox : lab.open()
        let manager = OutboxLab.manager(following: .provider(ScriptedNetwork(.unreachable)))
        let (reasons, reader) = OutboxLab.holdReasons(of: manager)
        defer { reader.cancel() }
        var held = try OutboxRequest(to: "http://192.0.2.1/")
        held.replaces = "meter-state"
        let first = try await outbox.enqueue(held)
        try await outbox.startDelivery(with: manager)
        #expect(await reasons.wait(forCount: 1).count == 1)
        let second = try await other.enqueue(held)
        try await lab.wait { event -> Bool? in
            if case .replaced(first.id, second.id) = event { true } else { nil }
        }
        #expect(await reasons.wait(forCount: 2).count == 2)
        #expect(try await outbox.entries().map(\.id) == [second.id])
        await outbox.close()
    }

    @Test("OBX-026 The new one is taken where the outbox is full of the old one, and the old one's file goes")
    func full() async throws {
        let outbox = try await lab.open { $0.limits.maximumEntries = 1 }
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        var large = try request(0)
        large.body = .data(Data(repeating: 1, count: 100_000))
        try await outbox.enqueue(large)
        let second = try await outbox.enqueue(request(1))
        #expect(try await outbox.entries().map(\.id) == [second.id])
        #expect(BodyFolder(paths: OutboxPaths(folder: lab.outbox.path)).count == 0)
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(lab.request(2)) }
        // A refusal rolls back what it would have replaced.
        await #expect(throws: OutboxError.self) {
            try await outbox.enqueue([try request(3), try lab.request(4)])
        }
        #expect(try await outbox.entries().map(\.id) == [second.id])
        await outbox.close()
    }

    @Test(
        "OBX-027 A dead letter is not sent after a newer one of its name, and of several the newest waits again"
    )
    func dead() async throws {
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        var ids: [OutboxID] = []
        for number in 0..<2 {
            let id = try await outbox.enqueue(request(number, path: "/status/422?")).id
            try await lab.wait { event -> Bool? in if case .died(id, _) = event { true } else { nil } }
            ids.append(id)
        }
        try await outbox.pause()
        #expect(try await outbox.retry() == [ids[1]])
        #expect(try await outbox.retry([ids[0]]).isEmpty)
        #expect(try await outbox.entries(state: .dead).map(\.id) == [ids[0]])
        await outbox.close()
    }
}
