// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// A point in time as HTTP writes it, to the second (RFC 9110 §5.6.7).
///
/// All three forms are read; IMF-fixdate is written. No calendar library is asked: it would bring ICU.
package struct HTTPDate: Sendable, Equatable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z.
    package var seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }

    /// Reads a date; nil for anything else.
    ///
    /// `now` sets the century of RFC 850's two-digit year: more than 50 years ahead means the past.
    package init?(_ text: String, now: HTTPDate) {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split { $0 == " " || $0 == "," || $0 == "\t" }
        var parts: (day: Substring, month: Substring, year: Substring, time: Substring)
        if words.count == 4, text.contains(",") {
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3 else { return nil }
            parts = (date[0], date[1], date[2], words[2])
        } else if words.count == 6, text.contains(",") {
            parts = (words[1], words[2], words[3], words[4])
        } else if words.count == 5 {
            parts = (words[2], words[1], words[4], words[3])
        } else {
            return nil
        }
        if words.count != 5, let zone = words.last, zone != "GMT", zone != "UTC" { return nil }
        guard let month = Self.months.firstIndex(where: { parts.month.lowercased() == $0.lowercased() }),
            let day = Self.number(parts.day, digits: 1...2),
            var year = Self.number(parts.year, digits: words.count == 4 ? 2...4 : 4...4),
            let second = Self.time(parts.time)
        else { return nil }
        let isShort = parts.year.utf8.count == 2
        if parts.year.utf8.count == 3 { return nil }
        if isShort { year += Self.year(of: now) / 100 * 100 }
        guard var days = Self.days(year: year, month: Int64(month) + 1, day: day) else { return nil }
        if isShort, days * 86_400 + second > now.seconds + 50 * 31_556_952 {
            guard let earlier = Self.days(year: year - 100, month: Int64(month) + 1, day: day) else {
                return nil
            }
            days = earlier
        }
        seconds = days * 86_400 + second
    }

    /// As it is sent: `Sun, 06 Nov 1994 08:49:37 GMT`; years before 1 and after 9999 are cut there.
    package var text: String {
        // -62135596800 and 253402300799 are the ends of the years 1 and 9999.
        let seconds = min(max(seconds, -62_135_596_800), 253_402_300_799)
        let second = ((seconds % 86_400) + 86_400) % 86_400
        let days = (seconds - second) / 86_400
        let (year, month, day) = CivilCalendar.date(days: days)
        let weekday = Self.weekdays[Int(((days + 4) % 7 + 7) % 7)]
        let two: (Int64) -> String = { $0 < 10 ? "0\($0)" : "\($0)" }
        let four = String(repeating: "0", count: 4 - "\(year)".utf8.count) + "\(year)"
        return "\(weekday), \(two(day)) \(Self.months[Int(month) - 1]) \(four) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    package static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.seconds < right.seconds }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int64? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    /// The second of the day; a leap second counts as the one after.
    private static func time(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 2...2),
            let minute = number(parts[1], digits: 2...2), let second = number(parts[2], digits: 2...2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func year(of date: HTTPDate) -> Int64 {
        CivilCalendar.date(days: date.seconds / 86_400).year
    }

    /// Days since 1970-01-01; nil for a day that the month does not have.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day >= 1, day <= lengths[Int(month) - 1] else { return nil }
        return CivilCalendar.days(year: year, month: month, day: day)
    }
}

/// The proleptic Gregorian calendar, in days since 1970-01-01.
///
/// Years begin with March: the leap day is the last (Hinnant, “chrono-compatible low-level date algorithms”).
package enum CivilCalendar {
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floor(shifted, by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floor(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    static func floor(_ value: Int64, by divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : (value - divisor + 1) / divisor
    }
}

extension HTTPDate {
    /// The second in which `date` lies.
    package init(_ date: Date) {
        // What no calendar reaches would not fit into a whole number either.
        let seconds = date.timeIntervalSince1970.rounded(.down)
        self.init(seconds: Int64(min(max(seconds, -1e15), 1e15)))
    }

    /// The same point in time for the outside.
    package var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
}
