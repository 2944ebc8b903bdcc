// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Outbox

/// Samples on their way to a server: each is on the disk before it counts.
actor Meter {
    let outbox: RequestOutbox
    let address: String
    private let events: AsyncStream<OutboxEvent>
    private var waiting: Set<OutboxID> = []

    init(_ outbox: RequestOutbox, sendingTo address: String) {
        self.outbox = outbox
        self.address = address
        events = outbox.events  // from before the first request is there
    }

    func store(_ sample: String) async throws {
        var request = try OutboxRequest(address, body: .data(Data(sample.utf8)))
        request.headerFields[.contentType] = "application/json"
        request.lane = "samples"  // one after the other, in the order in which they were taken
        let receipt = try await outbox.enqueue(request)
        waiting.insert(receipt.id)
    }

    /// Returns when the server has all of them; `report` gets what happens.
    func finish(_ report: @Sendable (String) -> Void) async {
        if waiting.isEmpty { return }
        for await event in events {
            switch event {
            case .delivered(let id, let status):
                report("delivered with status \(status)")
                waiting.remove(id)
            case .failed(_, let failure, let next): report("\(failure), again at \(next)")
            case .died(let id, let failure):
                report("needs a person: \(failure)")
                waiting.remove(id)
            default: break
            }
            if waiting.isEmpty { return }
        }
    }
}
