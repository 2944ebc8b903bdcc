// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

extension XMLPropertyListParser {
    /// The value of an element that contains text alone; nil where the text is none of that kind.
    static func scalar(_ name: String, _ text: String) -> PropertyListValue? {
        switch name {
        case "string": return .string(text)
        case "integer": return integer(text.utf8.trimmed)
        case "real": return Double(text.utf8.trimmed).map { .real($0) }
        case "date": return date(text.utf8.trimmed).map { .date($0) }
        case "data":
            let packed = text.utf8.filter { !$0.isBlank }
            return Data(base64Encoded: Data(packed)).map { .data($0) }
        default: return nil
        }
    }

    private static func integer(_ text: String) -> PropertyListValue? {
        let isNegative = text.hasPrefix("-")
        let digits = text.drop { $0 == "-" || $0 == "+" }
        guard text.utf8.count - digits.utf8.count <= 1 else { return nil }
        let isHex = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        let number = isHex ? digits.dropFirst(2) : digits
        guard number.utf8.first?.hexDigit != nil, let magnitude = UInt64(number, radix: isHex ? 16 : 10)
        else { return nil }
        if isNegative {
            return magnitude <= Int64.min.magnitude
                ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
        }
        return magnitude <= UInt64(Int64.max) ? .integer(Int64(magnitude)) : .unsigned(magnitude)
    }

    /// Reads `2026-01-02T03:04:05Z`.
    private static func date(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            bytes[19] == UInt8(ascii: "Z")
        else { return nil }
        func number(_ range: Range<Int>, in allowed: ClosedRange<Int64>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return allowed.contains(value) ? value : nil
        }
        guard let year = number(0..<4, in: 0...9999), let month = number(5..<7, in: 1...12),
            let day = number(8..<10, in: 1...31), let hour = number(11..<13, in: 0...23),
            let minute = number(14..<16, in: 0...59), let second = number(17..<19, in: 0...60)
        else { return nil }
        // 2001-01-01 is day 11323.
        let days = CivilCalendar.days(year: year, month: month, day: day) - 11_323
        return Date(timeIntervalSinceReferenceDate: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
    }
}

extension String.UTF8View {
    /// The text without blanks at both ends.
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank })
        else { return "" }
        return String(self[first...last]) ?? ""
    }
}
