// SPDX-License-Identifier: Apache-2.0

/// Decides what becomes of exchanges whose host the system has been looking up for long: the name servers, or
/// the line to them, may be dead.
///
/// After 2 s the name is asked for over each other uplink, unless an address of it was used before. The
/// server is tried at the address as after a deaf connection (``LineRaceStateMachine``). A line that is dead
/// is left. On a line that works the system has 5 s in all, since a slow name server moves nothing; then the
/// exchanges connect to the address that was found, over the same line.
///
/// | state | time | address found | none found | own line answers | nothing reaches the server |
/// |---|---|---|---|---|---|
/// | waiting | ask, or race | – | – | – | – |
/// | asking | – | race | paused | – | – |
/// | racing | – | – | – | patient | paused |
/// | patient | use the address | – | – | – | – |
/// | paused | ask, or race | – | – | – | – |
///
/// Instants are nanoseconds of a monotonic clock.
package struct LookupStateMachine: ~Copyable, Sendable {
    package enum Action: Sendable, Equatable {
        case nothing
        /// The name is asked for over each other uplink.
        case ask
        /// The server is tried at the address.
        case race
        /// The exchanges connect to the address over their own line.
        case use
    }

    private enum State: Equatable {
        case waiting, asking, racing, patient, paused, done
    }

    /// How long the system may look a name up before other uplinks are tried: 2 s.
    package static let patience: Int64 = 2_000_000_000
    /// How long it may take on a line that works: 5 s (`timeout` in resolv.conf(5)).
    package static let systemTime: Int64 = 5_000_000_000
    private static let firstPause: Int64 = 1_000_000_000
    private static let longestPause: Int64 = 15_000_000_000

    private let began: Int64
    private var state = State.waiting
    private var pause = Self.firstPause
    /// When ``timeCame(hasAddress:at:)`` is to be called; nil for never.
    package private(set) var nextDeadline: Int64?

    /// - Parameter began: When the system began to look the name up.
    package init(began: Int64) {
        self.began = began
        nextDeadline = began &+ Self.patience
    }

    /// - Parameter hasAddress: Whether an address of the host is known.
    package mutating func timeCame(hasAddress: Bool, at now: Int64) -> Action {
        guard let deadline = nextDeadline, deadline <= now else { return .nothing }
        nextDeadline = nil
        switch state {
        case .waiting, .paused:
            state = hasAddress ? .racing : .asking
            return hasAddress ? .race : .ask
        case .patient:
            state = .done
            return .use
        case .asking, .racing, .done: return .nothing
        }
    }

    /// An uplink's name server has told an address.
    package mutating func addressFound() -> Action {
        guard state == .asking else { return .nothing }
        state = .racing
        return .race
    }

    /// The server has answered over the own line.
    package mutating func ownLineAnswered(at now: Int64) {
        guard state == .racing else { return }
        state = .patient
        nextDeadline = max(now, began &+ Self.systemTime)
    }

    /// No address was found, or nothing reaches the server.
    package mutating func failed(at now: Int64) {
        guard state == .asking || state == .racing else { return }
        state = .paused
        nextDeadline = now &+ pause
        pause = min(pause &* 2, Self.longestPause)
    }
}
