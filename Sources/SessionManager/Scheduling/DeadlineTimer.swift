// SPDX-License-Identifier: Apache-2.0

import EventLoop

/// A timer for whatever happens next by itself: one deadline at a time, which may be moved; on the loop's
/// thread.
final class DeadlineTimer {
    private let reactor: Reactor
    private let onDeadline: () -> Void
    private var timer: TimerID?
    private var deadline = Int64.max

    /// - Parameter onDeadline: called when the deadline has come; there is none then.
    init(on reactor: Reactor, onDeadline: @escaping () -> Void) {
        self.reactor = reactor
        self.onDeadline = onDeadline
    }

    /// Sets the deadline, in nanoseconds as `Reactor.now`; the greatest number is none.
    func set(_ next: Int64) {
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

    func cancel() { set(.max) }
}
