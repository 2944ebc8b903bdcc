// SPDX-License-Identifier: Apache-2.0

import Reachability
import Synchronization

/// A network that is what a test says it is.
final class ScriptedNetwork: ReachabilityProvider {
    private struct State {
        var status = ReachabilityStatus.unknown
        var observers: [Int: @Sendable (ReachabilityUpdate) -> Void] = [:]
        var nextToken = 0
    }

    private let state = Mutex(State())

    init() {}

    /// Becomes `status`, and notifies all observers before it returns.
    func become(_ status: ReachabilityStatus) {
        let (previous, observers) = state.withLock { state in
            defer { state.status = status }
            return (state.status, Array(state.observers.values))
        }
        let update = ReachabilityUpdate(
            event: .status, status: status, previous: previous, path: .notMonitoring)
        for observer in observers { observer(update) }
    }

    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        (state.withLock { $0.status }, .notMonitoring)
    }

    func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation {
        let (token, status) = state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return (state.nextToken, state.status)
        }
        observer(ReachabilityUpdate(event: .initial, status: status, previous: nil, path: .notMonitoring))
        return ReachabilityObservation { [self] in state.withLock { $0.observers[token] = nil } }
    }
}
