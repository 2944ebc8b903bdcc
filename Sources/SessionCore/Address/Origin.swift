// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Who answers behind a URL: scheme, host and port (RFC 6454 §4, RFC 9110 §4.3.1).
///
/// Limits, connection pools and the fate of credentials in redirects depend on it. Spellings of one origin
/// are equal: case, a percent-encoded or international host, a written default port. Those of an address are
/// not (`[::1]`, `[0::1]`), which never lets a secret out.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case, an IPv6 address without its brackets.
    public let host: String
    /// The port, 1 to 65535; 80 or 443 where the URL names none.
    public let port: Int

    /// The origin of a URL; nil where that is neither http nor https, has no host or an impossible port.
    public init?(_ url: URL) {
        let parts = URLParts(url)
        guard parts.isPossible else { return nil }
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
    public var isSecure: Bool { scheme == "https" }

    /// As in a URL and in the field `Origin`, a default port left out: `https://example.com`.
    public var description: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(scheme)://\(name)\(port == (isSecure ? 443 : 80) ? "" : ":\(port)")"
    }
}
