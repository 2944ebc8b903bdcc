// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Something that writes encodable values as bytes; `JSONEncoder` is one.
public protocol ContentEncoder: Sendable {
    /// The bytes of a value.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: ContentEncoder {}

/// How values are written as JSON and read from it unless a program says otherwise.
///
/// Dates are text of RFC 3339 (a profile of ISO 8601) in UTC. Start from these to change one thing:
///
///     let decoder = JSONCoding.decoder()
///     decoder.keyDecodingStrategy = .convertFromSnakeCase
///     api.decoder = decoder
public enum JSONCoding {
    /// Writes members in the order of their names, `/` as it is, and dates with milliseconds where they have
    /// any.
    public static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            guard let text = ParameterDateStyle.iso8601.text(date) else {
                throw EncodingError.invalidValue(
                    date,
                    EncodingError.Context(
                        codingPath: container.codingPath,
                        debugDescription: "the date is outside the years 0 to 9999"))
            }
            try container.encode(text)
        }
        return encoder
    }

    /// Reads dates with any fraction of a second and any offset from UTC.
    public static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let time = InternetTime(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "\(TextQuote(text)) is no time as 2026-01-02T03:04:05Z (ISO 8601)")
            }
            return Date(timeIntervalSince1970: time.secondsSince1970)
        }
        return decoder
    }

    /// One of each for all managers: their settings are never changed.
    package static let sharedEncoder = encoder()
    package static let sharedDecoder = decoder()
}

/// A time as RFC 3339 §5.6 writes it: `2026-01-02T03:04:05.25+01:00`.
struct InternetTime {
    /// With the fraction, to about a microsecond.
    let secondsSince1970: Double

    /// Nil for anything else, and for times that no calendar has; a leap second is the one after it.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        guard let year = Self.number(&rest, digits: 4), Self.skip(&rest, "-"),
            let month = Self.number(&rest, digits: 2), Self.skip(&rest, "-"),
            let day = Self.number(&rest, digits: 2), Self.skip(&rest, "Tt "),
            let hour = Self.number(&rest, digits: 2), hour < 24, Self.skip(&rest, ":"),
            let minute = Self.number(&rest, digits: 2), minute < 60, Self.skip(&rest, ":"),
            let second = Self.number(&rest, digits: 2), second <= 60
        else { return nil }
        let fraction = Self.fraction(&rest)
        guard let fraction, let offset = Self.offset(&rest), rest.isEmpty, (1...12).contains(month),
            (1...31).contains(day)
        else { return nil }
        let days = CivilCalendar.days(year: year, month: month, day: day)
        guard CivilCalendar.date(days: days) == (year, month, day) else { return nil }
        let whole = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        secondsSince1970 = Double(whole) + fraction
    }

    /// The fraction behind the seconds; 0 where there is none, nil for a point without digits.
    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Double? {
        guard skip(&rest, ".,") else { return 0 }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        // What is beyond nanoseconds is less than a Double of today can hold.
        return Double("0.\(String(decoding: digits.prefix(9), as: UTF8.self))")
    }

    /// Seconds east of UTC: `Z`, `+01:00`, or the basic form `+0100` that some servers write.
    private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        if skip(&rest, "Zz") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard skip(&rest, "+-"), let hours = number(&rest, digits: 2), hours < 24 else { return nil }
        _ = skip(&rest, ":")
        guard let minutes = number(&rest, digits: 2), minutes < 60 else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return isWest ? -seconds : seconds
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, digits: Int) -> Int64? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static func skip(_ rest: inout ArraySlice<UInt8>, _ any: String) -> Bool {
        guard let first = rest.first, any.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }
}
