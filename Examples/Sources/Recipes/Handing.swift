// SPDX-License-Identifier: Apache-2.0
// Requests that must not be lost.

import FoundationEssentials
import Outbox

/// A sample that is on the disk when this returns.
func handOver() async throws -> OutboxReceipt {
    let outbox = try await RequestOutbox(at: "/var/lib/meter/outbox")
    try await outbox.startDelivery(with: URLSessionManager())

    var request = try OutboxRequest("https://api.example.com/samples", body: .data(Data(#"{"kWh":42}"#.utf8)))
    request.headerFields[.contentType] = "application/json"
    request.secretFields = [
        SecretField(name: "Authorization", prefix: "Bearer ", source: "file", key: "/etc/meter/token")
    ]
    request.lane = "samples"
    let receipt = try await outbox.enqueue(request)  // returns when it is on the disk
    return receipt
}
