// SPDX-License-Identifier: Apache-2.0

internal import CLinux
import Glibc

/// A timer that never ends, and that the kernel cancels when the wall clock is set and when the machine
/// resumes from sleep (TFD_TIMER_CANCEL_ON_SET, timerfd_create(2)): its descriptor is readable then.
///
/// It neither polls nor wakes the processor.
package enum ClockSetTimer {
    /// A descriptor with the timer, which does not block and is close-on-exec.
    package static func open() throws(ReactorError) -> OwnedDescriptor {
        let timer = try OwnedDescriptor(
            "timerfd_create", timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK)))
        guard arm(timer.number) else { throw ReactorError("timerfd_settime", errno: errno) }
        return timer
    }

    /// Reads what made it readable, and starts it again; false where the kernel refuses.
    package static func restart(_ descriptor: Int32) -> Bool {
        // Fails with ECANCELED as expected.
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        return arm(descriptor)
    }

    private static func arm(_ descriptor: Int32) -> Bool {
        // The kernel clamps a time beyond its range.
        var time = itimerspec()
        time.it_value.tv_sec = .max
        let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
        while timerfd_settime(descriptor, flags, &time, nil) != 0 {
            // The clock was set since the descriptor was made, and the kernel has noted that now.
            guard errno == ECANCELED else { return false }
        }
        return true
    }
}
