// SPDX-License-Identifier: Apache-2.0

/// An interface name in sixteen bytes, without a reference: questions contain it, and are copied often.
package struct LinkName: Sendable, Hashable {
    /// The longest name (IFNAMSIZ without its NUL, netdevice(7)).
    package static let limit = 15

    private let first: UInt64
    private let second: UInt64

    /// The name; nil for a text that is too long or contains a NUL.
    package init?(exactly text: String) {
        guard text.utf8.count <= Self.limit, !text.utf8.contains(0) else { return nil }
        self.init(text)
    }

    /// The longest prefix of the text that is a valid name: whole characters, up to the first NUL.
    package init(_ text: String) {
        var words: (UInt64, UInt64) = (0, 0)
        var text = text
        text.withUTF8 { bytes in
            var count = min(bytes.count, Self.limit)
            // UTF-8 continuation bytes begin with the bits 10.
            if bytes.count > count { while count > 0, bytes[count] & 0xC0 == 0x80 { count -= 1 } }
            withUnsafeMutableBytes(of: &words) { words in
                for index in 0..<count {
                    guard bytes[index] != 0 else { break }
                    words[index] = bytes[index]
                }
            }
        }
        (first, second) = words
    }

    package var text: String {
        withUnsafeBytes(of: (first, second)) { words in
            String(decoding: words.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension LinkName: ExpressibleByStringLiteral {
    package init(stringLiteral name: String) { self.init(name) }
}
