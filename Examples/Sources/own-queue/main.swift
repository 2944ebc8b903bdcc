// SPDX-License-Identifier: Apache-2.0

// Runs the commands of standard input, one a line and one after the other, each when there is a path:
//   own-queue <commands

import Glibc
import Reachability

let network = ReachabilityManager()
network.startMonitoring()
let gated = GatedQueue()
let observation = gated.follow(network)

while let command = readLine() {
    gated.queue.async {
        if system(command) != 0 { print("own-queue: \(command) failed") }
    }
}
gated.queue.sync {}  // when the last one has run
observation.cancel()
