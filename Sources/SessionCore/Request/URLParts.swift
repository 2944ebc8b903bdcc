// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import Glibc

/// Scheme, host and port of a URL, as libcurl judges them (hostname_check and Curl_parse_port, lib/urlapi.c).
struct URLParts {
    /// Whether it is http or https, and names a host.
    let isWeb: Bool
    let isSecure: Bool
    private let scheme: ArraySlice<UInt8>
    private let host: ArraySlice<UInt8>
    private let port: ArraySlice<UInt8>?

    init(_ url: URL) {
        let text = Array(url.absoluteString.utf8)
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        scheme = text[..<colon]
        isSecure = Self.matches(scheme, "https")
        // The authority follows two slashes (RFC 3986 §3.2).
        var rest = text[colon...].dropFirst()
        let hasAuthority = rest.starts(with: "//".utf8)
        rest = rest.dropFirst(2)
        rest = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        let end =
            rest.first == UInt8(ascii: "[")
            ? rest.lastIndex(of: UInt8(ascii: "]")).map { rest.index(after: $0) } ?? rest.endIndex
            : rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
        host = rest[..<end]
        port = end < rest.endIndex ? rest[rest.index(after: end)...] : nil
        isWeb = hasAuthority && !host.isEmpty && (isSecure || Self.matches(scheme, "http"))
    }

    /// The scheme of a URL of a socket; nil for others.
    var socketScheme: String? {
        Self.matches(scheme, "http+unix")
            ? "http+unix" : Self.matches(scheme, "https+unix") ? "https+unix" : nil
    }

    /// Compares without regard to case; `word` is in lower case.
    private static func matches(_ text: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
        text.count == word.utf8CodeUnitCount
            && word.withUTF8Buffer { zip(text, $0).allSatisfy { $0 | 0x20 == $1 } }
    }

    /// The host in lower case; nil where it has others than letters, digits, `-` and `.`, and is to be
    /// decoded.
    var plainName: String? {
        guard
            host.allSatisfy({ $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
        else { return nil }
        return String(decoding: host.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The number that the URL names; nil for none.
    var portNumber: Int? {
        port.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    /// Whether a transfer there can be thought of; a name need not exist.
    var isPossible: Bool { isWeb && hasPossiblePort && hasPossibleHost }

    /// Whether a server can listen on the port; an empty one, or none, is the scheme's (RFC 3986 §3.2.3).
    var hasPossiblePort: Bool {
        guard let port, !port.isEmpty else { return true }
        var number = 0
        for byte in port {
            guard (0x30...0x39).contains(byte) else { return false }
            number = number * 10 + Int(byte - 0x30)
            if number > 65535 { return false }
        }
        return number > 0
    }

    private var hasPossibleHost: Bool {
        if host.first == UInt8(ascii: "[") { return isAddress(host.dropFirst().dropLast()) }
        guard let bytes = Self.decoded(host) else { return false }
        return !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && !Self.isExcluded[Int($0)] }
    }

    /// The bytes that no name may have.
    private static let isExcluded: [Bool] = {
        let excluded = Array("/:#?!@{}[]\\$'\"^`*<>=;,+&()".utf8)
        return (0..<256).map { excluded.contains(UInt8($0)) }
    }()

    /// Whether it is an IPv6 address, perhaps with a zone (RFC 6874).
    private func isAddress(_ text: ArraySlice<UInt8>) -> Bool {
        let end = text.firstIndex(of: UInt8(ascii: "%")) ?? text.endIndex
        var address = in6_addr()
        return inet_pton(AF_INET6, String(decoding: text[..<end], as: UTF8.self), &address) == 1
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.contains(UInt8(ascii: "%")) else { return Array(text) }
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.allSatisfy(\.isASCIIHexDigit), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

extension URL {
    /// The absolute `http` or `https` URL that this text is, an international name of its host in ASCII.
    package init(spoken text: String) throws(SessionError) {
        let ascii = try InternationalHost.ascii(url: text)
        guard let url = URL(string: ascii, encodingInvalidCharacters: false) else {
            let advice = text.contains(" ") ? "write what cannot stand in a URL as %XX, a space as %20" : ""
            throw SessionError(.badURL, "\(TextQuote(text)) is no http or https URL", advice: advice)
        }
        let parts = URLParts(url)
        guard parts.isWeb else {
            throw SessionError(.badURL, "\(TextQuote(text)) is no http or https URL")
        }
        guard parts.isPossible else {
            throw SessionError(
                .badURL, "\(TextQuote(text)) names a place that cannot be",
                advice: parts.hasPossiblePort
                    ? "check the name of its host" : "ports are numbers from 1 to 65535")
        }
        self = url
    }

    /// The URL of a request as it is sent: with the host in ASCII.
    ///
    /// - Throws: for a URL without a scheme, for which libcurl would guess one, and for a host that has no
    ///   ASCII form.
    package var checked: URL {
        get throws(SessionError) {
            var text = absoluteString
            // One look at the text for both, since it runs for each request.
            let (hasScheme, hasPercentSign) = text.withUTF8 { bytes in
                let delimiter = bytes.firstIndex { $0 == 0x3A || $0 == 0x2F || $0 == 0x3F || $0 == 0x23 }
                return (delimiter.map { bytes[$0] == 0x3A } ?? false, bytes.contains(UInt8(ascii: "%")))
            }
            guard hasScheme else {
                throw SessionError(
                    .badURL, "\(TextQuote(absoluteString)) is no http or https URL",
                    advice: "begin it with https:// or http://", failingURL: self)
            }
            return hasPercentSign ? try withASCIIHost : self
        }
    }

    /// Whether a transfer can go there: http or https, with a host and a port that can be.
    package var isSpoken: Bool { URLParts(self).isPossible }

    /// Whether it is http or https, and names a host.
    package var isWeb: Bool { URLParts(self).isWeb }

    /// The absolute text without user and password: for people, in logs too.
    package var textWithoutUser: String {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil else {
            return absoluteString
        }
        var reference = URIReference(absoluteString)
        reference?.setUserInfo(nil)
        return reference?.text ?? host(percentEncoded: true) ?? ""
    }

    /// The same URL without user and password.
    package var withoutUser: URL {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil else { return self }
        return URL(string: textWithoutUser, encodingInvalidCharacters: false) ?? self
    }

    /// With the user and password of `former` where it has none of its own and leads to the same origin.
    package func inheritingUser(from former: URL) -> URL {
        guard user == nil, let name = former.user(percentEncoded: true), let here = Origin(self),
            here == Origin(former), var reference = URIReference(absoluteString)
        else { return self }
        let password = former.password(percentEncoded: true).map { ":\($0)" } ?? ""
        reference.setUserInfo(name + password)
        return URL(string: reference.text, encodingInvalidCharacters: false) ?? self
    }
}
