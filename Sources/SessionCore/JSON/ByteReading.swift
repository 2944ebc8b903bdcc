// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// Whether these characters stand at the offset.
    package func holds(_ text: StaticString, at offset: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard offset >= 0, offset <= count, length <= count - offset else { return false }
        return text.withUTF8Buffer { characters in
            for index in 0..<length where self[offset + index] != characters[index] { return false }
            return true
        }
    }

    /// The unsigned number of `size` bytes, at most 8, at the offset; nil where it is not wholly there.
    package func unsigned(at offset: Int, size: Int, littleEndian: Bool = false) -> UInt64? {
        guard offset >= 0, size >= 0, size <= 8, offset <= count, size <= count - offset else { return nil }
        var value: UInt64 = 0
        for index in 0..<size {
            value = value << 8 | UInt64(self[littleEndian ? offset + size - 1 - index : offset + index])
        }
        return value
    }

    /// The offset of the first such byte from `start` on.
    package func firstOffset(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit.
    package var hexDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }

    /// Whether it is a blank, a tab or part of a line break.
    package var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
