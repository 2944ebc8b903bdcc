// SPDX-License-Identifier: Apache-2.0

extension JSONParser {
    /// Reads the string that begins at the quote at `position`.
    mutating func readString(_ bytes: Span<UInt8>) throws(JSONParseError) -> String {
        let start = position + 1
        var end = start
        var hasEscapes = false
        scan: while true {
            guard end < bytes.count else { throw fault("the string has no end", bytes) }
            switch bytes[end] {
            case UInt8(ascii: "\""): break scan
            case UInt8(ascii: "\\"):
                hasEscapes = true
                end += 2
            case 0..<0x20: throw fault("a control character in a string has to be escaped", bytes, at: end)
            default: end += 1
            }
        }
        let raw = bytes.extracting(start..<end)
        let text: UTF8Span
        do {
            text = try UTF8Span(validating: raw)
        } catch {
            throw fault("the bytes are no UTF-8", bytes, at: start + error.byteOffsets.lowerBound)
        }
        let string = hasEscapes ? try unescape(bytes, start..<end) : String(copying: text)
        position = end + 1
        return string
    }

    private func unescape(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(JSONParseError) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\") else {
                text.append(bytes[index])
                index += 1
                continue
            }
            let letter = bytes[index + 1]
            switch letter {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                let (scalar, length) = try readScalar(bytes, index, range.upperBound)
                if let units = UTF8.encode(scalar) { text.append(contentsOf: units) }
                index += length
                continue
            default: throw fault("there is no such escape", bytes, at: index)
            }
            index += 2
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads `\uXXXX`, or two of them that are a surrogate pair.
    private func readScalar(
        _ bytes: Span<UInt8>, _ index: Int, _ end: Int
    ) throws(JSONParseError) -> (Unicode.Scalar, length: Int) {
        guard let first = hexUnit(bytes, index, end) else {
            throw fault("four hexadecimal digits are expected", bytes, at: index)
        }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard first < 0xDC00, let second = hexUnit(bytes, index + 6, end), second & 0xFC00 == 0xDC00,
            let scalar = Unicode.Scalar(0x10000 + ((first & 0x3FF) << 10 | second & 0x3FF))
        else { throw fault("half of a surrogate pair stands alone", bytes, at: index) }
        return (scalar, 12)
    }

    private func hexUnit(_ bytes: Span<UInt8>, _ index: Int, _ end: Int) -> UInt32? {
        guard index + 6 <= end, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for offset in 2..<6 {
            guard let digit = bytes[index + offset].hexDigit else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
