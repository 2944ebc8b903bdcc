// SPDX-License-Identifier: Apache-2.0

// Prints the status at the start and at every change, one word a line, until it is killed.
import Glibc
import Reachability

let manager = ReachabilityManager()
manager.setStatusChangeBlock { status in
    let line = "\(status)\n"
    _ = line.utf8.withContiguousStorageIfAvailable { write(1, $0.baseAddress, $0.count) }
}
manager.startMonitoring()
while true { pause() }
