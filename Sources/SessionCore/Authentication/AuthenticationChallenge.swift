// SPDX-License-Identifier: Apache-2.0

/// A demand for a proof by an HTTP server or proxy, or by the TLS handshake.
public struct AuthenticationChallenge: Sendable {
    /// What kind of proof.
    public let method: AuthenticationMethod
    /// What the credentials are for, in the server's words: untrusted text, or nil (RFC 9110 §11.5).
    public let realm: String?
    /// The host that asks.
    public let host: String
    /// Its port.
    public let port: Int
    /// Whether it is a proxy that asks.
    public let isProxy: Bool
    /// How many credentials this task has had refused here.
    public internal(set) var previousFailureCount: Int
    /// A credential that the manager or the request has for this protection space; nil where there is none.
    public var proposedCredential: Credential?
    /// What the server wrote; nil for challenges of TLS.
    public let httpChallenge: HTTPChallenge?
    /// The response that asked, with status 401 or 407; nil for challenges of TLS.
    public let response: SessionResponse?
    /// What the server shows of itself; nil for other challenges than ``AuthenticationMethod/serverTrust``.
    public let peerTrust: PeerTrust?

    /// A challenge.
    public init(
        method: AuthenticationMethod, realm: String? = nil, host: String, port: Int, isProxy: Bool = false,
        previousFailureCount: Int = 0, proposedCredential: Credential? = nil,
        httpChallenge: HTTPChallenge? = nil, response: SessionResponse? = nil, peerTrust: PeerTrust? = nil
    ) {
        self.method = method
        self.realm = realm
        self.host = host.lowercased()
        self.port = port
        self.isProxy = isProxy
        self.previousFailureCount = previousFailureCount
        self.proposedCredential = proposedCredential
        self.httpChallenge = httpChallenge
        self.response = response
        self.peerTrust = peerTrust
    }

    /// What a response with status 401 or 407 offers, the strongest first; empty for any other.
    ///
    /// Digest is left out where its algorithm is unknown, or SHA-512-256, which libcurl may compute wrongly.
    ///
    /// - Parameters:
    ///   - response: the response; `WWW-Authenticate` or `Proxy-Authenticate` are read.
    ///   - host: the host that answered, for 407 the proxy.
    ///   - port: its port.
    ///   - credential: what the manager or the request has for this host.
    public static func offers(
        in response: SessionResponse, host: String, port: Int, credential: Credential? = nil
    ) -> [AuthenticationChallenge] {
        offers(in: response, host: host, port: port, credential: credential, hasBody: false)
    }

    /// The same to a request that may have a body.
    package static func offers(
        in response: SessionResponse, host: String, port: Int, credential: Credential?, hasBody: Bool
    ) -> [AuthenticationChallenge] {
        guard let status = response.statusCode, let read = HTTPChallenge.all(in: response) else { return [] }
        // Of several for Digest libcurl answers the first.
        let hasDigest = read.first { $0.scheme == "digest" }?.isDigestComputable(hasBody: hasBody) == true
        let challenges = read.filter { hasDigest || $0.scheme != "digest" }.map { challenge in
            AuthenticationChallenge(
                method: AuthenticationMethod(scheme: challenge.scheme), realm: challenge.parameters["realm"],
                host: host, port: port, isProxy: status == 407, proposedCredential: credential,
                httpChallenge: challenge, response: response)
        }
        // Equal ones stay in the server's order (RFC 7616 §3.7: its preference among hash algorithms).
        return challenges.enumerated().sorted {
            ($0.element.method.rank, $0.offset) < ($1.element.method.rank, $1.offset)
        }.map(\.element)
    }

    /// Whether the server says that only the nonce was stale, not the credential wrong (RFC 7616 §3.3).
    package var isStale: Bool {
        method == .digest && httpChallenge?.parameters["stale"]?.lowercased() == "true"
    }
}

extension HTTPChallenge {
    /// What a response with status 401 or 407 asks for; nil for any other.
    fileprivate static func all(in response: SessionResponse) -> [HTTPChallenge]? {
        guard let status = response.statusCode, status == 401 || status == 407 else { return nil }
        let field = status == 401 ? "www-authenticate" : "proxy-authenticate"
        return parse(response.values(forHeader: field))
    }

    /// Whether a response asks for Digest.
    package static func asksForDigest(_ response: SessionResponse) -> Bool {
        all(in: response)?.contains { $0.scheme == "digest" } == true
    }

    /// Whether libcurl computes a right answer to a challenge for Digest.
    ///
    /// Unknown algorithms are to be ignored (RFC 7616 §3.3). libcurl 7.88 takes SHA-256 for SHA-512-256, and
    /// the hash of an empty body for `auth-int` (lib/vauth/digest.c), where `auth` is not offered.
    fileprivate func isDigestComputable(hasBody: Bool) -> Bool {
        let algorithm = parameters["algorithm"]?.lowercased() ?? "md5"
        guard ["md5", "md5-sess", "sha-256", "sha-256-sess"].contains(algorithm) else { return false }
        let protections = (parameters["qop"] ?? "").lowercased().split { $0 == "," || $0 == " " }
        return !hasBody || protections.contains("auth") || !protections.contains("auth-int")
    }
}

/// What is to be done about a challenge.
public enum ChallengeDisposition: Sendable {
    /// This answers it, unless it was refused in the same protection space before: then the response is the
    /// answer.
    case useCredential(Credential)
    /// What is done without a handler: the security policy judges certificates, a proposed
    /// credential is tried once, and otherwise the response is the answer.
    case performDefaultHandling
    /// The task ends with ``SessionError/Code/cancelled``.
    case cancel
    /// This offer is passed over for the server's next one; behind the last one the response is the answer.
    ///
    /// Certificates of a server that are passed over are refused.
    case rejectProtectionSpace
}

/// How a client proves its identity.
public enum AuthenticationMethod: Sendable, Hashable {
    /// User and password, readable on the way without TLS (RFC 7617).
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
