// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Outbox

/// What an outbox lets go of.
@Suite struct ReleaseTests {
    /// Tells when it is released.
    private final class Canary: Sendable {
        private let gone: EventLog<Bool>

        init(_ gone: EventLog<Bool>) { self.gone = gone }

        deinit { gone.append(true) }
    }

    enum Work: CaseIterable { case sends, fetches }

    @Test(
        "OBX-140 A closed outbox goes with its last reference, also where it followed how far a content was",
        arguments: Work.allCases)
    func closed(_ work: Work) async throws {
        let gone = EventLog<Bool>()
        try await deliver(work, Canary(gone))
        #expect(await gone.wait(forCount: 1, within: .seconds(60)) == [true])
    }

    /// Makes an outbox that holds the canary, has it do its work, and closes it.
    private func deliver(_ work: Work, _ canary: Canary) async throws {
        let lab = try await DownloadLab()
        let outbox = try await lab.open { configuration in
            configuration.downloadHandler = { _ in withExtendedLifetime(canary) { true } }
        }
        try await outbox.startDelivery(with: OutboxLab.manager())
        let receipt: OutboxReceipt
        switch work {
        case .sends:
            let url = lab.lab.origin.url("/upload?key=\(lab.account)")
            receipt = try await outbox.enqueue(OutboxRequest(to: url, body: .data(Data(count: 100_000))))
        case .fetches: receipt = try await outbox.enqueue(lab.request("/bytes/100000"))
        }
        try await lab.lab.delivered(receipt.id)
        await outbox.close()
    }
}
