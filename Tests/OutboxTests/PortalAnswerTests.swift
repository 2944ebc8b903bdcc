// SPDX-License-Identifier: Apache-2.0

import SessionCore
import TestSupport
import Testing

@testable import Outbox

/// Deliveries that were under way when the probe found a captive portal.
@Suite struct PortalAnswerTests {
    @Test(
        "FLD-021 An answer without TLS that comes while the probe says portal is no delivery, and the request is sent again"
    )
    func underWay() async throws {
        let lab = try await DeliveryLab()
        let outbox = try await lab.open()
        try await outbox.follow(.full)
        try await outbox.startDelivery(with: OutboxLab.manager())
        let gate = "outbox-portal-\(lab.account)"
        let receipt = try await outbox.enqueue(lab.request(0, path: "/hold/\(gate)?"))
        try await lab.origin.wait(for: lab.account, [.count: 1])
        try await outbox.follow(.portal)
        try await lab.origin.release(gate)
        let failure = try await lab.wait { event -> OutboxFailure? in
            if case .failed(receipt.id, let failure, _) = event { failure } else { nil }
        }
        #expect(failure.kind == .network && failure.statusCode == 200)
        #expect(try await outbox.entry(receipt.id)?.state == .waiting)
        try await outbox.follow(.full)
        try await lab.delivered(receipt.id)
        #expect(try await lab.origin.count(lab.account) == 2)
        await outbox.close()
    }
}
