// SPDX-License-Identifier: Apache-2.0

/// How a TLS backend carries out a policy: what libcurl verifies by itself, and whether it asks for more.
package struct TLSPlan: Sendable, Equatable {
    package let minimumVersion: TLSVersion
    /// CURLOPT_SSL_VERIFYPEER.
    ///
    /// On wherever there is an evaluator: without it the result would be ignored.
    package let verifiesPeer: Bool
    /// CURLOPT_SSL_VERIFYHOST.
    package let verifiesHost: Bool
    /// The anchors in place of the system's; nil for those.
    package let onlyRoots: TrustRoots.Source?
    /// Anchors beside them, which the evaluator adds.
    package let extraRoots: TrustRoots.Source?
    /// CURLOPT_PINNEDPUBLICKEY, for backends without an evaluator.
    package let pins: String?
    package let identity: ClientIdentity?
    /// Whether each handshake is judged by the policy.
    package let isEvaluated: Bool
    /// CURLOPT_SSL_SESSIONID_CACHE.
    ///
    /// Off with an evaluator: a resumed session shows no certificates, so the evaluator would not be called.
    package var resumesSessions: Bool { !isEvaluated }

    /// The plan for a policy; `asks` where a handler decides about each server.
    ///
    /// Throws ``SessionError/Code/missingLibrary`` for what the backend cannot do, rather than leave it out.
    package init(_ policy: SecurityPolicy, _ backend: TLSBackend, asks: Bool = false) throws(SessionError) {
        minimumVersion = policy.minimumTLSVersion
        identity = policy.clientIdentity
        switch policy.trustRoots {
        case .system: (onlyRoots, extraRoots) = (nil, nil)
        case .only(let source): (onlyRoots, extraRoots) = (source, nil)
        case .systemAnd(let source): (onlyRoots, extraRoots) = (nil, source)
        }
        let allowsAnything =
            policy.allowInvalidCertificates && policy.pinningMode == .none && !policy.validatesDomainName
        let isPlain = policy.pinningMode == .none && !policy.allowInvalidCertificates
        isEvaluated = asks || backend == .openSSL && !allowsAnything && (!isPlain || extraRoots != nil)
        // The name is checked by both where that is wanted: one of the two would do.
        verifiesHost = policy.validatesDomainName && !asks
        switch backend {
        case .openSSL:
            verifiesPeer = isEvaluated || !allowsAnything
            pins = nil
        case .other(let name):
            verifiesPeer = !policy.allowInvalidCertificates
            pins = try Self.pins(of: policy, name)
            if asks { throw Self.unsupported("asking a delegate about servers", name) }
            if extraRoots != nil { throw Self.unsupported("trust roots beside the system's", name) }
        }
    }

    private static func pins(of policy: SecurityPolicy, _ backend: String) throws(SessionError) -> String? {
        let namesNeedPins = policy.allowInvalidCertificates && policy.validatesDomainName
        switch policy.pinningMode {
        case .none where namesNeedPins:
            throw SessionError(
                .invalidSecurityPolicy,
                "the policy allows invalid certificates and validates names, but pins nothing: no server could match",
                advice: "pin the server's key, or switch validatesDomainName off", domain: .security)
        case .none: return nil
        case .certificate: throw unsupported("pinning mode certificate", backend)
        case .publicKey:
            guard policy.pinnedCertificates.isEmpty else {
                throw unsupported("pinning the keys of certificates", backend)
            }
            guard !policy.pinnedKeys.isEmpty else {
                throw SessionError(
                    .invalidSecurityPolicy,
                    "the policy's mode is publicKey and it pins nothing, so no server can match",
                    advice: "give it pins", domain: .security)
            }
            return policy.pinnedKeys.map(\.description).sorted().joined(separator: ";")
        }
    }

    private static func unsupported(_ feature: String, _ backend: String) -> SessionError {
        SessionError(
            .missingLibrary,
            "\(feature) needs libcurl with OpenSSL 3, and this one has \(TLSBackend.other(backend).name)",
            advice:
                "install libcurl with OpenSSL (on Debian: libcurl4), or pin the server's key by sha256//…",
            domain: .security)
    }
}

/// The TLS library below libcurl, as far as a security policy is concerned.
package enum TLSBackend: Sendable, Equatable {
    /// OpenSSL 3 or newer: whole policies.
    case openSSL
    /// Another one: libcurl's own verification, and pins of the server's own key.
    case other(String)

    /// The backend in use, out of `ssl_version` of curl_version_info(3): `OpenSSL/3.0.19`, `GnuTLS/3.7.9`.
    ///
    /// Names in parentheses are backends that were built in and are not in use.
    package init(_ text: String) {
        let names = Array(text.utf8).split(separator: UInt8(ascii: " "))
        guard let used = names.first(where: { $0.first != UInt8(ascii: "(") }) else {
            self = .other("")
            return
        }
        let own = Array("OpenSSL/".utf8)
        let digits = used.dropFirst(own.count).prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        // No version has more digits than these.
        let major = digits.prefix(6).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let isOwn = used.prefix(own.count) == own[...]
        self = isOwn && major >= 3 ? .openSSL : .other(String(decoding: used, as: UTF8.self))
    }

    package var name: String {
        switch self {
        case .openSSL: "OpenSSL"
        case .other(let name): name.isEmpty ? "no TLS library" : name
        }
    }
}

/// A version of TLS.
public enum TLSVersion: String, Sendable, Codable, CaseIterable, Comparable {
    /// TLS 1.0 (RFC 2246); broken, and refused by many systems' own settings whatever is asked for here.
    case tls1_0 = "TLSv1.0"
    /// TLS 1.1 (RFC 4346); deprecated by RFC 8996.
    case tls1_1 = "TLSv1.1"
    /// TLS 1.2 (RFC 5246).
    case tls1_2 = "TLSv1.2"
    /// TLS 1.3 (RFC 8446).
    case tls1_3 = "TLSv1.3"

    /// Older versions come first.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}
