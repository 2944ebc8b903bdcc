// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// A URL whose server listens on a socket of this machine, taken apart:
/// `http+unix://%2Frun%2Fsnapd.socket/v2/apps`, and `https+unix` for TLS.
///
/// The socket stands percent-encoded in the place of a host, as in the HTTP libraries of other languages; an
/// abstract one as `%40NAME`, or `%00NAME`.
package struct SocketURL: Sendable, Equatable {
    package let isSecure: Bool
    /// The socket as ``UnixSocket`` takes it; empty where its encoding is broken.
    package let socket: String
    /// The same as it stands in the URL.
    private let encodedSocket: Substring
    /// User and password with `@` behind them; mostly empty.
    private let user: Substring
    /// Path, query and fragment.
    private let rest: Substring

    /// nil for a URL of the network.
    package init?(_ text: String) {
        let parts = AuthorityParts(text)
        switch parts.scheme.lowercased() {
        case "http+unix": isSecure = false
        case "https+unix": isSecure = true
        default: return nil
        }
        (encodedSocket, user, rest) = (parts.host, parts.user, parts.rest)
        let name = InternationalHost.decoded(parts.host.utf8) ?? ""
        socket = name.utf8.first == 0 ? "@\(name.dropFirst())" : name
    }

    /// The URL that the server sees: with a host in the place of the socket.
    package func address(host: String = "localhost") -> String {
        "\(isSecure ? "https" : "http")://\(user)\(host)\(rest)"
    }

    /// The URL of this socket for one that its server has named, of the same host.
    package func url(seenAs url: URL) -> URL? {
        let parts = AuthorityParts(url.absoluteString)
        let text = "\(parts.scheme)+unix://\(parts.user)\(encodedSocket)\(parts.rest)"
        return URL(string: text, encodingInvalidCharacters: false)
    }
}

/// A URL around its authority (RFC 3986 §3.2).
private struct AuthorityParts {
    var (scheme, user, host, rest): (Substring, Substring, Substring, Substring)

    init(_ text: String) {
        let mark = text.firstRange(of: "://")
        scheme = text[..<(mark?.lowerBound ?? text.startIndex)]
        let start = mark?.upperBound ?? text.endIndex
        let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let hostStart = text[start..<end].lastIndex(of: "@").map { text.index(after: $0) } ?? start
        (user, host, rest) = (text[start..<hostStart], text[hostStart..<end], text[end...])
    }
}

extension URL {
    /// As ``init(spoken:)``, and a URL of a socket of this machine.
    package init(carried text: String) throws(SessionError) {
        guard let parts = SocketURL(text) else {
            self = try URL(spoken: text)
            return
        }
        _ = try UnixSocket(parts.socket)
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw SessionError(.badURL, "\(TextQuote(text)) is no URL")
        }
        self = url
    }

    /// Whether a transfer can go there, over the network or to a socket of this machine.
    package var isCarried: Bool {
        if let parts = SocketURL(absoluteString) { return (try? UnixSocket(parts.socket)) != nil }
        return isSpoken
    }
}
