// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

extension XMLText {
    /// The document in UTF-8 such that Foundation's `XMLParser` survives it.
    ///
    /// That parser traps over an instruction without content, `<?x?>`, and declarations in a document type hold further absent
    /// strings. So everything before the root becomes blanks, which keeps line numbers, and empty instructions get a blank.
    package static func prepared(_ data: Data) throws(XMLTextError) -> Data {
        let text = try transcoded(data)
        let bytes = text.span
        guard let root = rootOffset(bytes) else { throw XMLTextError(reason: "there is no element") }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        for offset in 0..<root { result.append(bytes[offset] == 0x0A ? 0x0A : 0x20) }
        var offset = root
        while offset < bytes.count {
            var end = offset + 1
            if bytes[offset] == UInt8(ascii: "<") {
                if bytes.holds("<?", at: offset) {
                    end = skip(past: "?>", bytes, from: offset + 2) ?? bytes.count
                    if isEmptyInstruction(bytes, offset..<end) {
                        for index in offset..<(end - 2) { result.append(bytes[index]) }
                        result.append(0x20)
                        offset = end - 2
                    }
                } else if bytes.holds("<!--", at: offset) {
                    end = skip(past: "-->", bytes, from: offset + 4) ?? bytes.count
                } else if bytes.holds("<![CDATA[", at: offset) {
                    end = skip(past: "]]>", bytes, from: offset + 9) ?? bytes.count
                }
            }
            for index in offset..<end { result.append(bytes[index]) }
            offset = end
        }
        return Data(result)
    }

    /// Whether there is nothing but a name between `<?` and `?>`.
    private static func isEmptyInstruction(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard range.count >= 4, bytes.holds("?>", at: range.upperBound - 2) else { return false }
        for index in (range.lowerBound + 2)..<(range.upperBound - 2) where bytes[index].isBlank {
            return false
        }
        return true
    }

    /// Where the root element begins, behind a byte order mark, the declaration, comments, instructions and the document type; nil where
    /// there is none.
    static func rootOffset(_ bytes: Span<UInt8>) -> Int? {
        var offset = bytes.unsigned(at: 0, size: 3) == 0xEFBBBF ? 3 : 0
        while offset < bytes.count {
            if bytes[offset].isBlank {
                offset += 1
            } else if bytes.holds("<!--", at: offset) {
                guard let end = skip(past: "-->", bytes, from: offset + 4) else { return nil }
                offset = end
            } else if bytes.holds("<?", at: offset) {
                guard let end = skip(past: "?>", bytes, from: offset + 2) else { return nil }
                offset = end
            } else if bytes.holds("<!DOCTYPE", at: offset) {
                guard let end = endOfType(bytes, from: offset) else { return nil }
                offset = end
            } else {
                return bytes[offset] == UInt8(ascii: "<") ? offset : nil
            }
        }
        return nil
    }

    /// The end of a document type: `>` outside of quotes and brackets.
    private static func endOfType(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var offset = start
        var isInside = false
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let quote = bytes.firstOffset(of: bytes[offset], from: offset + 1) else { return nil }
                offset = quote
            case UInt8(ascii: "["): isInside = true
            case UInt8(ascii: "]"): isInside = false
            case UInt8(ascii: "<") where bytes.holds("<!--", at: offset):
                guard let end = skip(past: "-->", bytes, from: offset + 4) else { return nil }
                offset = end - 1
            case UInt8(ascii: ">") where !isInside: return offset + 1
            default: break
            }
            offset += 1
        }
        return nil
    }

    private static func skip(past text: StaticString, _ bytes: Span<UInt8>, from start: Int) -> Int? {
        var offset = start
        while offset < bytes.count {
            if bytes.holds(text, at: offset) { return offset + text.utf8CodeUnitCount }
            offset += 1
        }
        return nil
    }
}
