// SPDX-License-Identifier: Apache-2.0

// A meter that loses no sample: each line of standard input is on the disk before it counts as taken, and is
// sent when there is a network. It ends when the last one is there. meter OUTBOX-FOLDER URL <samples

import Glibc
import Outbox

guard CommandLine.arguments.count == 3 else {
    print("usage: meter OUTBOX-FOLDER URL <samples")
    exit(64)
}
let (folder, address) = (CommandLine.arguments[1], CommandLine.arguments[2])

ReachabilityManager.shared.startMonitoring()
let outbox = try await RequestOutbox(at: folder)
let meter = Meter(outbox, sendingTo: address)
try await outbox.startDelivery(with: URLSessionManager())
while let sample = readLine() {
    try await meter.store(sample)
    print("taken: \(sample)")
}
await meter.finish { print($0) }
await outbox.close()
