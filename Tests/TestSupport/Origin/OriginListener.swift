// SPDX-License-Identifier: Apache-2.0

/// The ports of the test origin, by their behaviour.
package enum OriginListener: String, Sendable, CaseIterable {
    /// nginx, HTTP/1.1 in the clear.
    case http
    /// nginx, HTTP/1.1 under TLS 1.2 or 1.3; root → intermediate → leaf.
    case https
    /// nginx, HTTP/2 by ALPN, or HTTP/1.1.
    case h2
    /// nginx; answers 400 to clients without a certificate of `client-root`.
    case mtls
    /// TLS 1.2 and nothing newer.
    case tls12
    /// A leaf with an RSA key.
    case rsa
    /// Another leaf with the key of the first.
    case renewed
    /// A leaf that ended in 2021.
    case expired
    /// A leaf that begins in 2048.
    case future
    /// A leaf for other.test.
    case wrongName = "wrong-name"
    /// A leaf for origin.test from an unrelated authority.
    case otherAuthority = "other-authority"
    /// The leaf without the intermediate.
    case incomplete
    /// A self-signed leaf with names.
    case selfSigned = "self-signed"
    /// A self-signed leaf whose name is only in the CN.
    case selfSignedCN = "self-signed-cn"
    /// A self-signed leaf without any name.
    case nameless
    /// No nginx: all endpoints, exact headers, and /fault.
    case direct
    /// The same under TLS.
    case directTLS = "direct-tls"
    /// No nginx; the handshake fails without a certificate of `client-root`.
    case strictMTLS = "mtls-strict"
    /// A proxy: CONNECT or absolute URLs, every name is 127.0.0.1; counted by the key `proxy`.
    case proxy
    /// The same for `user`, `secret` alone; counted by the key `proxy-auth`.
    case proxyAuth = "proxy-auth"
    /// A proxy that speaks SOCKS 5, every name is 127.0.0.1; counted by the key `socks`.
    case socks
    /// The same for `user`, `secret` alone; counted by the key `socks-auth`.
    case socksAuth = "socks-auth"
    /// Accepts, reads, never answers, not even a handshake.
    case silent
    /// Resets every connection at once.
    case reset
    /// A port without a listener.
    case refused
    /// Connecting never completes.
    case blackhole

    /// Whether URLs begin with `https` there.
    package var isSecure: Bool {
        switch self {
        case .http, .direct, .proxy, .proxyAuth, .socks, .socksAuth, .silent, .reset, .refused, .blackhole:
            false
        default: true
        }
    }
}

extension Origin {
    /// A URL at a listener; the host is 127.0.0.1, or with TLS origin.test, which has to be resolved by
    /// `resolveEntry`.
    package func url(_ path: String, at listener: OriginListener = .http, host: String? = nil) -> String {
        let host = host ?? (listener.isSecure ? "origin.test" : "127.0.0.1")
        return "\(listener.isSecure ? "https" : "http")://\(host):\(port(listener))\(path)"
    }

    /// A URL at the listener `https`.
    package func tlsURL(_ path: String) -> String { url(path, at: .https) }
    /// A URL at the listener `h2`.
    package func h2URL(_ path: String) -> String { url(path, at: .h2) }
    /// A URL at the listener `mtls`.
    package func mtlsURL(_ path: String) -> String { url(path, at: .mtls) }
    /// A URL at the listener `self-signed`.
    package func selfSignedURL(_ path: String) -> String { url(path, at: .selfSigned) }
    /// A URL that bypasses nginx, for the paths below /fault.
    package func faultURL(_ path: String) -> String { url(path, at: .direct) }
    /// The same under TLS.
    package func faultTLSURL(_ path: String) -> String { url(path, at: .directTLS) }

    /// `origin.test:PORT:127.0.0.1` in the format of CURLOPT_RESOLVE; likewise for another name.
    package func resolveEntry(_ listener: OriginListener, host: String = "origin.test") -> String {
        "\(host):\(port(listener)):127.0.0.1"
    }

    /// The entries of all listeners.
    package var resolveEntries: [String] { OriginListener.allCases.map { resolveEntry($0) } }
}
