// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Reachability

/// Blocks on a dispatch queue.
func onDispatchQueue() -> ReachabilityManager {
    let queue = DispatchQueue(label: "network")
    return ReachabilityManager(deliveryQueue: .custom { queue.async(execute: $0) })
}

/// Blocks on whatever runs closures, for example a loop that the program has anyway.
func onOwnLoop(
    _ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
) -> ReachabilityManager {
    ReachabilityManager(deliveryQueue: .custom(enqueue))
}
