// SPDX-License-Identifier: Apache-2.0

// A meter that loses no sample: each line of standard input is on the disk before it counts as taken, and is
// sent when there is a network. It ends when the last one is there. meter OUTBOX-FOLDER URL <samples

import FoundationEssentials
import Glibc
import Outbox

guard CommandLine.arguments.count == 3 else {
    print("usage: meter OUTBOX-FOLDER URL <samples")
    exit(64)
}
let (folder, address) = (CommandLine.arguments[1], CommandLine.arguments[2])

ReachabilityManager.shared.startMonitoring()
let outbox = try await RequestOutbox(at: folder)
let events = outbox.events  // from before the first request is there
try await outbox.startDelivery(with: URLSessionManager())

var waiting: Set<OutboxID> = []
while let sample = readLine() {
    var request = try OutboxRequest(address, body: .data(Data(sample.utf8)))
    request.headerFields[.contentType] = "application/json"
    request.lane = "samples"  // one after the other, in the order in which they were taken
    let receipt = try await outbox.enqueue(request)
    waiting.insert(receipt.id)
    print("taken: \(sample)")
}

if waiting.isEmpty { exit(0) }
for await event in events {
    switch event {
    case .delivered(let id, let status):
        print("delivered with status \(status)")
        waiting.remove(id)
    case .failed(_, let failure, let next): print("\(failure), again at \(next)")
    case .died(let id, let failure):
        print("needs somebody: \(failure)")
        waiting.remove(id)
    default: break
    }
    if waiting.isEmpty { break }
}
await outbox.close()
