// SPDX-License-Identifier: Apache-2.0

/// How the contents of requests become the content of one.
public enum BatchForm: Sendable, Equatable {
    /// A JSON array; each content is a JSON value (RFC 8259).
    case jsonArray
    /// Newline-delimited JSON, or other lines; each content is a line, or several, whose last line feed may
    /// be missing.
    case lines
    /// The contents between a prefix and a suffix, with a separator between each two.
    case template(prefix: String, separator: String, suffix: String)

    /// The parts around the contents.
    private var parts: (prefix: String, separator: String, suffix: String) {
        switch self {
        case .jsonArray: ("[", ",", "]")
        case .lines: ("", "", "")
        case .template(let prefix, let separator, let suffix): (prefix, separator, suffix)
        }
    }

    /// The bytes that a content adds at most, beside its own.
    var overhead: Int64 {
        if case .lines = self { return 1 }
        return Int64(parts.separator.utf8.count)
    }

    /// The media type that the form implies; nil for that of the contents.
    var contentType: String? { self == .lines ? "application/x-ndjson" : nil }

    /// Joins contents, in order.
    func joined(_ contents: [[UInt8]]) -> [UInt8] {
        let parts = parts
        var bytes = Array(parts.prefix.utf8)
        let added = parts.suffix.utf8.count + contents.count * Int(overhead)
        bytes.reserveCapacity(contents.reduce(bytes.count + added) { $0 + $1.count })
        for (index, content) in contents.enumerated() {
            if index > 0 { bytes.append(contentsOf: parts.separator.utf8) }
            bytes.append(contentsOf: content)
            if self == .lines, content.last != 0x0A { bytes.append(0x0A) }
        }
        bytes.append(contentsOf: parts.suffix.utf8)
        return bytes
    }

    /// The key of a batch: the same for the same requests in the same form.
    ///
    /// FNV-1a with 128 bits (draft-eastlake-fnv): the keys that it is made of are unique, so it guards
    /// against accidents alone.
    func key(of keys: [String]) -> String {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013b
        func add(_ text: String) {
            for byte in text.utf8 { hash = (hash ^ UInt128(byte)) &* prime }
            // No key and no length contains it.
            hash = (hash ^ 0x20) &* prime
        }
        let parts = parts
        add(self == .lines ? "lines" : "between")
        for text in [parts.prefix, parts.separator, parts.suffix] {
            add("\(text.utf8.count)")
            add(text)
        }
        for key in keys { add(key) }
        let text = String(hash, radix: 16)
        return "batch-" + String(repeating: "0", count: 32 - text.count) + text
    }
}
