// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Reachability

/// The clocks of the machine.
enum Clock {
    /// The wall clock's time.
    static var wall: WallTime { WallTime(nanoseconds: read(CLOCK_REALTIME)) }
    /// The monotonic clock's time.
    static var monotonic: MonotonicInstant { MonotonicInstant(nanoseconds: read(CLOCK_MONOTONIC)) }

    /// The boot clock's time, which is never set and counts during suspension, in nanoseconds.
    static var boot: Int64 { read(CLOCK_BOOTTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// "12:03:04.123" in the time zone of the process (localtime_r(3)).
    static func localText(_ time: WallTime) -> String {
        var seconds = time_t(time.nanoseconds / 1_000_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var line = TextLine()
        line.append(Int64(parts.tm_hour), digits: 2)
        line.append(":")
        line.append(Int64(parts.tm_min), digits: 2)
        line.append(":")
        line.append(Int64(parts.tm_sec), digits: 2)
        line.append(".")
        line.append(time.nanoseconds / 1_000_000 % 1000, digits: 3)
        return line.text
    }
}

extension WallTime {
    init(_ date: Date) {
        // Clamped to the range of nanoseconds.
        self.init(nanoseconds: Int64(min(max(date.timeIntervalSince1970, -9e9), 9e9) * 1_000) * 1_000_000)
    }
}
