// SPDX-License-Identifier: Apache-2.0

/// Decides whether a connection that cannot be made is tried again, because the paths have just changed.
///
/// Times are nanoseconds of a clock that does not jump.
package struct Reconnection: Sendable {
    /// Addresses, routes and name servers of another path come one after the other: this long a failure is
    /// not the end.
    private static let window: Int64 = 2_000_000_000
    private static let firstDelay: Int64 = 20_000_000
    private static let longestDelay: Int64 = 320_000_000

    /// 0 while no change of paths is known.
    private var deadline: Int64 = 0
    private var delay: Int64 = 0

    package init() {}

    /// A path was lost: connections are tried again for a while.
    package mutating func pathLost(at now: Int64) {
        deadline = now &+ Self.window
        delay = Self.firstDelay
    }

    /// A server has answered.
    package mutating func serverAnswered() { deadline = 0 }

    /// Whether an exchange of which nothing has left is tried again after a failure.
    ///
    /// - Parameters:
    ///   - lastActivity: when something happened on its connection last, or when it began.
    ///   - pathChange: when links, addresses or routes have changed last; nil where no change is known.
    package mutating func mayTryAgain(
        after code: SessionError.Code, lastActivity: Int64?, pathChange: Int64?, at now: Int64
    ) -> Bool {
        guard code.isUnconnected else { return false }
        // The kernel had no route for an instant, or the router's answer was not there yet (arp(7)). A
        // refusal comes from a server that was reached.
        if deadline == 0, code != .cannotConnectToHost, let lastActivity, let pathChange,
            lastActivity < pathChange &+ Self.window
        {
            pathLost(at: now)
        }
        return now < deadline
    }

    /// When it is tried again, in nanoseconds from now; twice as long after each try.
    package mutating func nextDelay() -> Int64 {
        defer { delay = min(2 * delay, Self.longestDelay) }
        return delay
    }
}
