// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// Times inside certificates (RFC 5280 §4.1.2.5), and as text.
enum DERTime {
    /// UTCTime `yyMMddHHmmssZ` (1950 to 2049) or GeneralizedTime `yyyyMMddHHmmssZ`; nil for any other form.
    static func date(_ element: DERReader.Element, in bytes: [UInt8]) -> Date? {
        var text = Array(bytes[element.content])
        switch element.tag {
        case DERTag.utcTime where text.count == 13:
            text.insert(contentsOf: text[0] >= 0x35 ? [0x31, 0x39] : [0x32, 0x30], at: 0)
        case DERTag.generalizedTime where text.count == 15: break
        default: return nil
        }
        guard text[14] == 0x5A, text[..<14].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        func number(_ range: Range<Int>) -> Int { text[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
        let year = number(0..<4), month = number(4..<6), day = number(6..<8)
        let hour = number(8..<10), minute = number(10..<12), second = number(12..<14)
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61 else {
            return nil
        }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Days from 1970-01-01 in the Gregorian calendar.
    ///
    /// Years begin in March, so that the leap day is the last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Date {
    /// The day in UTC, `yyyy-MM-dd`: for messages.
    package var day: String {
        let days = Int((timeIntervalSince1970 / 86_400).rounded(.down)) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }
}
