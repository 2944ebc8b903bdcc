// SPDX-License-Identifier: Apache-2.0

/// A line of text that is being put together, as the bytes that will be written.
///
/// Its memory is kept from line to line, so that a line of output costs no allocation.
package struct TextLine: Sendable, Equatable {
    /// The UTF-8 bytes so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// The bytes as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Forgets the text and keeps the memory.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends text as it is.
    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Appends text that is written in the program; cheaper than a string.
    package mutating func append(literal text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends one byte.
    package mutating func append(byte: UInt8) { bytes.append(byte) }

    /// Appends bytes that are known to be UTF-8.
    package mutating func append(bytes more: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: more) }

    // Generic code of another module is slow, so that only the outermost layer is.
    /// Appends a number in decimal.
    @inline(__always)
    package mutating func append(_ number: some FixedWidthInteger) {
        append(isNegative: number < 0, UInt64(number.magnitude))
    }

    private mutating func append(isNegative: Bool, _ magnitude: UInt64) {
        if isNegative { bytes.append(UInt8(ascii: "-")) }
        var digits = 1
        var rest = magnitude / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        append(magnitude, digits: digits)
    }

    /// Appends a number that is not negative in decimal, with leading zeros.
    package mutating func append(_ number: Int64, digits: Int) { append(number.magnitude, digits: digits) }

    private mutating func append(_ magnitude: UInt64, digits: Int) {
        for _ in 0..<digits { bytes.append(48) }
        var rest = magnitude
        var position = bytes.count
        for _ in 0..<digits where rest > 0 {
            position -= 1
            bytes[position] = UInt8(truncatingIfNeeded: 48 + rest % 10)
            rest /= 10
        }
    }

    /// Puts text together from its parts.
    package static func text(_ parts: String...) -> String {
        var line = TextLine()
        line.bytes.reserveCapacity(128)
        for part in parts { line.append(part) }
        return line.text
    }

    /// Appends an address as ``IPAddress/description`` writes it.
    package mutating func append(_ address: IPAddress) {
        guard address.family == .ipv4 else { return append(address.description) }
        for index in 0..<4 {
            if index > 0 { bytes.append(UInt8(ascii: ".")) }
            append((address.low >> (24 - 8 * UInt64(index))) & 0xFF)
        }
    }
}
