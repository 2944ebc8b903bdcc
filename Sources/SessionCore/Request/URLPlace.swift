// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Host and port of a URL, as libcurl judges them (hostname_check and Curl_parse_port, lib/urlapi.c).
struct URLPlace {
    private let host: Substring.UTF8View
    private let port: Substring.UTF8View?

    init(_ url: URL) {
        var rest = url.absoluteString[...].utf8
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")) { rest = rest[rest.index(after: colon)...] }
        rest = rest.drop { $0 == UInt8(ascii: "/") }
        rest = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        let end =
            rest.first == UInt8(ascii: "[")
            ? rest.lastIndex(of: UInt8(ascii: "]")).map { rest.index(after: $0) } ?? rest.endIndex
            : rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
        host = rest[..<end]
        port = end < rest.endIndex ? rest[rest.index(after: end)...] : nil
    }

    /// Whether a connection there can be thought of; a name need not exist.
    var isPossible: Bool { hasPossiblePort && hasPossibleHost }

    /// Whether the port is one that a server can listen on; none, and an empty one, stand for the scheme's (RFC 3986 §3.2.3).
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
        return !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && !Self.excluded.contains($0) }
    }

    /// What no name may have.
    private static let excluded = Set("/:#?!@{}[]\\$'\"^`*<>=;,+&()".utf8)

    /// Whether it is an IPv6 address, perhaps with a zone (RFC 6874).
    private func isAddress(_ text: Substring.UTF8View) -> Bool {
        let end = text.firstIndex(of: UInt8(ascii: "%")) ?? text.endIndex
        var address = in6_addr()
        return inet_pton(AF_INET6, String(decoding: text[..<end], as: UTF8.self), &address) == 1
    }

    private static func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
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
