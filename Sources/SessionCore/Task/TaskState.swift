// SPDX-License-Identifier: Apache-2.0

/// What a task does at the moment; the numbers are Cocoa's.
public enum TaskState: Int, Sendable {
    /// It transfers, or waits for its turn or for an answer.
    case running = 0
    /// It has not been resumed yet, or has been suspended.
    case suspended = 1
    /// It has been cancelled and is about to complete.
    case canceling = 2
    /// It is over; nothing changes any more.
    case completed = 3
}

/// The life of a task: created suspended, started once, completed once.
///
/// What cannot happen any more is answered with `.nothing`: calls from several threads overtake each other.
package struct TaskStateMachine: ~Copyable, Sendable {
    private enum State {
        /// Never resumed.
        case fresh
        case running
        /// Suspended after it had been started.
        case paused
        /// Told to end; its end is under way.
        case ending
        case completed
    }

    private var phase = State.fresh

    package init() {}

    /// The state as users see it.
    package var state: TaskState {
        switch phase {
        case .fresh, .paused: .suspended
        case .running: .running
        case .ending: .canceling
        case .completed: .completed
        }
    }

    package enum Resumption: Equatable { case start, proceed, nothing }

    /// The user resumes.
    package mutating func resume() -> Resumption {
        switch phase {
        case .fresh:
            phase = .running
            return .start
        case .paused:
            phase = .running
            return .proceed
        case .running, .ending, .completed: return .nothing
        }
    }

    /// The user suspends; true where something running has to pause.
    package mutating func suspend() -> Bool {
        guard phase == .running else { return false }
        phase = .paused
        return true
    }

    package enum Cancellation: Equatable { case finish, stop, nothing }

    /// The user cancels: a task that has never been started completes at once, another one is stopped first.
    package mutating func cancel() -> Cancellation {
        switch phase {
        case .fresh:
            phase = .ending
            return .finish
        case .running, .paused:
            phase = .ending
            return .stop
        case .ending, .completed: return .nothing
        }
    }

    /// Its work is done; true for the first call.
    package mutating func complete() -> Bool {
        guard phase != .completed else { return false }
        phase = .completed
        return true
    }
}
