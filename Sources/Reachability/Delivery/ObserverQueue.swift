// SPDX-License-Identifier: Apache-2.0

import Glibc
package import ReachabilityCore

/// The pending updates of one observer: delivered in order, one at a time, never under a lock.
///
/// An observer that is more than ``limit`` updates behind loses the oldest, paths before statuses.
package final class ObserverQueue: Sendable {
    private struct State {
        var pending: [ReachabilityUpdate] = []
        var isScheduled = false
        var isCancelled = false
        var caller: pthread_t?
    }

    private static var limit: Int { 64 }

    private let state = ConditionLock(State())
    private let queue: DeliveryQueue
    private let waits: Bool
    private let observer: @Sendable (ReachabilityUpdate) -> Void

    /// - Parameter waits: whether ``removeAll(permanently:)`` waits for a running call. It must not where the
    ///   observer resumes a Swift task: the call waits for the lock of that task, whose cancellation may hold
    ///   it and remove the observer.
    package init(
        queue: DeliveryQueue, waits: Bool = true, observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) {
        self.queue = queue
        self.waits = waits
        self.observer = observer
    }

    /// Appends an update; the caller then calls ``deliver()`` outside its locks.
    package func append(_ update: ReachabilityUpdate) {
        state.withLock { state in
            guard !state.isCancelled else { return }
            if state.pending.count >= Self.limit {
                state.pending.remove(at: state.pending.firstIndex { $0.event == .path } ?? 0)
            }
            state.pending.append(update)
        }
    }

    /// Starts the delivery of the pending updates, unless it is running.
    package func deliver() {
        let start = state.withLock { state in
            guard !state.isScheduled, !state.pending.isEmpty else { return false }
            state.isScheduled = true
            return true
        }
        if start { queue.submit { self.drain() } }
    }

    private func drain() {
        while let update = next() {
            observer(update)
            state.withLock { $0.caller = nil }
        }
    }

    private func next() -> ReachabilityUpdate? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isScheduled = false
                return nil
            }
            state.caller = pthread_self()
            return state.pending.removeFirst()
        }
    }

    /// Removes the pending updates and waits for a running call, unless called from inside it.
    package func removeAll(permanently: Bool) {
        state.withLock { state in
            state.pending = []
            if permanently { state.isCancelled = true }
        }
        if waits { waitForCall() }
    }

    private func waitForCall() {
        state.wait { $0.caller == nil || pthread_equal($0.caller ?? 0, pthread_self()) != 0 }
    }
}
