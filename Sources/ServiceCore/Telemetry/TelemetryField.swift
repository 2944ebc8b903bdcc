// SPDX-License-Identifier: Apache-2.0

/// Header fields of telemetry as the configuration writes them.
package enum TelemetryField {
    /// `Name: value`; nil for anything else.
    package static func field(_ text: String) -> (name: String, value: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let (name, value) = (text[..<colon], trimmed(text[text.index(after: colon)...]))
        guard isToken(name), !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 })
        else { return nil }
        return (String(name), String(value))
    }

    /// `Name: env:VARIABLE` or `Name: Bearer file:/PATH`, as 'reach send --secret' takes it.
    package static func secret(_ text: String) -> (
        name: String, prefix: String, source: String, key: String
    )? {
        guard let (name, value) = field(text) else { return nil }
        let start = value.lastIndex(of: " ").map { value.index(after: $0) } ?? value.startIndex
        guard let colon = value[start...].firstIndex(of: ":") else { return nil }
        let (source, key) = (value[start..<colon], value[value.index(after: colon)...])
        guard source == "env" && !key.isEmpty || source == "file" && key.hasPrefix("/") else { return nil }
        return (name, String(value[..<start]), String(source), String(key))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
                    || "!#$%&'*+-.^_`|~".utf8.contains($0)
            }
    }
}
