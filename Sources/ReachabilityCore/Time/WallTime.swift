// SPDX-License-Identifier: Apache-2.0

/// An instant of the wall clock, in UTC; its text follows RFC 3339 §5.6, without a calendar library.
package struct WallTime: Sendable, Equatable, Comparable {
    /// Nanoseconds since 1970-01-01T00:00:00Z; covers the years 1677 to 2262.
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

    package static func + (a: Self, b: Duration) -> Self {
        Self(nanoseconds: a.nanoseconds &+ b.inNanoseconds)
    }

    package static func - (a: Self, b: Self) -> Duration { .nanoseconds(a.nanoseconds &- b.nanoseconds) }

    /// "2026-01-02T03:04:05.678Z": to the millisecond, for the program's output.
    package var text: String { text(digits: 3) }

    /// To the nanosecond, for recordings.
    package var exactText: String { text(digits: 9) }

    private func text(digits: Int) -> String {
        var line = TextLine()
        append(to: &line, digits: digits)
        return line.text
    }

    /// Appends the text with 1 to 9 fractional digits, truncated.
    package func append(to line: inout TextLine, digits: Int = 3) {
        var seconds = nanoseconds / 1_000_000_000
        var fraction = nanoseconds % 1_000_000_000
        if fraction < 0 {
            fraction += 1_000_000_000
            seconds -= 1
        }
        var days = seconds / 86_400
        var second = seconds % 86_400
        if second < 0 {
            second += 86_400
            days -= 1
        }
        let date = CivilDate(daysSinceEpoch: days)
        line.append(date.year, digits: 4)
        line.append(byte: UInt8(ascii: "-"))
        line.append(date.month, digits: 2)
        line.append(byte: UInt8(ascii: "-"))
        line.append(date.day, digits: 2)
        line.append(byte: UInt8(ascii: "T"))
        line.append(second / 3600, digits: 2)
        line.append(byte: UInt8(ascii: ":"))
        line.append(second / 60 % 60, digits: 2)
        line.append(byte: UInt8(ascii: ":"))
        line.append(second % 60, digits: 2)
        line.append(byte: UInt8(ascii: "."))
        line.append(fraction / Self.powersOfTen[9 - digits], digits: digits)
        line.append(byte: UInt8(ascii: "Z"))
    }

    private static let powersOfTen: [Int64] = [
        1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    ]

    /// Reads "2026-01-02T03:04:05Z" with up to nine fractional digits; nil for anything else.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard (20...30).contains(bytes.count), bytes.last == UInt8(ascii: "Z"), bytes[4] == UInt8(ascii: "-"),
            bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":")
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 48)
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        var fraction: Int64 = 0
        if bytes.count > 20 {
            let digits = bytes.count - 21
            guard bytes[19] == UInt8(ascii: "."), digits >= 1, let value = number(20..<20 + digits)
            else { return nil }
            fraction = value * Self.powersOfTen[9 - digits]
        }
        let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        // The years 1678 to 2261 always fit; the partial years at both ends are not supported.
        guard (1678...2261).contains(year) else { return nil }
        self.init(nanoseconds: seconds * 1_000_000_000 + fraction)
    }
}

/// A day of the Gregorian calendar, by Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms".
private struct CivilDate {
    var year, month, day: Int64
}

extension CivilDate {
    init(daysSinceEpoch: Int64) {
        let shifted = daysSinceEpoch + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSinceEpoch: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
