// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// What has to be known of a text in XML before it is parsed.
package enum XMLText {
    /// The document in UTF-8, whichever encoding it says or shows that it has.
    package static func transcoded(_ data: Data) throws(XMLTextError) -> Data {
        let bytes = data.span
        var encoding: TextEncoding?
        switch bytes.unsigned(at: 0, size: 4) {
        case 0x0000_FEFF, 0xFFFE_0000: encoding = .utf32
        case 0x0000_003C: encoding = .utf32BigEndian
        case 0x3C00_0000: encoding = .utf32LittleEndian
        case 0x003C_003F: encoding = .utf16BigEndian
        case 0x3C00_3F00: encoding = .utf16LittleEndian
        case let start? where start >> 16 == 0xFEFF || start >> 16 == 0xFFFE: encoding = .utf16
        default:
            guard let name = declaredEncoding(bytes), name != "utf-8" else { return data }
            encoding = TextEncoding(charset: name)
            guard encoding != nil else {
                throw XMLTextError(reason: "the encoding \(TextQuote(name)) cannot be read here")
            }
        }
        guard let text = encoding?.decode(data) else {
            throw XMLTextError(reason: "the bytes are no text in the encoding that the document names")
        }
        return Data(text.utf8)
    }

    /// What stands behind `encoding=` in the first line of the document, lower case.
    private static func declaredEncoding(_ bytes: Span<UInt8>) -> String? {
        guard bytes.holds("<?xml", at: 0), let end = bytes.firstOffset(of: UInt8(ascii: ">"), from: 0) else {
            return nil
        }
        for offset in 5..<min(end, 200) where bytes.holds("encoding=", at: offset) {
            var name: [UInt8] = []
            var index = offset + 10
            while index < end, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "'") {
                name.append(bytes[index])
                index += 1
            }
            return String(decoding: name, as: UTF8.self).lowercased()
        }
        return nil
    }

    /// The document in UTF-8 such that Foundation's `XMLParser` survives it.
    ///
    /// That parser traps over an instruction without content, `<?x?>`, and declarations in a document type
    /// hold further absent strings. So everything before the root becomes blanks, which keeps line numbers,
    /// and empty instructions get a blank.
    package static func prepared(_ data: Data) throws(XMLTextError) -> Data {
        let text = try transcoded(data)
        guard let bytes = blanked(text) else { throw XMLTextError(reason: "there is no element") }
        return Data(bytes)
    }

    /// Returns nil where there is no element.
    ///
    /// A function of its own, since Swift 6.2 fails to compile one that throws behind its `span`.
    private static func blanked(_ text: Data) -> [UInt8]? {
        let bytes = text.span
        guard let root = rootOffset(bytes) else { return nil }
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
        return result
    }

    /// Whether there is nothing but a name between `<?` and `?>`.
    private static func isEmptyInstruction(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard range.count >= 4, bytes.holds("?>", at: range.upperBound - 2) else { return false }
        for index in (range.lowerBound + 2)..<(range.upperBound - 2) where bytes[index].isBlank {
            return false
        }
        return true
    }

    /// Where the root element begins, behind a byte order mark and the prolog; nil where there is none.
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

/// Why a text in XML cannot be read at all.
package struct XMLTextError: Error {
    package let reason: String
}
