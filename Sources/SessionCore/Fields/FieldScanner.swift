// SPDX-License-Identifier: Apache-2.0

/// Reads the value of a header field from left to right (RFC 9110 §5.6), in linear time.
package struct FieldScanner {
    private let bytes: [UInt8]
    private var index = 0

    /// At most 64 KiB are read: servers that send more mean no good.
    package init(_ text: String) { bytes = Array(text.utf8.prefix(65_536)) }

    package var isAtEnd: Bool { index >= bytes.count }

    /// The next byte, which stays.
    package var next: UInt8? { isAtEnd ? nil : bytes[index] }

    /// An offset to return to.
    package var position: Int {
        get { index }
        set { index = newValue }
    }

    /// Goes over spaces and tabs; whether there were any.
    @discardableResult
    package mutating func skipBlanks() -> Bool {
        let start = index
        while let byte = next, byte == 0x20 || byte == 0x09 { index += 1 }
        return index > start
    }

    /// Goes over the empty elements of a list (RFC 9110 §5.6.1.2).
    package mutating func skipBlanksAndCommas() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") { index += 1 }
    }

    /// Goes over one byte where it is the next.
    package mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    /// Goes to the next comma outside quotation marks.
    package mutating func skipToComma() {
        while let byte = next, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = quotedString() } else { index += 1 }
        }
    }

    /// A token (RFC 9110 §5.6.2); nil, without moving, where none stands.
    package mutating func token() -> String? {
        scan { $0.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// A token68 (RFC 9110 §11.2): Base64 in either alphabet, `=` at its end; nil, without moving, for none.
    package mutating func token68() -> String? {
        guard let body = scan({ $0.isASCIIAlphanumeric || "-._~+/".utf8.contains($0) }) else { return nil }
        return body + (scan { $0 == UInt8(ascii: "=") } ?? "")
    }

    /// The content of a quoted string, unescaped (RFC 9110 §5.6.4); nil for none, or one without an end.
    package mutating func quotedString() -> String? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var content: [UInt8] = []
        while let byte = next {
            index += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = next else { return nil }
                index += 1
                content.append(escaped)
            } else {
                content.append(byte)
            }
        }
        return nil
    }

    /// A token or a string in quotation marks.
    package mutating func tokenOrQuotedString() -> String? {
        next == UInt8(ascii: "\"") ? quotedString() : token()
    }

    private mutating func scan(_ belongs: (UInt8) -> Bool) -> String? {
        let start = index
        while let byte = next, belongs(byte) { index += 1 }
        return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
    }
}
