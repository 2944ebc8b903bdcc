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
        network.observeReachability { [self] update in
            // The path is gone at once, the status only after the grace. `unknown` holds nothing back.
            hold(!update.path.isOnline && update.status != .unknown)
        }
    }

    private func hold(_ hold: Bool) {
        isHeld.withLock { isHeld in
            if hold, !isHeld { queue.suspend() }
            if !hold, isHeld { queue.resume() }
            isHeld = hold
        }
    }

    deinit { hold(false) }  // a suspended queue must not be released
}
