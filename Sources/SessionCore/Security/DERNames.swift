// SPDX-License-Identifier: Apache-2.0

/// Names inside certificates.
enum DERNames {
    private static let commonNameType: [UInt8] = [0x55, 0x04, 0x03]
    private static let organisationType: [UInt8] = [0x55, 0x04, 0x0A]
    private static let alternativeNameType: [UInt8] = [0x55, 0x1D, 0x11]

    /// The last common name of a distinguished name (RFC 5280 §4.1.2.4), else the last organisation, else nothing.
    static func commonName(_ name: DERReader) -> String {
        var name = name
        var commonName = "", organisation = ""
        while var set = name.enter(DERTag.set) {
            while var pair = set.enter(DERTag.sequence), let type = pair.next(DERTag.oid),
                let value = pair.next()
            {
                let text = text(value, in: name.bytes)
                if name.bytes[type.content].elementsEqual(commonNameType) { commonName = text }
                if name.bytes[type.content].elementsEqual(organisationType) { organisation = text }
            }
        }
        return commonName.isEmpty ? organisation : commonName
    }

    /// The DNS names and IP addresses that a certificate's extensions name.
    static func alternativeNames(_ extensions: DERReader) -> [String] {
        var extensions = extensions
        var names: [String] = []
        while var one = extensions.enter(DERTag.sequence), let type = one.next(DERTag.oid) {
            guard extensions.bytes[type.content].elementsEqual(alternativeNameType) else { continue }
            _ = one.next(DERTag.boolean)
            guard let value = one.next(DERTag.octetString) else { continue }
            var content = DERReader(extensions.bytes, value.content)
            guard var list = content.enter(DERTag.sequence) else { continue }
            while names.count < 100, let name = list.next() {
                switch name.tag {
                case 0x82: names.append(String(decoding: extensions.bytes[name.content], as: UTF8.self))
                case 0x87: names.append(address(extensions.bytes[name.content]))
                default: break
                }
            }
        }
        return names
    }

    private static func text(_ value: DERReader.Element, in bytes: [UInt8]) -> String {
        let content = bytes[value.content]
        // BMPString: UTF-16, high byte first.
        guard value.tag == 0x1E else { return String(decoding: content, as: UTF8.self) }
        let units = stride(from: content.startIndex, to: content.endIndex - 1, by: 2)
        return String(
            decoding: units.map { UInt16(content[$0]) << 8 | UInt16(content[$0 + 1]) }, as: UTF16.self)
    }

    private static func address(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.count == 16 else { return bytes.map { "\($0)" }.joined(separator: ".") }
        let start = bytes.startIndex
        return (0..<8).map {
            String(UInt16(bytes[start + 2 * $0]) << 8 | UInt16(bytes[start + 2 * $0 + 1]), radix: 16)
        }
        .joined(separator: ":")
    }
}
