// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import TestSupport
import Testing

@testable import Outbox

/// What becomes of a batch's requests by the server's answer, and by what happens to them meanwhile.
@Suite struct BatchOutcomeTests {
    private let lab: BatchLab

    init() throws { lab = try BatchLab() }

    private func died(_ id: OutboxID) async throws -> OutboxFailure {
        try await lab.outbox.wait { event -> OutboxFailure? in
            if case .died(id, let failure) = event { failure } else { nil }
        }
    }

    @Test("OBX-230 A 207 splits the batch: what arrived, what is refused for good, and what is sent again")
    func multiStatus() async throws {
        let outbox = try await lab.open(count: 4, age: .milliseconds(1))
        let receipts = try await outbox.enqueue(BatchLab.samples(0..<4))
        try await outbox.startDelivery(
            with: lab.manager { request, _ in
                guard request.numbers.count == 4 else { return .status(200) }
                let items = "[201, {\"status\": 422, \"error\": \"salt\"}, {\"status\": 503}, 201]"
                return .data(Data(items.utf8), type: "application/json", status: 207)
            })
        try await lab.outbox.delivered(receipts[2].id)
        #expect(lab.bodies == ["[0,1,2,3]", "[2]"])
        #expect(try await died(receipts[1].id).statusCode == 422)
        let reply = try #require(try await outbox.reply(to: receipts[1].id))
        #expect(reply.statusCode == 422 && String(decoding: reply.body, as: UTF8.self).contains("salt"))
        let result = try #require(try await outbox.result(of: receipts[0].id))
        // The head of the answer to all is stored with what is refused, and not with each that arrived.
        #expect(result.statusCode == 201 && result.reply?.header.isEmpty == true)
        #expect(!reply.header.isEmpty)
        #expect(try await outbox.counts().dead == 1)
        await outbox.close()
    }

    @Test("OBX-231 A batch that is too large is halved until it fits, and the next ones are no larger")
    func tooLarge() async throws {
        let outbox = try await lab.open(count: 16)
        let receipts = try await outbox.enqueue(BatchLab.samples(10..<42))
        try await outbox.startDelivery(
            with: lab.manager { request, _ in .status(request.numbers.count > 5 ? 413 : 200) })
        try await outbox.flush()
        try await lab.outbox.delivered(receipts[31].id)
        let counts = lab.sent.elements.map(\.numbers.count)
        #expect(counts.prefix(3) == [16, 8, 4])
        #expect(counts.dropFirst(3).allSatisfy { $0 <= 5 } && counts.count < 14)
        let arrived = lab.sent.elements.filter { $0.numbers.count <= 5 }.flatMap(\.numbers)
        #expect(arrived == Array(10..<42))
        await outbox.close()
    }

    @Test(
        "OBX-252 A batch that is too large, where the server always asks to come later, is halved all the same"
    )
    func tooLargeForNow() async throws {
        let outbox = try await lab.open(count: 8, all: { $0.retries.longestRetryAfter = .milliseconds(1) })
        let receipts = try await outbox.enqueue(BatchLab.samples(10..<18))
        try await outbox.startDelivery(
            with: lab.manager { request, _ in
                .status(request.numbers.count > 2 ? 413 : 200, headers: ["Retry-After": "60"])
            })
        try await outbox.flush()
        try await lab.outbox.delivered(receipts[7].id)
        #expect(lab.sent.elements.map(\.numbers.count).prefix(3) == [8, 4, 2])
        let arrived = lab.sent.elements.filter { $0.numbers.count <= 2 }.flatMap(\.numbers)
        #expect(arrived == Array(10..<18))
        await outbox.close()
    }

    @Test("OBX-232 One that alone is too large becomes a dead letter, and the others leave")
    func oneTooLarge() async throws {
        let outbox = try await lab.open(count: 4)
        var requests = try BatchLab.samples(0..<4)
        requests[1].body = .data(Data(String(repeating: "1", count: 5_000).utf8))
        let receipts = try await outbox.enqueue(requests)
        try await outbox.startDelivery(
            with: lab.manager { request, _ in .status(request.body.count > 4_000 ? 413 : 200) })
        #expect(try await died(receipts[1].id).statusCode == 413)
        try await outbox.flush()
        try await lab.outbox.delivered(receipts[3].id)
        #expect(try await outbox.counts().waiting == 0)
        await outbox.close()
    }

    @Test(
        "OBX-233 The one bad request is found by halving and becomes a dead letter; each other arrives once")
    func oneBad() async throws {
        let outbox = try await lab.open(count: 8, age: .milliseconds(1))
        let receipts = try await outbox.enqueue(BatchLab.samples(0..<8))
        try await outbox.startDelivery(
            with: lab.manager { request, _ in .status(request.numbers.contains(4) ? 400 : 200) })
        #expect(try await died(receipts[4].id).statusCode == 400)
        try await lab.outbox.delivered(receipts[7].id)
        #expect(lab.bodies == ["[0,1,2,3,4,5,6,7]", "[0,1,2,3]", "[4,5]", "[4]", "[5,6,7]"])
        #expect(Set(lab.keys).count == 5)
        #expect(try await outbox.entries(state: .dead).map(\.id) == [receipts[4].id])
        await outbox.close()
    }

    @Test("OBX-234 The search goes on in the next process")
    func searchContinues() async throws {
        let outbox = try await lab.open(count: 8)
        let receipts = try await outbox.enqueue(BatchLab.samples(0..<8))
        try await outbox.startDelivery(
            with: lab.manager { request, number in
                request.numbers.contains(6) ? .status(422) : number == 1 ? .silence : .status(200)
            })
        _ = await lab.sent.wait(forCount: 2, within: .seconds(60))
        await outbox.close()
        let next = try await lab.open(count: 8)
        try await next.startDelivery(
            with: lab.manager { request, _ in .status(request.numbers.contains(6) ? 422 : 200) })
        #expect(try await died(receipts[6].id).statusCode == 422)
        try await next.flush()
        try await lab.outbox.delivered(receipts[7].id)
        #expect(
            lab.bodies == [
                "[0,1,2,3,4,5,6,7]", "[0,1,2,3]", "[0,1,2,3]", "[4,5]", "[6]", "[7]",
            ])
        await next.close()
    }

    @Test("OBX-235 A refusal that may be a gateway's makes no dead letters of a batch: its origin is stopped")
    func gateway() async throws {
        let outbox = try await lab.open(count: 8) {
            $0.maximumAge = .zero
        } all: {
            $0.retries.first = .milliseconds(1)
        }
        let receipts = try await outbox.enqueue(BatchLab.samples(0..<8))
        try await outbox.startDelivery(with: lab.manager { _, number in .status(number == 0 ? 404 : 200) })
        try await lab.outbox.delivered(receipts[7].id)
        #expect(lab.bodies == ["[0,1,2,3,4,5,6,7]", "[0,1,2,3,4,5,6,7]"] && Set(lab.keys).count == 1)
        #expect(lab.outbox.events.elements.contains { if case .held = $0 { true } else { false } })
        #expect(lab.outbox.events.elements.allSatisfy { if case .died = $0 { false } else { true } })
        await outbox.close()
    }

    @Test("OBX-236 Each request's own limit of tries counts; the others are sent again without it")
    func tries() async throws {
        let outbox = try await lab.open(count: 3, age: .milliseconds(1))
        var requests = try BatchLab.samples(0..<3)
        requests[1].maximumAttempts = 1
        let receipts = try await outbox.enqueue(requests)
        try await outbox.startDelivery(with: lab.manager { _, number in .status(number == 0 ? 503 : 200) })
        #expect(try await died(receipts[1].id).statusCode == 503)
        try await lab.outbox.delivered(receipts[2].id)
        #expect(lab.bodies == ["[0,1,2]", "[0,2]"] && Set(lab.keys).count == 2)
        await outbox.close()
    }

    @Test("OBX-237 One that is replaced or removed while its batch is on its way is not sent again")
    func changedMeanwhile() async throws {
        let outbox = try await lab.open(count: 3, age: .milliseconds(1))
        let requests = try (0..<3).map { number in
            try BatchLab.sample(number) { if number == 1 { $0.replaces = "state" } }
        }
        let receipts = try await outbox.enqueue(requests)
        let gate = EventLog<Bool>()
        try await outbox.startDelivery(
            with: lab.manager { _, number in
                guard number == 0 else { return .status(200) }
                _ = await gate.wait(forCount: 1, within: .seconds(60))
                return .status(503)
            })
        _ = await lab.sent.wait(forCount: 1, within: .seconds(60))
        let newer = try await outbox.enqueue(BatchLab.sample(7) { $0.replaces = "state" })
        #expect(newer.replaced == [receipts[1].id])
        // It is on its way, so that it stays until the attempt has ended.
        #expect(try await outbox.entry(receipts[1].id)?.successor == newer.id)
        try await outbox.remove([receipts[2].id])
        gate.append(true)
        try await lab.outbox.delivered(newer.id)
        #expect(lab.bodies.first == "[0,1,2]")
        #expect(lab.sent.elements.dropFirst().flatMap(\.numbers) == [0, 7])
        #expect(try await outbox.result(of: receipts[1].id)?.successor == newer.id)
        await outbox.close()
    }

    @Test("OBX-238 Periodic requests join a batch, and each stores its next one")
    func periodic() async throws {
        let outbox = try await lab.open(count: 2)
        let receipts = try await outbox.enqueue([
            BatchLab.sample(0) { ($0.every, $0.replaces) = (.seconds(3_600), "hourly") }, BatchLab.sample(1),
        ])
        try await outbox.startDelivery(with: lab.manager())
        for receipt in receipts { try await lab.outbox.delivered(receipt.id) }
        #expect(lab.bodies == ["[0,1]"])
        #expect(try await outbox.entries().map(\.state) == [.scheduled])
        await outbox.close()
    }
}
