// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Who answers behind a URL: scheme, host and port (RFC 6454 §4, RFC 9110 §4.3.1).
///
/// Limits, connection pools and the fate of credentials in redirects depend on it. Spellings of one origin
/// are equal: case, a percent-encoded or international host, a written default port. Those of an address are
/// not (`[::1]`, `[0::1]`), which never lets a secret out. A socket of this machine
/// (`http+unix://%2Frun%2Fsnapd.socket/`) is an origin of its own.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`; `http+unix` or `https+unix` for a socket of this machine.
    public let scheme: String
    /// The host in lower case, an IPv6 address without its brackets; the path of a socket.
    public let host: String
    /// The port, 1 to 65535; 80 or 443 where the URL names none, 0 for a socket.
    public let port: Int

    /// The origin of a URL; nil where that has another scheme, no host or an impossible port.
    public init?(_ url: URL) {
        let parts = URLParts(url)
        guard parts.isPossible else {
            guard let scheme = parts.socketScheme, let path = url.host(percentEncoded: false), !path.isEmpty
            else { return nil }
            (self.scheme, host, port) = (scheme, path, 0)
            return
        }
        if let name = parts.plainName {
            host = name
        } else {
            guard let name = url.host(percentEncoded: false)?.lowercased(), !name.isEmpty else { return nil }
            // Without libidn2 two spellings count as two, which never lets a secret out.
            host = (try? InternationalHost.ascii(name)) ?? name
        }
        scheme = parts.isSecure ? "https" : "http"
        port = parts.portNumber ?? (parts.isSecure ? 443 : 80)
    }

    /// Whether TLS protects what is sent there.
    public var isSecure: Bool { scheme == "https" || scheme == "https+unix" }

    /// As in a URL and in the field `Origin`, a default port left out: `https://example.com`.
    public var description: String {
        if port == 0 {
            let digits = host.utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16, uppercase: true) }
            return "\(scheme)://\(digits.joined())"
        }
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(scheme)://\(name)\(port == (isSecure ? 443 : 80) ? "" : ":\(port)")"
    }
}
