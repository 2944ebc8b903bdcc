// SPDX-License-Identifier: Apache-2.0

internal import ReachabilityCore

/// Decides when the route socket is read, paused, and opened again.
///
/// Pure: instants are nanoseconds of the monotonic clock. Reading a socket that overruns all the time only costs CPU,
/// and so does reopening without a pause while there is no descriptor.
package struct EventSocketStateMachine: ~Copyable, Sendable {
    /// What follows from a reading.
    package enum Action: Sendable, Equatable {
        /// Wait for the next event.
        case listen
        /// Do not read until then. Nothing more is lost: after an overrun everything is asked anyway.
        case rest(until: Int64)
        /// Close the socket, and open another one then.
        case reopen(at: Int64)
        /// The event raced with a stop or a rest.
        case ignore
    }

    /// What follows from a deadline.
    package enum DeadlineAction: Sendable, Equatable {
        case listen
        case reopen
        /// The deadline was overtaken by a stop.
        case nothing
    }

    private enum State: Sendable {
        case closed
        case listening
        case resting
        case broken
    }

    /// Two overruns closer than this are a storm.
    private static let stormGap: Int64 = 1_000_000_000

    private var state: State = .closed
    private var reopenDelay = Backoff(first: .milliseconds(10), limit: .seconds(5))
    private var restDelay = Backoff(first: .milliseconds(10), limit: .milliseconds(320))
    private var lastOverrun: Int64?

    package init() {}

    /// The socket is open, for the first time or again.
    package mutating func opened() { state = .listening }

    /// The socket could not be opened again.
    package mutating func openingFailed(at now: Int64) -> Action {
        guard case .broken = state else { return .ignore }
        return .reopen(at: now &+ reopenDelay.nextDelay().inNanoseconds)
    }

    /// The source was stopped.
    package mutating func closed() {
        state = .closed
        lastOverrun = nil
    }

    /// The socket was read, with events or without.
    ///
    /// The clock is read only after an error: for each event it would cost as much as the decision.
    package mutating func drained(
        _ outcome: RouteEventSocket.Outcome, hasEvents: Bool, at now: @autoclosure () -> Int64
    ) -> Action {
        if case .closed = state { return .ignore }
        switch outcome {
        case .drained, .more:
            // A socket that breaks before its first event counts like one that does not open.
            if hasEvents { reopenDelay.reset() }
            return .listen
        case .overran: return overran(at: now())
        case .broken:
            state = .broken
            return .reopen(at: now() &+ reopenDelay.nextDelay().inNanoseconds)
        }
    }

    /// After the first overrun reading goes on; after the second within a second the socket rests.
    private mutating func overran(at now: Int64) -> Action {
        defer { lastOverrun = now }
        guard let lastOverrun, now &- lastOverrun < Self.stormGap else {
            restDelay.reset()
            return .listen
        }
        guard case .listening = state else { return .ignore }
        state = .resting
        return .rest(until: now &+ restDelay.nextDelay().inNanoseconds)
    }

    /// The instant of the last action has come.
    package mutating func deadlineReached() -> DeadlineAction {
        switch state {
        case .resting:
            state = .listening
            return .listen
        case .broken: return .reopen
        case .closed, .listening: return .nothing
        }
    }
}
