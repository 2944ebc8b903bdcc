// SPDX-License-Identifier: Apache-2.0
// A meter that loses no sample: each is on the disk before it counts as taken, and is sent when there is a network.

import FoundationEssentials
import Outbox

ReachabilityManager.shared.startMonitoring()
let outbox = try await RequestOutbox(at: "/var/lib/meter/outbox")
try await outbox.startDelivery(with: URLSessionManager())

var request = try OutboxRequest("https://api.example.com/samples", body: .data(Data(#"{"kWh":42}"#.utf8)))
request.headerFields[.contentType] = "application/json"
request.secretFields = [
    SecretField(name: "Authorization", prefix: "Bearer ", source: "file", key: "/etc/meter/token")
]
request.lane = "samples"
let receipt = try await outbox.enqueue(request)  // returns when it is on the disk
print("taken as \(receipt.id)")

for await event in outbox.events {
    switch event {
    case .delivered(let id, let status): print("\(id) is there (\(status))")
    case .failed(let id, let failure, let next): print("\(id): \(failure), again at \(next)")
    case .died(let id, let failure): print("\(id) needs somebody: \(failure)")
    default: break
    }
}
