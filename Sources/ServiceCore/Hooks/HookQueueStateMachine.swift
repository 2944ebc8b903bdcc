// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// Decides which hook runs next: one at a time, in the order of their names.
///
/// During a round only the newest change waits; earlier ones are counted and skipped.
package struct HookQueueStateMachine: ~Copyable, Sendable {
    /// The next action.
    package enum Step: Sendable, Equatable {
        case nothing
        /// Read the directory, then call `found`.
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
    /// The status of the hooks' last event.
    private var reported: ReachabilityStatus?
    private var isStopped = false

    /// Completed rounds, and skipped changes.
    package private(set) var rounds: UInt64 = 0
    package private(set) var skipped: UInt64 = 0

    package init() {}

    package var isIdle: Bool { if case .idle = state { true } else { false } }

    /// Handles a committed change.
    package mutating func changed(_ change: CommittedChange) -> Step {
        guard !isStopped else { return .nothing }
        switch state {
        case .idle:
            let event = HookEvent(change, reported: reported)
            state = .listing(event)
            return .list
        case .listing(var event):
            // No hook has received this event yet.
            event.supersede(with: change)
            skipped += 1
            state = .listing(event)
            return .nothing
        case .running:
            if waiting != nil {
                skipped += 1
                waiting?.supersede(with: change)
            } else {
                waiting = HookEvent(change, reported: reported)
            }
            return .nothing
        }
    }

    /// Handles the names of the runnable hooks.
    package mutating func found(_ names: [String]) -> Step {
        guard case .listing(let event) = state else { return .nothing }
        rounds += 1
        reported = event.change.status
        return next(event, names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }[...])
    }

    /// Handles the end of the program, whatever its result.
    package mutating func ended() -> Step {
        guard case .running(let event, let left) = state else { return .nothing }
        return next(event, left)
    }

    /// Starts no further program; the caller ends the running one.
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
