// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// Decides whether a connection that cannot be made is tried again, because the paths have just changed.
struct Reconnection {
    /// Addresses, routes and name servers of another path come one after the other: this long a failure is
    /// not the end.
    private static let window: Int64 = 2_000_000_000
    private static let firstDelay: Int64 = 20_000_000
    private static let longestDelay: Int64 = 320_000_000

    /// 0 while no change of paths is known.
    private var deadline: Int64 = 0
    private var delay: Int64 = 0

    /// A path was lost: connections are tried again for a while.
    mutating func begin(at now: Int64) {
        deadline = now &+ Self.window
        delay = Self.firstDelay
    }

    /// A server has answered.
    mutating func end() { deadline = 0 }

    /// Whether the exchange that failed is tried again.
    ///
    /// - Parameter pathChange: when links, addresses or routes have changed last; nil where no change is
    ///   known.
    mutating func mayTryAgain(
        after code: SessionError.Code, _ transfer: Transfer?, pathChange: Int64?, at now: Int64
    ) -> Bool {
        guard transfer?.response == nil, transfer?.body.sent ?? 0 == 0 else { return false }
        switch code {
        case .cannotConnectToHost, .cannotFindHost, .notConnectedToInternet: break
        default: return false
        }
        if deadline == 0, failedForChange(code, transfer, pathChange) { begin(at: now) }
        return now < deadline
    }

    /// When it is tried again, in nanoseconds from now; twice as long after each try.
    mutating func nextDelay() -> Int64 {
        defer { delay = min(2 * delay, Self.longestDelay) }
        return delay
    }

    /// Whether a connection that was begun near a change of the paths failed for that: the kernel had no
    /// route for an instant, or the router's answer was not there yet (arp(7)).
    ///
    /// A refusal comes from a server that was reached.
    private func failedForChange(_ code: SessionError.Code, _ transfer: Transfer?, _ pathChange: Int64?)
        -> Bool
    {
        guard code != .cannotConnectToHost, let transfer, let pathChange else { return false }
        return transfer.lastActivity < pathChange &+ Self.window
    }
}

/// The limit of time for a whole task, which counts only while the task waits for the server.
struct TaskTimeLimit {
    private let reactor: Reactor
    /// What is left while it does not count, in nanoseconds; nil where there is no limit.
    private var rest: Int64?
    private var began: Int64 = 0
    private var timer: TimerID?

    init(_ limit: Duration?, on reactor: Reactor) {
        self.reactor = reactor
        rest = limit?.nanoseconds
    }

    /// Whether ``count(_:expired:)`` would change anything.
    func differs(from isCounting: Bool) -> Bool { rest != nil && isCounting != (timer != nil) }

    /// Whether it counts from now on; `expired` is called once on the loop's thread.
    mutating func count(_ isCounting: Bool, expired: @escaping () -> Void) {
        guard let rest, isCounting != (timer != nil) else { return }
        if let timer {
            _ = reactor.cancel(timer)
            self.timer = nil
            self.rest = max(0, rest - (Reactor.now &- began))
        } else {
            began = Reactor.now
            timer = reactor.schedule(at: began &+ rest) { expired() }
        }
    }

    /// The timer has fired.
    mutating func forgetTimer() { timer = nil }
}
