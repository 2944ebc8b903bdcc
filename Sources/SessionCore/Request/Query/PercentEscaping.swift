// SPDX-License-Identifier: Apache-2.0

/// Percent-encodes text for a query or a form (RFC 3986 §2.1).
///
/// ASCII letters, digits and `-` `.` `_` `~` `/` `?` stay; every other byte of the text's UTF-8 becomes `%`
/// and two upper-case hexadecimal digits. `/` and `?` may stand in a query as they are (RFC 3986 §3.4).
public enum PercentEscaping {
    /// The text in escaped form; what is escaped already is escaped again.
    public static func escape(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return bytes.count == text.utf8.count ? text : String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the escaped text; `space` is `+` where forms want that (WHATWG URL §5.2).
    package static func append(_ text: String, to bytes: inout [UInt8], spaceAsPlus: Bool = false) {
        append(text.utf8.span, to: &bytes, spaceAsPlus: spaceAsPlus)
    }

    /// Appends the escaped bytes.
    package static func append(_ source: Span<UInt8>, to bytes: inout [UInt8], spaceAsPlus: Bool = false) {
        // Appending nothing would write to the empty array that all threads share.
        guard !source.isEmpty else { return }
        // Reserves the longest outcome: appending byte by byte to an array costs several times as much.
        bytes.append(addingCapacity: 3 * source.count) { output in
            for index in source.indices {
                let byte = source[index]
                if isLiteral(byte) {
                    output.append(byte)
                } else if byte == 0x20, spaceAsPlus {
                    output.append(UInt8(ascii: "+"))
                } else {
                    output.append(UInt8(ascii: "%"))
                    output.append(hexadecimal(byte >> 4))
                    output.append(hexadecimal(byte & 15))
                }
            }
        }
    }

    /// Two 64-bit sets instead of comparisons: one look-up for each byte.
    @inline(__always)
    private static func isLiteral(_ byte: UInt8) -> Bool {
        let set = byte < 64 ? low : high
        return byte < 128 && (set >> UInt64(byte & 63)) & 1 == 1
    }

    @inline(__always)
    private static func hexadecimal(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x37 + digit }

    /// `-` `.` `/` (45…47), digits (48…57), `?` (63).
    private static let low: UInt64 = 0x83FF_E000_0000_0000
    /// A…Z (65…90), `_` (95), a…z (97…122), `~` (126), each less 64.
    private static let high: UInt64 = 0x47FF_FFFE_87FF_FFFE
}

#if compiler(<6.3)
    extension Array {
        /// Appends what the closure appends; the standard library has this method from Swift 6.3 on.
        ///
        /// It reserves nothing: with `reserveCapacity(_:)` for each of many short texts, an array is copied
        /// for each.
        fileprivate mutating func append(
            addingCapacity: Int, initializingWith body: (inout [Element]) -> Void
        ) {
            body(&self)
        }
    }
#endif
