// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Reachability
import Synchronization

/// A queue that starts nothing while the network is known to be out of reach.
final class GatedQueue: Sendable {
    let queue = DispatchQueue(label: "uploads")
    private let isHeld = Mutex(false)

    init() {}

    /// Follows `network` until the observation is cancelled.
    func follow(_ network: any ReachabilityProvider) -> ReachabilityObservation {
        // The first report comes on another thread, and the first job may be here before it.
        let (status, path) = network.currentReachability()
        follow(status, path)
        return network.observeReachability { [self] in follow($0.status, $0.path) }
    }

    private func follow(_ status: ReachabilityStatus, _ path: ReachabilityPath) {
        // The path is gone at once, the status only after the grace. `unknown` holds nothing back.
        let hold = !path.isOnline && status != .unknown
        isHeld.withLock { isHeld in
            if hold, !isHeld { queue.suspend() }
            if !hold, isHeld { queue.resume() }
            isHeld = hold
        }
    }

    deinit { if isHeld.withLock({ $0 }) { queue.resume() } }  // a suspended queue must not be released
}
