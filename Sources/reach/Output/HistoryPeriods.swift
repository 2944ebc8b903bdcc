// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ServiceCore

/// A moment in the local time of a time zone.
struct LocalTime: Sendable, Hashable {
    var year: Int, month: Int, day: Int, hour: Int, minute: Int
    /// 0 is Sunday.
    var weekday: Int
    /// Seconds east of UTC.
    var offset: Int

    /// The time zone of the process (localtime_r(3)).
    static func here(_ time: WallTime) -> LocalTime {
        var seconds = time_t(time.nanoseconds / 1_000_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return LocalTime(parts)
    }

    init(year: Int, month: Int, day: Int, hour: Int, minute: Int, weekday: Int, offset: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute) = (hour, minute)
        (self.weekday, self.offset) = (weekday, offset)
    }

    init(_ parts: tm) {
        (year, month, day) = (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        (hour, minute) = (Int(parts.tm_hour), Int(parts.tm_min))
        (weekday, offset) = (Int(parts.tm_wday), parts.tm_gmtoff)
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// "2026-01-02 03:04".
    var full: String { "\(date) \(clock)" }
    /// "03:04".
    var clock: String { "\(Self.two(hour)):\(Self.two(minute))" }
    /// "2026-01-02".
    var date: String { "\(year)-\(Self.two(month))-\(Self.two(day))" }
    /// "Fri 01-02".
    var shortDay: String { "\(Self.weekdays[weekday % 7]) \(Self.two(month))-\(Self.two(day))" }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// The rows of a history: periods of equal length that start at a full hour or day.
struct HistoryPeriods {
    struct Period {
        var from: WallTime
        var to: WallTime
        var label: String
    }

    private(set) var periods: [Period] = []

    /// The most rows.
    private static let rows: Int64 = 25
    private static let lengths: [Int64] = [
        60, 300, 900, 3600, 4 * 3600, 86_400, 7 * 86_400, 28 * 86_400, 364 * 86_400,
    ]

    init(from: WallTime, to: WallTime, zone: HistoryView.Zone) {
        let begin = from.nanoseconds / 1_000_000_000
        let end = to.moved(by: 999_999_999).nanoseconds / 1_000_000_000
        guard begin < end else { return }
        let longest = Self.lengths[Self.lengths.count - 1]
        let length =
            Self.lengths.first { (end - begin + $0 - 1) / $0 < Self.rows }
            ?? longest * ((end - begin) / (longest * (Self.rows - 1)) + 1)
        // Where the clocks change in between, later rows start an hour off the full day, since all have the
        // same length.
        let offset = Int64(zone(from).offset)
        var start = begin - Self.remainder(begin + offset, length)
        while start < end {
            let moment = WallTime(seconds: start)
            let local = zone(moment)
            let label =
                length >= 7 * 86_400
                ? local.date : length >= 86_400 ? local.shortDay : "\(local.shortDay) \(local.clock)"
            periods.append(Period(from: moment, to: WallTime(seconds: start + length), label: label))
            start += length
        }
    }

    private static func remainder(_ a: Int64, _ b: Int64) -> Int64 {
        let rest = a % b
        return rest < 0 ? rest + b : rest
    }
}
