// SPDX-License-Identifier: Apache-2.0

/// How somebody is to prove who they are.
public enum AuthenticationMethod: Sendable, Hashable {
    /// User and password, readable for everybody on the way without TLS (RFC 7617).
    case basic
    /// User and password, hashed (RFC 7616).
    case digest
    /// A token (RFC 6750).
    case bearer
    /// NT LAN Manager.
    case ntlm
    /// Kerberos (RFC 4559).
    case negotiate
    /// The server's certificates are to be judged.
    case serverTrust
    /// The server asks for the certificate of the client.
    case clientCertificate
    /// Another scheme of HTTP, in lower case.
    case other(String)

    /// The method of a scheme of HTTP.
    public init(scheme: String) {
        switch scheme.lowercased() {
        case "basic": self = .basic
        case "digest": self = .digest
        case "bearer": self = .bearer
        case "ntlm": self = .ntlm
        case "negotiate": self = .negotiate
        case let other: self = .other(other)
        }
    }

    /// Whether a header field of HTTP asks for it; otherwise the handshake of TLS does.
    public var isHTTP: Bool { self != .serverTrust && self != .clientCertificate }

    /// Lower is better: the order in which curl chooses among what a server offers.
    package var rank: Int {
        switch self {
        case .serverTrust, .clientCertificate: 0
        case .negotiate: 1
        case .bearer: 2
        case .digest: 3
        case .ntlm: 4
        case .basic: 5
        case .other: 6
        }
    }
}
