// SPDX-License-Identifier: Apache-2.0

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

    /// The encoding with this name or alias of the IANA registry of character sets; nil for others.
    ///
    /// Case does not count.
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
