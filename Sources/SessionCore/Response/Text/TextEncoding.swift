// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// How characters are written as bytes: the encodings that need no tables of another library.
public enum TextEncoding: String, Sendable, Codable, CaseIterable {
    /// UTF-8 (RFC 3629).
    case utf8 = "utf-8"
    /// Seven bits (RFC 20).
    case ascii = "us-ascii"
    /// The first 256 characters of Unicode, one byte each.
    case latin1 = "iso-8859-1"
    /// What Windows has in the place of ISO-8859-1's second control characters.
    case windows1252 = "windows-1252"
    /// UTF-16, in the order that its byte order mark says; high byte first without one (RFC 2781).
    case utf16 = "utf-16"
    /// UTF-16, high byte first.
    case utf16BigEndian = "utf-16be"
    /// UTF-16, low byte first.
    case utf16LittleEndian = "utf-16le"
    /// UTF-32, in the order that its byte order mark says; high byte first without one.
    case utf32 = "utf-32"
    /// UTF-32, high byte first.
    case utf32BigEndian = "utf-32be"
    /// UTF-32, low byte first.
    case utf32LittleEndian = "utf-32le"

    /// The encoding with this name or alias of the IANA registry, in any case; nil for others.
    public init?(charset: some StringProtocol) {
        let name = charset.lowercased()
        switch name {
        case "utf8", "unicode-1-1-utf-8": self = .utf8
        case "ascii", "ansi_x3.4-1968", "iso-ir-6", "iso646-us", "us", "cp367": self = .ascii
        case "latin1", "iso8859-1", "iso_8859-1", "iso88591", "l1", "cp819", "ibm819": self = .latin1
        case "cp1252", "x-cp1252", "windows1252": self = .windows1252
        default:
            guard let encoding = TextEncoding(rawValue: name) else { return nil }
            self = encoding
        }
    }
}

/// The characters that windows-1252 has from 0x80 to 0x9F; bytes without one stay control characters.
let windows1252Specials: [UInt16] = [
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
    0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122,
    0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
]

extension TextEncoding {
    /// The text that the bytes stand for; nil where they are not of this encoding.
    ///
    /// A byte order mark at the beginning of UTF-8, UTF-16 and UTF-32 is no part of the text.
    public func decode(_ data: Data) -> String? {
        let bytes = data.span
        switch self {
        case .utf8: return decodeUTF8(bytes)
        case .ascii: return single(bytes, limit: 0x80) { UInt16($0) }
        case .latin1: return single(bytes, limit: 0x100) { UInt16($0) }
        case .windows1252:
            return single(bytes, limit: 0x100) { byte in
                (0x80...0x9F).contains(byte) ? windows1252Specials[Int(byte) - 0x80] : UInt16(byte)
            }
        case .utf16, .utf16BigEndian, .utf16LittleEndian: return decodeUTF16(bytes)
        case .utf32, .utf32BigEndian, .utf32LittleEndian: return decodeUTF32(bytes)
        }
    }

    private func decodeUTF8(_ bytes: Span<UInt8>) -> String? {
        let start = bytes.unsigned(at: 0, size: 3) == 0xEFBBBF ? 3 : 0
        guard let text = try? UTF8Span(validating: bytes.extracting(start..<bytes.count)) else { return nil }
        return String(copying: text)
    }

    private func single(_ bytes: Span<UInt8>, limit: Int, _ character: (UInt8) -> UInt16) -> String? {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x80 {
                text.append(byte)
            } else {
                guard Int(byte) < limit, let scalar = Unicode.Scalar(character(byte)) else { return nil }
                if let units = UTF8.encode(scalar) { text.append(contentsOf: units) }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func decodeUTF16(_ bytes: Span<UInt8>) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let mark = bytes.unsigned(at: 0, size: 2)
        let isLittle = self == .utf16LittleEndian || self == .utf16 && mark == 0xFFFE
        let hasMark = isLittle ? mark == 0xFFFE : mark == 0xFEFF
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for offset in stride(from: hasMark ? 2 : 0, to: bytes.count, by: 2) {
            units.append(
                UInt16(truncatingIfNeeded: bytes.unsigned(at: offset, size: 2, littleEndian: isLittle) ?? 0))
        }
        return String(validating: units, as: UTF16.self)
    }

    private func decodeUTF32(_ bytes: Span<UInt8>) -> String? {
        guard bytes.count.isMultiple(of: 4) else { return nil }
        let mark = bytes.unsigned(at: 0, size: 4)
        let isLittle = self == .utf32LittleEndian || self == .utf32 && mark == 0xFFFE_0000
        let hasMark = isLittle ? mark == 0xFFFE_0000 : mark == 0xFEFF
        var text = String.UnicodeScalarView()
        for offset in stride(from: hasMark ? 4 : 0, to: bytes.count, by: 4) {
            let value = UInt32(
                truncatingIfNeeded: bytes.unsigned(at: offset, size: 4, littleEndian: isLittle) ?? 0)
            guard let scalar = Unicode.Scalar(value) else { return nil }
            text.append(scalar)
        }
        return String(text)
    }
}
