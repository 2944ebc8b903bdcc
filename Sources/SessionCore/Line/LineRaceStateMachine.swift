// SPDX-License-Identifier: Apache-2.0

/// Decides whether the line behind a connection is dead, and over which uplink its transfers go on.
///
/// A connection that is owed an acknowledgement may be slow, lossy or dead. So its server is tried over each
/// other uplink, and over the connection's own line as well: several SYNs at short intervals, since one may
/// be lost. An answer there means that the line works. The transfers move only where another uplink reaches
/// the server, and the own line has stayed silent to all of it. Of the uplinks that reach it the first one in
/// the order of preference counts; where only such have answered that cost money or quota, a free one has 250
/// ms more.
///
/// | state | suspected | heard | own line answers | an uplink answers | all uplinks fail | time |
/// |---|---|---|---|---|---|---|
/// | quiet | race | – | – | – | – | – |
/// | racing | – | quiet, end | answered, end | remembered | failed, end | next SYN, or move |
/// | racing, for a free uplink | – | quiet, end | answered, end | move if free | – | move |
/// | answered | race after 30 s; reconnect after an outage | quiet | – | – | – | – |
/// | answered, large packets are lost | race of the uplinks alone | quiet | – | – | – | – |
/// | racing of the uplinks alone | – | quiet, end | – | move | failed, end | – |
/// | failed | race after the pause | quiet | – | – | – | – |
///
/// Instants are nanoseconds of a monotonic clock.
package struct LineRaceStateMachine: ~Copyable, Sendable {
    package enum Action: Sendable, Equatable {
        case nothing
        /// The server is tried over each other uplink, and once over the own line.
        case begin
        /// The server is tried over each other uplink, and not over the own line, which answers.
        case beginElsewhere
        /// The server is tried once more over the own line.
        case tryOwnLine
        /// All tries are given up.
        case end
        /// All tries are given up, and the transfers go on over this uplink.
        case move(to: Int)
        /// All tries are given up: nothing reaches the server, and no uplink is left to try.
        case lose
        /// The line works again, and the connection does not: its transfers connect anew.
        case reconnect
    }

    private struct Race {
        /// Tries over the own line so far.
        var tries: Int
        /// When the next one is due, or the decision.
        var next: Int64
        /// Not before this time is the line dead.
        var earliest: Int64
        /// The most preferred uplink that has answered.
        var winner: Int?
        /// Uplinks that have neither answered nor failed.
        var open: Int
        /// How many uplinks are free, which are the first ones, and how many of these are open.
        let free: Int
        var openFree: Int
        /// Until when a free uplink is waited for, since another one has answered.
        var end: Int64?
        /// Whether the own line does not count.
        let isElsewhere: Bool

        mutating func close(_ uplink: Int) {
            open -= 1
            if uplink < free { openFree -= 1 }
        }
    }

    private enum State {
        case quiet
        case racing(Race)
        /// The own line answers; after an outage the connection is given up if it stays deaf.
        case answered(at: Int64, wasOut: Bool)
        /// No uplink reaches the server.
        case failed(retryAt: Int64)
    }

    /// How many tries over the own line have to fail: with a fifth of all packets lost in each direction, a
    /// line that works fails all of them once in 200,000 races.
    package static let triesNeeded = 12
    /// The time between two tries: 25 ms.
    package static let interval: Int64 = 25_000_000
    /// The least time that the last try may take: 100 ms.
    package static let leastWait: Int64 = 100_000_000
    /// How long a free uplink is waited for once all is decided but for the cost: 250 ms, as the next address
    /// of a host has to wait (RFC 8305 §5).
    package static let freeWait: Int64 = 250_000_000
    /// How long a connection may stay deaf on a line that answers: 30 s, and 1 s after an outage.
    package static let deafOnGoodLine: Int64 = 30_000_000_000
    package static let deafAfterOutage: Int64 = 1_000_000_000
    private static let firstPause: Int64 = 1_000_000_000
    private static let longestPause: Int64 = 15_000_000_000

    private var state = State.quiet
    private var pause = Self.firstPause

    package init() {}

    /// When ``timeCame(at:)`` is to be called; nil for never.
    package var nextDeadline: Int64? {
        if case .racing(let race) = state { race.next } else { nil }
    }

    package var isRacing: Bool {
        if case .racing = state { true } else { false }
    }

    /// The connection is deaf at this look.
    ///
    /// - Parameters:
    ///   - uplinks: The number of other uplinks, the preferred ones first; 0 where none has internet, and
    ///     only the own line is tried.
    ///   - free: How many of them, the first ones, cost neither money nor quota; nil for all.
    ///   - wait: How long an answer over the own line may take.
    ///   - losesLarge: Whether large packets alone are lost, so that an answer over the own line proves
    ///     little.
    package mutating func suspected(
        uplinks: Int, free: Int? = nil, wait: Int64, losesLarge: Bool = false, at now: Int64
    ) -> Action {
        let free = free ?? uplinks
        switch state {
        case .racing: return .nothing
        case .quiet: return begin(uplinks, free, wait, now)
        case .answered(_, _) where losesLarge:
            state = .racing(
                Race(
                    tries: Self.triesNeeded, next: .max, earliest: now, open: uplinks, free: free,
                    openFree: free, isElsewhere: true))
            return .beginElsewhere
        case .answered(let then, let wasOut):
            if wasOut { return now &- then >= Self.deafAfterOutage ? reconnect() : .nothing }
            return now &- then >= Self.deafOnGoodLine ? begin(uplinks, free, wait, now) : .nothing
        case .failed(let retryAt): return now >= retryAt ? begin(uplinks, free, wait, now) : .nothing
        }
    }

    /// The connection has been acknowledged again, or is not used any more.
    package mutating func heard() -> Action {
        defer { (state, pause) = (.quiet, Self.firstPause) }
        return isRacing ? .end : .nothing
    }

    /// The server has answered over the own line.
    package mutating func ownLineAnswered(at now: Int64) -> Action {
        guard case .racing(let race) = state, !race.isElsewhere else { return .nothing }
        state = .answered(at: now, wasOut: pause > Self.firstPause)
        pause = Self.firstPause
        return .end
    }

    /// The server has answered over an uplink.
    package mutating func answered(_ uplink: Int, at now: Int64) -> Action {
        guard case .racing(var race) = state else { return .nothing }
        race.close(uplink)
        race.winner = min(race.winner ?? uplink, uplink)
        return decideSoon(race, now)
    }

    /// The server has not answered over an uplink.
    package mutating func failed(_ uplink: Int, at now: Int64) -> Action {
        guard case .racing(var race) = state else { return .nothing }
        race.close(uplink)
        guard race.open == 0, race.winner == nil else { return decideSoon(race, now) }
        state = .failed(retryAt: now &+ pause)
        pause = min(pause &* 2, Self.longestPause)
        return .end
    }

    /// Decides now if only an uplink's answer was waited for.
    private mutating func decideSoon(_ new: Race, _ now: Int64) -> Action {
        var race = new
        if race.winner != nil, race.next == .max || race.end != nil { race.next = now }
        state = .racing(race)
        return timeCame(at: now)
    }

    package mutating func timeCame(at now: Int64) -> Action {
        guard case .racing(var race) = state, race.next <= now else { return .nothing }
        if race.tries < Self.triesNeeded {
            race.tries += 1
            race.next = now &+ (race.tries < Self.triesNeeded ? Self.interval : Self.leastWait)
            state = .racing(race)
            return .tryOwnLine
        }
        guard now >= race.earliest else {
            race.next = race.earliest
            state = .racing(race)
            return .nothing
        }
        guard let winner = race.winner else {
            if race.open == 0 {
                state = .failed(retryAt: now &+ pause)
                return .lose
            }
            // The answer of an uplink decides, or its failure.
            race.next = .max
            state = .racing(race)
            return .nothing
        }
        let end = race.end ?? now &+ Self.freeWait
        if winner >= race.free, race.openFree > 0, now < end {
            (race.end, race.next) = (end, end)
            state = .racing(race)
            return .nothing
        }
        (state, pause) = (.quiet, Self.firstPause)
        return .move(to: winner)
    }

    private mutating func begin(_ uplinks: Int, _ free: Int, _ wait: Int64, _ now: Int64) -> Action {
        state = .racing(
            Race(
                tries: 1, next: now &+ Self.interval, earliest: now &+ wait, open: uplinks, free: free,
                openFree: free, isElsewhere: false))
        return .begin
    }

    private mutating func reconnect() -> Action {
        state = .quiet
        return .reconnect
    }
}
