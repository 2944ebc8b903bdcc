// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// Which hook runs next: one at a time, in the order of their names, and every round with the newest state.
///
/// While a round runs, only the newest change waits; what came before it is counted and left out. So hooks
/// can be slower than the network without a queue that grows, and the last state is always delivered.
package struct HookQueueStateMachine: ~Copyable, Sendable {
    /// The next action.
    package enum Step: Sendable, Equatable {
        case nothing
        /// Look into the directory, then call `found`.
        case list
        /// Run this program, then call `ended`.
        case run(String, HookEvent)
    }

    private enum State: Sendable {
        case idle
        case listing(HookEvent)
        case running(HookEvent, left: ArraySlice<String>)
    }

    private var state = State.idle
    private var waiting: HookEvent?
    /// The change that the hooks got last.
    private var told: ReachabilityStatus?
    private var isStopped = false

    /// Rounds that ran, and changes that were left out.
    package private(set) var rounds: UInt64 = 0
    package private(set) var skipped: UInt64 = 0

    package init() {}

    package var isIdle: Bool { if case .idle = state { true } else { false } }

    /// Something has changed.
    package mutating func changed(_ change: CommittedChange) -> Step {
        guard !isStopped else { return .nothing }
        switch state {
        case .idle:
            let event = HookEvent(change, told: told)
            state = .listing(event)
            return .list
        case .listing(var event):
            // No hook has seen it yet.
            event.supersede(with: change)
            skipped += 1
            state = .listing(event)
            return .nothing
        case .running:
            if waiting != nil {
                skipped += 1
                waiting?.supersede(with: change)
            } else {
                waiting = HookEvent(change, told: told)
            }
            return .nothing
        }
    }

    /// The directory has been looked into; the names are those of hooks that may be run.
    package mutating func found(_ names: [String]) -> Step {
        guard case .listing(let event) = state else { return .nothing }
        rounds += 1
        told = event.change.status
        return next(event, names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }[...])
    }

    /// The program has ended, in whichever way.
    package mutating func ended() -> Step {
        guard case .running(let event, let left) = state else { return .nothing }
        return next(event, left)
    }

    /// No further program is started; what runs is to be ended by the caller.
    package mutating func stop() {
        isStopped = true
        waiting = nil
    }

    private mutating func next(_ event: HookEvent, _ left: ArraySlice<String>) -> Step {
        if let name = left.first, !isStopped {
            state = .running(event, left: left.dropFirst())
            return .run(name, event)
        }
        state = .idle
        guard let waiting, !isStopped else { return .nothing }
        self.waiting = nil
        state = .listing(waiting)
        return .list
    }
}
