// SPDX-License-Identifier: Apache-2.0

import Reachability

/// Whether there is a way to one device, default route or not.
func watchNeighbour() -> ReachabilityManager? {
    guard let address = IPAddress("192.168.7.20") else { return nil }
    let camera = ReachabilityManager(address: address)
    camera.setStatusChangeBlock { print("camera:", $0) }
    camera.startMonitoring()
    return camera
}

/// A link-local address needs its interface; a name is resolved again when the path changes.
func watchOthers() -> [ReachabilityManager] {
    [
        ReachabilityManager(hostName: "fe80::1%eth0"),
        ReachabilityManager(hostName: "broker.example.org"),
    ]
}
