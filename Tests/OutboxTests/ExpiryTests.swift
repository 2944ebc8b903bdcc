// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import SessionCore
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Requests that have expired.
@Suite struct ExpiryTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    @Test("What has expired is dropped and not sent")
    func expiry() async throws {
        let outbox = try await lab.open()
        var old = try lab.request(0)
        old.expires = Date(timeIntervalSinceNow: -1)
        let receipt = try await outbox.enqueue(old)
        let next = try await outbox.enqueue(lab.request(1))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(next.id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [1])
        #expect(try await outbox.result(of: receipt.id)?.outcome == .expired)
        await outbox.close()
    }

    @Test("What expires while the manager holds it for want of a network is dropped then, and not sent later")
    func expiryWhileHeld() async throws {
        let outbox = try await lab.open()
        let manager = OutboxLab.manager(following: .provider(ScriptedNetwork(.unreachable)))
        let (reasons, reader) = OutboxLab.holdReasons(of: manager)
        defer { reader.cancel() }
        // Loopback is never held, so a request goes to another network.
        let held = try await outbox.enqueue(OutboxRequest(to: "http://192.0.2.1/", lane: "held"))
        try await outbox.startDelivery(with: manager)
        let reason = try #require(await reasons.wait(forCount: 1).first)
        // OBX-079
        #expect(try await outbox.entries().map(\.hold) == [reason.description])
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                _ = try database.run(
                    "UPDATE entries SET expires = 1 WHERE id = ?", [.integer(held.id.rawValue)])
            }
        }
        try await outbox.flush()
        try await lab.wait { event -> Bool? in if case .expired(held.id) = event { true } else { nil } }
        #expect(try await outbox.result(of: held.id)?.outcome == .expired)
        #expect(try await outbox.counts().waiting == 0)
        await outbox.close()
    }

    @Test("However many have expired, none of them is sent, and what comes after them is")
    func manyExpired() async throws {
        let outbox = try await lab.open()
        var requests: [OutboxRequest] = []
        for number in 0..<2_500 {
            var request = try lab.request(number)
            request.expires = Date(timeIntervalSinceNow: -1)
            requests.append(request)
        }
        let receipts = try await outbox.enqueue(requests)
        let next = try await outbox.enqueue(lab.request(2_500))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(next.id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [2_500])
        #expect(
            lab.outbox.events.elements.count { if case .expired = $0 { true } else { false } }
                == receipts.count)
        await outbox.close()
    }

    @Test("What is on its way does not expire: its answer counts")
    func expiryOnTheWay() async throws {
        let outbox = try await lab.open()
        let gate = "\(lab.account)-gate"
        let held = try await outbox.enqueue(
            OutboxRequest(to: lab.origin.url("/hold/\(gate)?key=\(lab.account)-held"), lane: "held"))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.origin.wait(for: "\(lab.account)-held", [.count: 1])
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                _ = try database.run(
                    "UPDATE entries SET expires = 1 WHERE id = ?", [.integer(held.id.rawValue)])
            }
        }
        let next = try await outbox.enqueue(lab.request(1))
        try await lab.delivered(next.id)
        try await lab.origin.release(gate)
        try await lab.delivered(held.id)
        await outbox.close()
    }
}
