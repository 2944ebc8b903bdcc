// SPDX-License-Identifier: Apache-2.0

internal import ReachabilityCore

/// Decides when the route socket is read, paused and reopened; instants are monotonic, in nanoseconds.
///
/// Pauses limit the CPU cost of permanent overruns, and of reopening without free descriptors.
package struct EventSocketStateMachine: ~Copyable, Sendable {
    /// The action after a read.
    package enum Action: Sendable, Equatable {
        case listen
        /// Stop reading until then; the evaluation after an overrun asks for everything.
        case pause(until: Int64)
        /// Close the socket, and open a new one then.
        case reopen(at: Int64)
        /// The event raced with a stop or a pause.
        case ignore
    }

    /// The action at a deadline.
    package enum DeadlineAction: Sendable, Equatable {
        case listen
        case reopen
        /// A stop overtook the deadline.
        case nothing
    }

    private enum State: Sendable {
        case closed, listening, paused, broken
    }

    /// Two overruns within this time are a storm.
    private static let stormGap: Int64 = 1_000_000_000

    private var state: State = .closed
    private var reopenDelay = Backoff(first: .milliseconds(10), limit: .seconds(5))
    private var pauseDelay = Backoff(first: .milliseconds(10), limit: .milliseconds(320))
    private var lastOverrun: Int64?

    package init() {}

    package mutating func opened() { state = .listening }

    /// The socket could not be reopened.
    package mutating func openingFailed(at now: Int64) -> Action {
        guard case .broken = state else { return .ignore }
        return .reopen(at: now &+ reopenDelay.nextDelay().inNanoseconds)
    }

    package mutating func closed() {
        state = .closed
        lastOverrun = nil
    }

    /// The socket was read; `now` is evaluated only after an error: the clock costs as much as the rest.
    package mutating func drained(
        _ outcome: RouteEventSocket.Outcome, hasEvents: Bool, at now: @autoclosure () -> Int64
    ) -> Action {
        if case .closed = state { return .ignore }
        switch outcome {
        case .drained, .more:
            // A socket that breaks before its first event counts as a failed attempt.
            if hasEvents { reopenDelay.reset() }
            return .listen
        case .overran: return overran(at: now())
        case .broken:
            state = .broken
            return .reopen(at: now() &+ reopenDelay.nextDelay().inNanoseconds)
        }
    }

    /// Continues after the first overrun; pauses after the second within a second.
    private mutating func overran(at now: Int64) -> Action {
        defer { lastOverrun = now }
        guard let lastOverrun, now &- lastOverrun < Self.stormGap else {
            pauseDelay.reset()
            return .listen
        }
        guard case .listening = state else { return .ignore }
        state = .paused
        return .pause(until: now &+ pauseDelay.nextDelay().inNanoseconds)
    }

    /// The instant of the last action has come.
    package mutating func deadlineReached() -> DeadlineAction {
        switch state {
        case .paused:
            state = .listening
            return .listen
        case .broken: return .reopen
        case .closed, .listening: return .nothing
        }
    }
}
