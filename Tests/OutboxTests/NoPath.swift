// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// No network at all.
struct NoPath: ReachabilityProvider {
    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        (.unreachable, ReachabilityPath(status: .unreachable))
    }

    func observeReachability(_ observer: @escaping @Sendable (ReachabilityUpdate) -> Void)
        -> ReachabilityObservation
    {
        let (status, path) = currentReachability()
        observer(ReachabilityUpdate(event: .initial, status: status, previous: nil, path: path))
        return ReachabilityObservation {}
    }
}
