// SPDX-License-Identifier: Apache-2.0

// Becomes another program as soon as the network can be reached:
//   wait-and-run COMMAND [ARGUMENT…]

import Glibc
import Reachability

guard CommandLine.argc > 1 else {
    print("usage: wait-and-run COMMAND [ARGUMENT…]")
    exit(64)
}

let manager = ReachabilityManager()
manager.startMonitoring()
// `unknown` means that the kernel cannot be asked; then nothing speaks against a try.
for await status in manager.statuses where status != .unreachable { break }

execvp(CommandLine.arguments[1], CommandLine.unsafeArgv + 1)
perror("wait-and-run: \(CommandLine.arguments[1])")
exit(127)
