// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

extension URL {
    /// Scheme and authority as they are written, in lower case: what connections are kept for.
    ///
    /// Much cheaper than the parsed parts; `http://h` and `http://h:80` count as two.
    var originText: String { absoluteString.origin }
}

extension String {
    /// The beginning of a URL up to its path.
    var origin: String {
        var text = self
        return text.withUTF8 { bytes in
            var slashes = 0
            var end = 0
            var hasUpperCase = false
            while end < bytes.count {
                switch bytes[end] {
                case UInt8(ascii: "/"): slashes += 1
                case UInt8(ascii: "?"), UInt8(ascii: "#"): slashes = 3
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): hasUpperCase = true
                default: break
                }
                if slashes == 3 { break }
                end += 1
            }
            let origin = String(decoding: UnsafeBufferPointer(rebasing: bytes[..<end]), as: UTF8.self)
            return hasUpperCase ? origin.lowercased() : origin
        }
    }
}
