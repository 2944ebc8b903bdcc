// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

// JSON (RFC 8259) written byte by byte: Foundation's encoder would need as much memory as the rest of the
// program, and a line has to be printed within microseconds of its event.

extension TextLine {
    /// Appends a string with its quotation marks.
    ///
    /// Beyond JSON's rules, C1 controls, line separators and direction marks are escaped, since a line may be
    /// shown on a terminal.
    package mutating func append(json text: String) {
        append(byte: 0x22)
        var text = text
        text.withUTF8 { if Self.isPlain($0) { append(bytes: $0) } else { append(escaping: $0) } }
        append(byte: 0x22)
    }

    /// Whether no byte needs an escape, as in nearly all texts.
    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var offset = 0
        while offset + 8 <= raw.count {
            guard isPlain(raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) else { return false }
            offset += 8
        }
        while offset < raw.count {
            let byte = raw[offset]
            guard byte >= 0x20, byte < 0x7F, byte != 0x22, byte != 0x5C else { return false }
            offset += 1
        }
        return true
    }

    /// The same for eight bytes at once.
    ///
    /// A byte is less than another if their difference borrows into its topmost bit, which was not set
    /// before.
    private static func isPlain(_ eight: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops = ones &* 0x80
        func zeros(_ bytes: UInt64) -> UInt64 { (bytes &- ones) & ~bytes }
        let controls = (eight &- ones &* 0x20) & ~eight
        let marks = zeros(eight ^ ones &* 0x22) | zeros(eight ^ ones &* 0x5C) | zeros(eight ^ ones &* 0x7F)
        return (eight | controls | marks) & tops == 0
    }

    private mutating func append(escaping bytes: UnsafeBufferPointer<UInt8>) {
        var start = 0
        var index = 0
        while index < bytes.count {
            let (length, scalar) = Self.needsEscape(bytes, index)
            guard let scalar else {
                index += length
                continue
            }
            append(bytes: UnsafeBufferPointer(rebasing: bytes[start..<index]))
            append(escape: scalar)
            index += length
            start = index
        }
        append(bytes: UnsafeBufferPointer(rebasing: bytes[start...]))
    }

    /// The number of bytes of the character at `index`, and its code point if it needs an escape.
    private static func needsEscape(
        _ bytes: UnsafeBufferPointer<UInt8>, _ index: Int
    ) -> (length: Int, scalar: UInt32?) {
        let byte = bytes[index]
        switch byte {
        case 0..<0x20, 0x22, 0x5C, 0x7F: return (1, UInt32(byte))
        case 0xC2 where index + 1 < bytes.count && bytes[index + 1] < 0xA0:
            return (2, UInt32(bytes[index + 1]))
        case 0xE2 where index + 2 < bytes.count:
            let scalar = 0x2000 | UInt32(bytes[index + 1] & 0x3F) << 6 | UInt32(bytes[index + 2] & 0x3F)
            return SafeText.steers(scalar) ? (3, scalar) : (1, nil)
        default: return (1, nil)
        }
    }

    private mutating func append(escape scalar: UInt32) {
        append(byte: 0x5C)
        switch scalar {
        case 0x22, 0x5C: append(byte: UInt8(scalar))
        case 0x08: append("b")
        case 0x09: append("t")
        case 0x0A: append("n")
        case 0x0C: append("f")
        case 0x0D: append("r")
        default:
            append("u")
            for shift in [12, 8, 4, 0] as [UInt32] {
                let digit = UInt8(scalar >> shift & 15)
                append(byte: digit < 10 ? 48 + digit : 87 + digit)
            }
        }
    }

    /// A string, or null.
    package mutating func append(json text: String?) {
        if let text { append(json: text) } else { append(literal: "null") }
    }

    /// An address as a string, or null.
    package mutating func append(json address: IPAddress?) {
        guard let address else { return append(literal: "null") }
        append(byte: 0x22)
        append(address)
        append(byte: 0x22)
    }

    package mutating func append(json flag: Bool) { append(literal: flag ? "true" : "false") }

    /// A number, or null.
    package mutating func append(json number: Int?) {
        if let number { append(number) } else { append(literal: "null") }
    }

    package mutating func append(json number: Int64?) { append(json: number.map { Int($0) }) }
    package mutating func append(json number: UInt32?) { append(json: number.map { Int($0) }) }

    /// `[…]` with a comma between the elements.
    package mutating func append<Element>(
        json elements: some Sequence<Element>, _ write: (inout TextLine, Element) -> Void
    ) {
        append(byte: UInt8(ascii: "["))
        var isFirst = true
        for element in elements {
            if !isFirst { append(byte: UInt8(ascii: ",")) }
            isFirst = false
            write(&self, element)
        }
        append(byte: UInt8(ascii: "]"))
    }
}

// Fields of an object: the key with its punctuation, copied at once, and the value.
extension TextLine {
    package mutating func field(_ key: StaticString, _ text: String?) {
        append(literal: key)
        append(json: text)
    }

    package mutating func field(_ key: StaticString, _ flag: Bool) {
        append(literal: key)
        append(json: flag)
    }

    package mutating func field(_ key: StaticString, _ number: (some BinaryInteger)?) {
        append(literal: key)
        if let number { append(Int(number)) } else { append(literal: "null") }
    }

    package mutating func field(_ key: StaticString, _ number: UInt64) {
        append(literal: key)
        append(number)
    }

    package mutating func field(_ key: StaticString, _ address: IPAddress?) {
        append(literal: key)
        append(json: address)
    }

    package mutating func field(_ key: StaticString, _ time: WallTime?) {
        append(literal: key)
        guard let time else { return append(literal: "null") }
        append(byte: 0x22)
        time.append(to: &self)
        append(byte: 0x22)
    }
}
