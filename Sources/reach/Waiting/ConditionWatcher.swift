// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore
import Synchronization

/// Where the loop's thread, which hears of changes, and the main thread, which waits, meet.
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

    /// Takes an update in.
    func observe(_ update: ReachabilityUpdate) {
        observe(status: update.status, path: update.path, links: update.links)
        waiter.ring()
    }

    /// Takes in how things are.
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

    /// Something happened that an update need not follow.
    func linksMayHaveChanged(after item: RecordedItem) {
        guard case .events = item else { return }
        state.withLock { $0.mayHaveChanged = true }
        waiter.ring()
    }

    /// Whether something did since the last call.
    func consumeChange() -> Bool {
        state.withLock { state in
            defer { state.mayHaveChanged = false }
            return state.mayHaveChanged
        }
    }

    /// When the condition will have held for long enough; nil while it does not hold.
    var deadline: MonotonicInstant? { state.withLock { $0.progress.deadline } }

    /// Whether it has.
    func isMet(at now: MonotonicInstant) -> Bool { state.withLock { $0.progress.isMet(at: now) } }

    /// How things were last; nil where nothing was ever reported.
    var latest: (status: ReachabilityStatus, path: ReachabilityPath, links: [LinkReport])? {
        state.withLock { $0.hasReport ? ($0.status, $0.path, $0.links) : nil }
    }
}
