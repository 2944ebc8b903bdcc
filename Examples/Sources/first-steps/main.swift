// SPDX-License-Identifier: Apache-2.0

import Reachability

let manager = ReachabilityManager()
manager.setStatusChangeBlock { status in
    print(status.localizedString())  // "Reachable via Wired": once, and at each change
}
manager.startMonitoring()  // when it returns, manager.status is known

for await update in manager.pathUpdates {
    print(update.event, update.status, update.path.reason)  // "path wired eth0: no carrier"
}
