// SPDX-License-Identifier: Apache-2.0

import CIDN
package import FoundationEssentials
import Glibc

/// Converts international names of hosts to A-labels (RFC 5891 §4, UTS #46).
///
/// Names are converted where they come in: origins, cookies, pins and keys of caches see one spelling.
package enum InternationalHost {
    /// The name in ASCII; a name that is in ASCII already is not touched.
    ///
    /// - Throws: ``SessionError/Code/missingLibrary`` without libidn2; ``SessionError/Code/badURL``.
    package static func ascii(_ name: String) throws(SessionError) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        // A name has 253 bytes at most (RFC 1035 §2.3.4); libidn2 refuses longer ones.
        var buffer = [CChar](repeating: 0, count: 512)
        // Up to the first NUL.
        let result = name.utf8.contains(0) ? CIDN_INVALID : cidn_lookup(name, &buffer, buffer.count)
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        switch result {
        case CIDN_CONVERTED:
            // Mapping makes ASCII of other letters: what ends or divides an authority must not come of it.
            guard !text.isEmpty, text.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "-._".utf8.contains($0) })
            else { throw invalid(name, "it has characters that no name has") }
            return text
        case CIDN_NO_LIBRARY:
            throw SessionError(
                .missingLibrary, "\(TextQuote(name)) is an international name, which needs libidn2",
                advice: "install it, on Debian: apt install libidn2-0; or write the name as xn--…")
        default: throw invalid(name, text)
        }
    }

    /// The same for an authority (RFC 3986 §3.2): the host between user and port, percent-encoded or not.
    package static func ascii(authority: String) throws(SessionError) -> String {
        let bytes = authority.utf8
        guard bytes.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "%") }) else { return authority }
        let start = bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes.index(after: $0) } ?? bytes.startIndex
        let rest = authority[start...]
        // A literal address; its zone has a percent sign (RFC 6874).
        if rest.utf8.first == UInt8(ascii: "[") { return authority }
        let end = rest.utf8.lastIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
        guard let name = decoded(rest[..<end].utf8), !name.utf8.allSatisfy({ $0 < 0x80 }), !isOfSocket(name)
        else { return authority }
        return authority[..<start] + (try ascii(name)) + rest[end...]
    }

    /// A text that is to be a URL, with the host in ASCII.
    package static func ascii(url text: String) throws(SessionError) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "%") }),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            text.utf8[colon...].starts(with: "://".utf8)
        else { return text }
        let start = text.utf8.index(colon, offsetBy: 3)
        let end = text.utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
        return text[..<start] + (try ascii(authority: String(text[start..<end]))) + text[end...]
    }

    /// Whether it is a path, or the name of an abstract socket (``SocketURL``).
    private static func isOfSocket(_ name: String) -> Bool {
        name.utf8.first.map { [0, UInt8(ascii: "/"), UInt8(ascii: "@")].contains($0) } == true
    }

    /// Without percent-encoding (RFC 3986 §2.1); nil where that is no UTF-8.
    static func decoded(_ text: Substring.UTF8View) -> String? {
        var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text)
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            guard byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(\.isASCIIHexDigit),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func invalid(_ name: String, _ reason: String) -> SessionError {
        SessionError(
            .badURL, "\(TextQuote(name)) is no name of a host: \(reason)", advice: "look at its spelling")
    }
}

extension URL {
    /// With the host in ASCII: Foundation percent-encodes the names that are not.
    package var withASCIIHost: URL {
        get throws(SessionError) {
            guard host(percentEncoded: true)?.utf8.contains(UInt8(ascii: "%")) == true else { return self }
            let text = try InternationalHost.ascii(url: absoluteString)
            return URL(string: text, encodingInvalidCharacters: false) ?? self
        }
    }
}
