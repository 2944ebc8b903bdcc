// SPDX-License-Identifier: Apache-2.0

/// Text from elsewhere inside a message: shortened, without control characters.
package struct TextQuote: CustomStringConvertible {
    private let text: String

    package init(_ text: String) { self.text = text }

    package var description: String {
        var quoted = "\""
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where [.control, .format].contains(scalar.properties.generalCategory):
                quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + (text.unicodeScalars.count > 200 ? "…\"" : "\"")
    }
}

extension BidirectionalCollection<UInt8> {
    /// Without spaces, tabs and carriage returns at both ends.
    package var trimmingBlanks: SubSequence {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}

extension Collection<UInt8> {
    /// Whether both are the same but for the case of ASCII letters.
    package func equalsIgnoringCase(_ other: some Collection<UInt8>) -> Bool {
        let lower: (UInt8) -> UInt8 = { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return elementsEqual(other) { lower($0) == lower($1) }
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    package var trimmingBlanks: SubSequence {
        guard let first = firstIndex(where: { $0 != " " && $0 != "\t" }),
            let last = lastIndex(where: { $0 != " " && $0 != "\t" })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}
