// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// How bytes are written where only text can be.
public enum ParameterDataStyle: String, Sendable, Codable, CaseIterable {
    /// Base64 with padding (RFC 4648 §4).
    case base64
    /// Base64 with the alphabet for URLs, without padding (RFC 4648 §5).
    case base64URL
    /// Two lower-case hexadecimal digits for each byte.
    case hexadecimal

    func text(_ data: Data) -> String {
        switch self {
        case .base64: return data.base64EncodedString()
        case .base64URL:
            let bytes = data.base64EncodedData().compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        case .hexadecimal:
            let digits = Array("0123456789abcdef".utf8)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(data.count * 2)
            for byte in data { bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// How points in time are written.
public enum ParameterDateStyle: String, Sendable, Codable, CaseIterable {
    /// RFC 3339 in UTC, with milliseconds if any: `2026-01-02T03:04:05Z`, `2026-01-02T03:04:05.250Z`.
    case iso8601
    /// Seconds since 1970 in UTC, with a fraction where there is one.
    case secondsSince1970
    /// Whole milliseconds since 1970 in UTC.
    case millisecondsSince1970

    /// The text; nil for a date that has none, outside the years 0 to 9999 or not finite.
    func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSince1970
        guard (-62_167_219_200..<253_402_300_800).contains(seconds) else { return nil }
        let milliseconds = Int64((seconds * 1000).rounded())
        switch self {
        case .iso8601: return CalendarTime(millisecondsSince1970: milliseconds).description
        case .secondsSince1970: return ParameterNumber.text(seconds)
        case .millisecondsSince1970: return "\(milliseconds)"
        }
    }
}

/// How numbers are written.
enum ParameterNumber {
    /// Whole numbers without a fraction, others in the shortest exact form; nil for what is not finite.
    static func text(_ number: Double) -> String? {
        if let whole = whole(number) { return "\(whole)" }
        return number.isFinite ? number.description : nil
    }

    /// The number where it is whole and exact: up to 2^53 every whole number is a Double.
    static func whole(_ number: Double) -> Int64? {
        guard let whole = Int64(exactly: number), whole.magnitude <= 1 << 53 else { return nil }
        return whole
    }
}

/// A point in time in UTC as RFC 3339 writes it.
struct CalendarTime: CustomStringConvertible {
    private let day: Int64
    private let millisecond: Int64

    init(millisecondsSince1970 milliseconds: Int64) {
        let perDay: Int64 = 86_400_000
        day = CivilCalendar.floor(milliseconds, by: perDay)
        millisecond = milliseconds - day * perDay
    }

    var description: String {
        let (year, month, dayOfMonth) = CivilCalendar.date(days: day)
        let seconds = millisecond / 1000
        let fraction = millisecond % 1000
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T"
            + "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
            + (fraction == 0 ? "Z" : ".\(padded(fraction, 3))Z")
    }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
