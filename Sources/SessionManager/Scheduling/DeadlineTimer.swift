// SPDX-License-Identifier: Apache-2.0

package import EventLoop

/// A timer for whatever happens next by itself: one deadline at a time, which may be moved; on the loop's
/// thread.
package final class DeadlineTimer {
    private let reactor: Reactor
    private let onDeadline: () -> Void
    private var timer: TimerID?
    private var deadline = Int64.max

    /// - Parameter onDeadline: called when the deadline has come; there is none then.
    package init(on reactor: Reactor, onDeadline: @escaping () -> Void) {
        self.reactor = reactor
        self.onDeadline = onDeadline
    }

    /// Sets the deadline, in nanoseconds as `Reactor.now`; the greatest number is none.
    package func set(_ next: Int64) {
        guard next != deadline else { return }
        deadline = next
        guard next < .max else {
            if let timer = timer.take() { _ = reactor.cancel(timer) }
            return
        }
        if let timer, reactor.reschedule(timer, at: next) { return }
        timer = reactor.schedule(at: next) { [unowned self] in
            timer = nil
            deadline = .max
            onDeadline()
        }
    }

    package func cancel() { set(.max) }
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

    /// It holds no more.
    mutating func end() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        rest = nil
    }
}
