// SPDX-License-Identifier: Apache-2.0

import CLinux
package import EventLoop
import Glibc
package import SessionCore

/// How the wall clock is looked at; tests have one of their own.
package struct ClockCalls: Sendable {
    /// What is known of it.
    package var status: @Sendable () -> ClockStatus
    /// A descriptor that is readable once the clock was set.
    package var openTimer: @Sendable () throws(ReactorError) -> OwnedDescriptor

    package init(
        status: @escaping @Sendable () -> ClockStatus,
        openTimer: @escaping @Sendable () throws(ReactorError) -> OwnedDescriptor
    ) {
        self.status = status
        self.openTimer = openTimer
    }

    /// This machine's clock.
    package static let system = ClockCalls(
        status: {
            ClockStatus(
                isSynchronized: clinux_is_clock_synchronized() != 0,
                seconds: WallClock.nanoseconds / 1_000_000_000)
        }, openTimer: ClockSetTimer.open)
}

/// Finds out whether a wrong clock explains a failure, and then when the clock is set; on the loop's thread.
final class ClockMonitor {
    private let reactor: Reactor
    private let calls: ClockCalls
    private let onSet: () -> Void
    /// Of the timer; nil while nothing waits for the clock.
    private var descriptor: Int32?
    /// Whether the kernel has refused to watch the timer: no clock is waited for then.
    private var isRefused = false

    /// - Parameter onSet: called once after ``explains(_:)``, when the clock was set.
    init(_ calls: ClockCalls, on reactor: Reactor, onSet: @escaping () -> Void) {
        self.calls = calls
        self.reactor = reactor
        self.onSet = onSet
    }

    deinit { stop() }

    /// Whether a wrong clock explains a failure, and will be noticed when it is set.
    func explains(_ error: SessionError) -> Bool {
        guard ClockStatus.concerns(error) else { return false }
        // Before the clock is looked at: it may be set in between.
        let wasWatching = descriptor != nil
        guard watch() else { return false }
        let isExplained = calls.status().explains(error)
        if !isExplained, !wasWatching { stop() }
        return isExplained
    }

    func stop() {
        guard let descriptor = descriptor.take() else { return }
        reactor.unwatch(descriptor)
        close(descriptor)
    }

    private func watch() -> Bool {
        guard descriptor == nil else { return true }
        guard !isRefused else { return false }
        do throws(ReactorError) {
            let timer = try calls.openTimer()
            try reactor.watch(timer.number, for: .readable) { [unowned self] readiness in
                isRefused = readiness.contains(.refused)
                stop()
                onSet()
            }
            descriptor = timer.release()
            return true
        } catch {
            return false
        }
    }
}
