// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import ReachabilityCore

/// The device's clock, in milliseconds since 1970.
enum WallClock {
    static var now: Int64 { milliseconds(Date()) }
    static func milliseconds(_ date: Date) -> Int64 {
        Int64(min(max(date.timeIntervalSince1970, -1e12), 1e12) * 1_000)
    }
    /// RFC 3339, as in lists.
    static func text(_ milliseconds: Int64) -> String {
        // Clamped to the range of nanoseconds, which ends in 2262.
        WallTime(nanoseconds: min(max(milliseconds, -9_000_000_000_000), 9_000_000_000_000) * 1_000_000).text
    }
    static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}

extension Duration {
    /// Whole milliseconds.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1_000).overflow
            ? .max : seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

/// The device's time zone, by `TZ` or /etc/localtime.
package enum LocalZone {
    /// The seconds by which local time is ahead of UTC at an instant, in seconds since 1970.
    package static func offset(at instant: Int64) -> Int64 {
        var (time, parts) = (time_t(instant), tm())
        guard localtime_r(&time, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }

    /// Reads the zone's file anew if it was replaced; localtime_r(3) alone reads it once.
    package static func refresh() { tzset() }
}
