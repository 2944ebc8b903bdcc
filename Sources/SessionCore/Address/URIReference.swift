// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// A URI or a part of one that is completed by a base (RFC 3986 §4.1).
///
/// Read as browsers do: what a URI cannot have is percent-encoded, since servers send spaces and raw UTF-8.
package struct URIReference: Sendable, Equatable {
    package private(set) var scheme: String?
    package private(set) var authority: String?
    package private(set) var path: String
    package private(set) var query: String?
    package private(set) var fragment: String?

    /// Takes a text apart; nil where it has control characters or a scheme that is none.
    package init?(_ text: String) {
        let text = Substring(text).trimmingBlanks
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        var rest = text.utf8[...]
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = Self.encoded(rest[rest.index(after: hash)...], allowing: "/?")
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = Self.encoded(rest[rest.index(after: mark)...], allowing: "/?")
            rest = rest[..<mark]
        }
        let isSlash: (UInt8) -> Bool = { $0 == UInt8(ascii: "/") }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), !rest[..<colon].contains(where: isSlash) {
            guard let name = Self.scheme(rest[..<colon]) else { return nil }
            scheme = name
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".utf8) {
            let start = rest.index(rest.startIndex, offsetBy: 2)
            let end = rest[start...].firstIndex(where: isSlash) ?? rest.endIndex
            authority = String(decoding: rest[start..<end], as: UTF8.self)
            rest = rest[end...]
        }
        path = Self.encoded(rest, allowing: "/")
    }

    /// The URL of the reference in a resource at `base`, without that one's fragment (RFC 3986 §5.2.2).
    package func resolved(against base: URL) -> URL? {
        guard let base = URIReference(base.absoluteString), base.scheme != nil else { return nil }
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    target.path = base.path
                    target.query = query ?? base.query
                } else if !path.utf8.starts(with: "/".utf8) {
                    target.path = base.directory + path
                }
            }
        }
        target.path = Self.removingDotSegments(target.path)
        if let given = target.authority {
            guard let ascii = try? InternationalHost.ascii(authority: given) else { return nil }
            target.authority = ascii
        }
        return URL(string: target.text, encodingInvalidCharacters: false)
    }

    /// Takes over the fragment of `url` where there is none here (RFC 9110 §10.2.2).
    package mutating func inheritFragment(from url: URL) {
        fragment = fragment ?? url.fragment(percentEncoded: true)
    }

    /// Puts a user, perhaps with a password, in front of the host.
    package mutating func setUserInfo(_ userInfo: String?) {
        guard let host = authority?.split(separator: "@").last else { return }
        authority = userInfo.map { "\($0)@\(host)" } ?? String(host)
    }

    /// Changes the query where there is one.
    package mutating func mapQuery(_ change: (String) -> String) { query = query.map(change) }

    /// The components put together (RFC 3986 §5.3).
    package var text: String {
        var text = scheme.map { "\($0):" } ?? ""
        if let authority { text += "//\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// The path up to its last slash, which a relative path continues (RFC 3986 §5.2.3).
    private var directory: String {
        if authority != nil, path.isEmpty { return "/" }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(path[...slash])
    }

    private static func scheme(_ bytes: Substring.UTF8View) -> String? {
        let isLetter: (UInt8) -> Bool = { (0x61...0x7A).contains($0 | 0x20) }
        guard let first = bytes.first, isLetter(first) else { return nil }
        let others = "0123456789+-.".utf8
        guard bytes.allSatisfy({ isLetter($0) || others.contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    /// Percent-encodes what RFC 3986 §3.3 and §3.4 do not permit; existing encodings stay.
    private static func encoded(_ bytes: Substring.UTF8View, allowing extra: StaticString) -> String {
        let bytes = Array(bytes)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        let digits = Array("0123456789ABCDEF".utf8)
        let isHex: (Int) -> Bool = { $0 < bytes.count && bytes[$0].isASCIIHexDigit }
        for (index, byte) in bytes.enumerated() {
            let stands =
                byte == UInt8(ascii: "%")
                ? isHex(index + 1) && isHex(index + 2)
                : byte.isURIPathByte || extra.withUTF8Buffer { $0.contains(byte) }
            if stands {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The path without `.` and `..` (RFC 3986 §5.2.4).
    private static func removingDotSegments(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let isAbsolute = path.utf8.starts(with: "/".utf8)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                if kept.count > (isAbsolute ? 1 : 0) { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return kept.joined(separator: "/")
    }
}

extension UInt8 {
    package var isASCIIHexDigit: Bool {
        (0x30...0x39).contains(self) || (0x61...0x66).contains(self | 0x20)
    }

    package var isASCIIAlphanumeric: Bool {
        (0x30...0x39).contains(self) || (0x61...0x7A).contains(self | 0x20)
    }

    /// Whether it may stand in a path between two slashes (`pchar` of RFC 3986 §3.3, but for `%`).
    fileprivate var isURIPathByte: Bool {
        isASCIIAlphanumeric || "-._~!$&'()*+,;=:@".utf8.contains(self)
    }
}
