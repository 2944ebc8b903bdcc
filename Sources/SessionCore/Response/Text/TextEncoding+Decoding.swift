// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

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
