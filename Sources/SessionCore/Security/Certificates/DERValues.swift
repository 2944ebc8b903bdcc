// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// Names inside certificates.
enum DERNames {
    private static let commonNameType: [UInt8] = [0x55, 0x04, 0x03]
    private static let organisationType: [UInt8] = [0x55, 0x04, 0x0A]
    private static let alternativeNameType: [UInt8] = [0x55, 0x1D, 0x11]

    /// The last common name of a distinguished name (RFC 5280 §4.1.2.4), else organisation, else nothing.
    static func commonName(_ name: DERReader) -> String {
        var name = name
        var commonName = "", organisation = ""
        while var set = name.enter(DERTag.set) {
            while var pair = set.enter(DERTag.sequence), let type = pair.next(DERTag.oid),
                let value = pair.next()
            {
                let text = text(value, in: name.bytes)
                if name.bytes[type.content].elementsEqual(commonNameType) { commonName = text }
                if name.bytes[type.content].elementsEqual(organisationType) { organisation = text }
            }
        }
        return commonName.isEmpty ? organisation : commonName
    }

    /// The DNS names and IP addresses that a certificate's extensions name.
    static func alternativeNames(_ extensions: DERReader) -> [String] {
        var extensions = extensions
        var names: [String] = []
        while var one = extensions.enter(DERTag.sequence), let type = one.next(DERTag.oid) {
            guard extensions.bytes[type.content].elementsEqual(alternativeNameType) else { continue }
            _ = one.next(DERTag.boolean)
            guard let value = one.next(DERTag.octetString) else { continue }
            var content = DERReader(extensions.bytes, value.content)
            guard var list = content.enter(DERTag.sequence) else { continue }
            while names.count < 100, let name = list.next() {
                switch name.tag {
                case 0x82: names.append(String(decoding: extensions.bytes[name.content], as: UTF8.self))
                case 0x87: names.append(address(extensions.bytes[name.content]))
                default: break
                }
            }
        }
        return names
    }

    private static func text(_ value: DERReader.Element, in bytes: [UInt8]) -> String {
        let content = bytes[value.content]
        // BMPString: UTF-16, high byte first.
        guard value.tag == 0x1E else { return String(decoding: content, as: UTF8.self) }
        let units = stride(from: content.startIndex, to: content.endIndex - 1, by: 2)
        return String(
            decoding: units.map { UInt16(content[$0]) << 8 | UInt16(content[$0 + 1]) }, as: UTF16.self)
    }

    private static func address(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.count == 16 else { return bytes.map { "\($0)" }.joined(separator: ".") }
        let start = bytes.startIndex
        return (0..<8).map {
            String(UInt16(bytes[start + 2 * $0]) << 8 | UInt16(bytes[start + 2 * $0 + 1]), radix: 16)
        }
        .joined(separator: ":")
    }
}

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
        func number(_ range: Range<Int>) -> Int64 { text[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
        let year = number(0..<4), month = number(4..<6), day = number(6..<8)
        let hour = number(8..<10), minute = number(10..<12), second = number(12..<14)
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61 else {
            return nil
        }
        let days = CivilCalendar.days(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds))
    }
}

extension Date {
    /// The day in UTC, `yyyy-MM-dd`: for messages.
    package var day: String {
        let days = Int64((timeIntervalSince1970 / 86_400).rounded(.down))
        let (year, month, day) = CivilCalendar.date(days: days)
        return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }
}
