// SPDX-License-Identifier: Apache-2.0

internal import CLinux
package import EventLoop
internal import Glibc
package import ReachabilityCore

/// Detects that the machine has slept, without waking it or polling; used on the loop's thread alone.
///
/// The kernel cancels a timer on the wall clock when the clock is set and when the machine resumes
/// (TFD_TIMER_CANCEL_ON_SET, timerfd_create(2)); two other clocks then distinguish the two.
package final class ResumeDetector {
    private let reactor: Reactor
    private let threshold: Duration
    private var descriptor: Int32?
    private var sleeps: SuspendDetector

    /// A detector of sleeps longer than `threshold`.
    package init(reactor: Reactor, threshold: Duration) {
        self.reactor = reactor
        self.threshold = threshold
        sleeps = SuspendDetector(threshold: threshold, boottime: 0, monotonic: 0)
    }

    deinit { if let descriptor { close(descriptor) } }

    /// Starts to deliver `.resumed(after:)`; if the kernel refuses the timer, sleeps are not detected.
    package func start(deliver: @escaping (NetworkEvent) -> Void) throws(ReachabilityError) {
        stop()
        sleeps = SuspendDetector(
            threshold: threshold, boottime: Self.nanoseconds(CLOCK_BOOTTIME),
            monotonic: Self.nanoseconds(CLOCK_MONOTONIC))
        do throws(ReactorError) {
            let timer = try ClockSetTimer.open()
            let descriptor = timer.number
            try reactor.watch(descriptor, for: .readable) { [weak self] readiness in
                if readiness.contains(.refused) { self?.stop() } else { self?.timerEnded(deliver) }
            }
            self.descriptor = timer.release()
        } catch {
            throw Self.refusal(error.errno)
        }
    }

    private static func refusal(_ errno: Int32) -> ReachabilityError {
        ReachabilityError(
            .outOfResources, errno: errno,
            context: "cannot watch for the end of a sleep: \(KernelNames.error(errno))",
            advice: "raise the limit of open files (ulimit -n, LimitNOFILE=)")
    }

    /// Ends the delivery; repeated calls do nothing.
    package func stop() {
        guard let descriptor else { return }
        reactor.unwatch(descriptor)
        close(descriptor)
        self.descriptor = nil
    }

    private func timerEnded(_ deliver: (NetworkEvent) -> Void) {
        guard let descriptor else { return }
        guard ClockSetTimer.restart(descriptor) else { return stop() }
        let slept = sleeps.observed(
            boottime: Self.nanoseconds(CLOCK_BOOTTIME), monotonic: Self.nanoseconds(CLOCK_MONOTONIC))
        if let slept { deliver(.resumed(after: slept)) }
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

/// Measures sleeps by the difference of CLOCK_BOOTTIME, which counts them, and CLOCK_MONOTONIC, which does
/// not (clock_gettime(2)); neither follows the wall clock.
package struct SuspendDetector: Sendable {
    private let threshold: Duration
    private var slept: Int64

    /// A detector that starts with these readings, in nanoseconds.
    package init(threshold: Duration, boottime: Int64, monotonic: Int64) {
        self.threshold = threshold
        slept = boottime &- monotonic
    }

    /// The sleep since the last reported one, if it exceeds the threshold.
    package mutating func observed(boottime: Int64, monotonic: Int64) -> Duration? {
        let total = boottime &- monotonic
        let growth = Duration.nanoseconds(total &- slept)
        guard growth > threshold else { return nil }
        slept = total
        return growth
    }
}
