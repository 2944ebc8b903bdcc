// SPDX-License-Identifier: Apache-2.0

internal import ReachabilityCore

/// Decides when the route socket is read, left alone for a moment, and opened again.
///
/// Pure: instants are nanoseconds of the monotonic clock. Reading on while the kernel sends faster than that only costs
/// time, and so does opening a socket again at once for which there is no descriptor.
package struct FeedStateMachine: ~Copyable, Sendable {
    /// What follows from a reading.
    package enum Action: Sendable, Equatable {
        /// Wait for the next event.
        case listen
        /// Leave the socket alone until then. Nothing more is lost by it: everything is going to be asked anyway.
        case rest(until: Int64)
        /// Close the socket, and open another one then.
        case reopen(at: Int64)
        /// The race of an event with a stop, or with a rest: it changes nothing.
        case ignore
    }

    /// What follows from a deadline.
    package enum Due: Sendable, Equatable {
        case listen
        case reopen
        /// It was overtaken by a stop.
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
    private var reopening = Backoff(first: .milliseconds(10), limit: .seconds(5))
    private var resting = Backoff(first: .milliseconds(10), limit: .milliseconds(320))
    private var lastOverrun: Int64?

    package init() {}

    /// The socket is open, for the first time or again.
    package mutating func opened() { state = .listening }

    /// It could not be opened again.
    package mutating func openingFailed(at now: Int64) -> Action {
        guard case .broken = state else { return .ignore }
        return .reopen(at: now &+ reopening.pause().inNanoseconds)
    }

    /// The source was stopped.
    package mutating func closed() {
        state = .closed
        lastOverrun = nil
    }

    /// The socket was read; `hasEvents` tells whether it brought any.
    ///
    /// The clock is looked at only where something is wrong: with every event it would cost as much as the decision.
    package mutating func drained(
        _ outcome: RouteFeed.Outcome, hasEvents: Bool, at now: @autoclosure () -> Int64
    ) -> Action {
        if case .closed = state { return .ignore }
        switch outcome {
        case .drained, .more:
            // A socket that opens and breaks before it has told anything is no better than one that does not open.
            if hasEvents { reopening.reset() }
            return .listen
        case .overran: return overran(at: now())
        case .broken:
            state = .broken
            return .reopen(at: now() &+ reopening.pause().inNanoseconds)
        }
    }

    /// The first overrun is read on from at once; after the second within a second the socket rests.
    private mutating func overran(at now: Int64) -> Action {
        defer { lastOverrun = now }
        guard let lastOverrun, now &- lastOverrun < Self.stormGap else {
            resting.reset()
            return .listen
        }
        guard case .listening = state else { return .ignore }
        state = .resting
        return .rest(until: now &+ resting.pause().inNanoseconds)
    }

    /// The instant that the last action named has come.
    package mutating func deadlineReached() -> Due {
        switch state {
        case .resting:
            state = .listening
            return .listen
        case .broken: return .reopen
        case .closed, .listening: return .nothing
        }
    }
}
