// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

extension URL {
    /// The URL with something more in its query, before the fragment.
    ///
    /// - Throws: ``SessionError/Code/badURL`` where the query has characters that no URL has.
    func appending(query: String) throws(SessionError) -> URL {
        let text = absoluteString
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        var longer = String(text[..<end])
        if longer.utf8.contains(UInt8(ascii: "?")) {
            let isOpen = longer.utf8.last == UInt8(ascii: "?") || longer.utf8.last == UInt8(ascii: "&")
            longer += isOpen ? "" : "&"
        } else {
            longer += "?"
        }
        longer += query
        longer += text[end...]
        guard let url = URL(string: longer, encodingInvalidCharacters: false) else {
            throw SessionError(
                .badURL, "\(TextQuote(query)) cannot be the query of a URL",
                advice: "escape what RFC 3986 does not allow there", domain: .requestSerialization,
                failingURL: self)
        }
        return url
    }
}
