// SPDX-License-Identifier: Apache-2.0

/// A point in time in UTC as RFC 3339 writes it.
struct CalendarTime: CustomStringConvertible {
    private let day: Int64
    private let millisecond: Int64

    init(millisecondsSince1970 milliseconds: Int64) {
        let perDay: Int64 = 86_400_000
        day = milliseconds >= 0 ? milliseconds / perDay : (milliseconds - perDay + 1) / perDay
        millisecond = milliseconds - day * perDay
    }

    var description: String {
        let (year, month, dayOfMonth) = date
        let seconds = millisecond / 1000
        let fraction = millisecond % 1000
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T"
            + "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
            + (fraction == 0 ? "Z" : ".\(padded(fraction, 3))Z")
    }

    /// The proleptic Gregorian date.
    ///
    /// Years begin with March, so that the leap day is the last (Hinnant, “chrono-compatible low-level date algorithms”).
    private var date: (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
