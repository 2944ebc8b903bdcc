// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Synchronization

/// A provider whose network a test sets.
final class FakeProvider: ReachabilityProvider {
    private struct State {
        var status: ReachabilityStatus
        var path: ReachabilityPath
        var observers: [Int: @Sendable (ReachabilityUpdate) -> Void] = [:]
        var next = 0
    }

    private let state: Mutex<State>

    init(_ status: ReachabilityStatus = .unknown) {
        state = Mutex(State(status: status, path: Self.path(status)))
    }

    static func path(
        _ status: ReachabilityStatus, medium: Medium? = nil, isExpensive: Bool = false,
        isConstrained: Bool = false
    ) -> ReachabilityPath {
        let reason: ReachabilityReason? =
            status == .unreachable
            ? ReachabilityReason(.linkDown, interface: "eth0", sentence: "eth0: no carrier") : nil
        return ReachabilityPath(
            status: status, interface: "eth0", medium: medium, isExpensive: isExpensive, reason: reason,
            isConstrained: isConstrained)
    }

    var observerCount: Int { state.withLock { $0.observers.count } }

    /// Tells of a network like this.
    func set(
        _ status: ReachabilityStatus, medium: Medium? = nil, isExpensive: Bool = false,
        isConstrained: Bool = false
    ) {
        let path = Self.path(
            status, medium: medium, isExpensive: isExpensive, isConstrained: isConstrained)
        // Under the lock, so that the order is the same for all.
        state.withLock { state in
            let update = ReachabilityUpdate(
                event: .status, status: status, previous: state.status, path: path)
            (state.status, state.path) = (status, path)
            for observer in state.observers.values { observer(update) }
        }
    }

    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        state.withLock { ($0.status, $0.path) }
    }

    func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation {
        let number = state.withLock { state in
            state.next += 1
            state.observers[state.next] = observer
            observer(
                ReachabilityUpdate(event: .initial, status: state.status, previous: nil, path: state.path))
            return state.next
        }
        return ReachabilityObservation { [self] in state.withLock { $0.observers[number] = nil } }
    }
}
