// SPDX-License-Identifier: Apache-2.0

import Reachability

/// Watches a network namespace of `ip netns`, which needs CAP_SYS_ADMIN.
func watchNamespace(_ name: String) -> ReachabilityManager {
    var configuration = ReachabilityConfiguration()
    configuration.networkNamespace = "/run/netns/\(name)"
    let manager = ReachabilityManager(configuration: configuration)
    manager.startMonitoring()
    if let failure = manager.failure { print(failure) }
    return manager
}
