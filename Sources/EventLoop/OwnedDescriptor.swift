// SPDX-License-Identifier: Apache-2.0

internal import CLinux
import Glibc

/// The only owner of an open descriptor; closes it when released.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// Valid as long as the owner lives.
    package let number: Int32

    /// Takes ownership of an open descriptor.
    package init(adopting number: Int32) { self.number = number }

    /// Takes ownership of a system call's result.
    ///
    /// - Throws: the call's name with the current errno(3) if the number is negative.
    package init(_ operation: String, _ number: Int32) throws(ReactorError) {
        guard number >= 0 else { throw ReactorError(operation, errno: errno) }
        self.number = number
    }

    /// Gives up ownership without closing.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    // Not repeated on EINTR: Linux has released the number by then (close(2)), and another thread may own it.
    deinit { _ = close(number) }
}

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
