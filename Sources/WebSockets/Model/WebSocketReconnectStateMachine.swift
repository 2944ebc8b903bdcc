// SPDX-License-Identifier: Apache-2.0

package import SessionCore

/// Decides whether a WebSocket connects again after its connection has ended, or could not be made, and when.
///
/// Errors that another attempt cannot change end it: a refusal by the server, a certificate, a broken
/// protocol. A connection that has lasted begins the count of attempts anew; one that the server accepts and
/// drops at once does not, so that it is not asked without a pause.
package struct WebSocketReconnectStateMachine: Sendable {
    /// Why there is no connection.
    package enum Cause: Sendable, Equatable {
        /// The network took it, as the kernel says: the next attempt waits for the path.
        case pathLost
        /// The connection ended.
        case ended(WebSocketEnd)
        /// No connection came about.
        case failed(SessionError.Code, status: Int?)
    }

    package enum Action: Sendable, Equatable {
        /// Connect after so many nanoseconds.
        case connect(after: Int64)
        case finish
    }

    /// A connection has lasted after so long: 10 s.
    private static let lasting: Int64 = 10_000_000_000

    private let firstDelay: Int64
    private let longestDelay: Int64
    private let mostAttempts: Int
    /// Attempts that have failed in a row.
    private var failures = 0
    private var openedAt: Int64?

    /// - Parameter attempts: how many may fail in a row; 0 for no attempt after the first connection.
    package init(firstDelay: Int64, longestDelay: Int64, attempts: Int?) {
        self.firstDelay = max(0, firstDelay)
        self.longestDelay = max(0, longestDelay)
        mostAttempts = attempts ?? .max
    }

    /// With the pauses and attempts that a program has set.
    package init(_ rules: WebSocketReconnection) {
        self.init(
            firstDelay: rules.firstDelay.boundedNanoseconds,
            longestDelay: rules.longestDelay.boundedNanoseconds, attempts: rules.attempts)
    }

    /// A connection is open.
    package mutating func opened(at now: Int64) { openedAt = now }

    /// There is no connection any more, or none came about.
    ///
    /// - Parameter chance: a random number; pauses differ by it.
    package mutating func ended(_ cause: Cause, at now: Int64, chance: UInt64) -> Action {
        if let opened = openedAt.take(), now &- opened >= Self.lasting { failures = 0 }
        guard mostAttempts > failures, Self.mayPass(cause) else { return .finish }
        let pause = pause
        failures += 1
        // The path, when it is back, is what is waited for; a moment spreads those that lost it together.
        let longest = cause == .pathLost ? min(pause, 1_000_000_000) : pause
        let shortest = cause == .pathLost ? 0 : longest / 2
        return .connect(after: shortest + Int64(chance % UInt64(longest - shortest + 1)))
    }

    /// The pause before the next attempt.
    private var pause: Int64 {
        var pause = min(firstDelay, longestDelay)
        for _ in 0..<min(failures, 62) where pause < longestDelay {
            pause = pause > longestDelay / 2 ? longestDelay : pause * 2
        }
        return pause
    }

    /// Whether another attempt may have another outcome.
    package static func mayPass(_ cause: Cause) -> Bool {
        switch cause {
        case .pathLost: true
        case .ended(.lost), .ended(.silent): true
        case .ended(.closed(let closing)):
            switch closing.code {
            case .goingAway, .internalError, .serviceRestart, .tryAgainLater, .badGateway: true
            default: false
            }
        case .ended(.violated), .ended(.unanswered): false
        case .failed(let code, let status):
            if let status { status == 429 || status == 408 || status >= 500 } else { code.isOutage }
        }
    }
}
