// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore
import Synchronization

/// Shares the latest state between the loop's thread, which observes, and the main thread, which waits.
final class ConditionWatcher: Sendable {
    private struct State {
        var progress: WaitProgress
        var status = ReachabilityStatus.unknown
        var path = ReachabilityPath.notMonitoring
        var links: [LinkReport] = []
        var hasReport = false
        var mayHaveChanged = false
    }

    private let condition: WaitCondition
    private let state: Mutex<State>
    private let waiter: MainThreadWaiter

    init(condition: WaitCondition, stable: Duration, waiter: MainThreadWaiter) {
        self.condition = condition
        self.waiter = waiter
        state = Mutex(State(progress: WaitProgress(stable: stable)))
    }

    func observe(_ update: ReachabilityUpdate) {
        observe(status: update.status, path: update.path, links: update.links)
        waiter.ring()
    }

    func observe(status: ReachabilityStatus, path: ReachabilityPath, links: [LinkReport]) {
        let match = condition.match(status: status, path: path, links: links)
        state.withLock { state in
            state.progress.observe(match, at: Clock.monotonic)
            state.status = status
            state.path = path
            state.links = links
            state.hasReport = true
        }
    }

    /// Records an event after which links may have changed without an update.
    func linksMayHaveChanged(after item: RecordedItem) {
        guard case .events = item else { return }
        state.withLock { $0.mayHaveChanged = true }
        waiter.ring()
    }

    /// Whether links may have changed since the last call.
    func consumeChange() -> Bool {
        state.withLock { state in
            defer { state.mayHaveChanged = false }
            return state.mayHaveChanged
        }
    }

    /// When the condition will have held for long enough; nil while it does not hold.
    var deadline: MonotonicInstant? { state.withLock { $0.progress.deadline } }

    /// Whether the condition has held for long enough.
    func isMet(at now: MonotonicInstant) -> Bool { state.withLock { $0.progress.isMet(at: now) } }

    /// The latest state; nil before the first report.
    var latest: (status: ReachabilityStatus, path: ReachabilityPath, links: [LinkReport])? {
        state.withLock { $0.hasReport ? ($0.status, $0.path, $0.links) : nil }
    }
}
