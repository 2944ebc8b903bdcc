// SPDX-License-Identifier: Apache-2.0

// Lights a LED while the network can be reached:
//   status-led /sys/class/leds/NAME/brightness

import Glibc
import Reachability

func light(_ isOn: Bool, _ path: String) {
    let file = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC)
    guard file >= 0 else {
        perror("status-led: \(path)")
        exit(1)
    }
    let text = isOn ? "255\n" : "0\n"  // the kernel lowers it to the LED's max_brightness
    _ = write(file, text, text.utf8.count)
    close(file)
}

guard CommandLine.arguments.count == 2 else {
    print("usage: status-led /sys/class/leds/NAME/brightness")
    exit(64)
}

let manager = ReachabilityManager()
manager.startMonitoring()
for await status in manager.statuses {
    light(status.isReachable, CommandLine.arguments[1])
}
