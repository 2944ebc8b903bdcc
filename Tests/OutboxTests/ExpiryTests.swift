// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Requests of which nobody wants to know any more.
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
