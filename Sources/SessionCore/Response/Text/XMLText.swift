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
            throw XMLTextError(
                reason: "the bytes are no text in the encoding that the document names")
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
}

/// Why a text in XML cannot be read at all.
package struct XMLTextError: Error {
    package let reason: String
}
