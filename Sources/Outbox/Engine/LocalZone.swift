// SPDX-License-Identifier: Apache-2.0

import Glibc

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
