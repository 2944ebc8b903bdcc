// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import FoundationEssentials
import SessionCore

/// What OpenSSL knows of a handshake under way; valid while its callback runs.
struct HandshakeFacts: TrustFacts {
    let host: String?
    let presented: [PeerCertificate]
    let now = Date.now
    private let name: TrustHost
    private let settings: TLSSettings
    private let verification: OpaquePointer

    init(_ verification: OpaquePointer, _ name: TrustHost, _ settings: TLSSettings) {
        self.verification = verification
        self.name = name
        self.settings = settings
        host = name.text
        presented = OpenSSL.certificates(copenssl_presented(verification))
    }

    var pinnedKeys: Set<PublicKeyPin> { settings.pinnedKeys }

    func chainVerdict() -> ChainVerdict {
        let result = copenssl_verify(verification)
        let verdict = ChainVerdict(
            result: OpenSSL.result(result), chain: OpenSSL.certificates(copenssl_built(verification)),
            depth: Int(copenssl_depth(verification)))
        guard result != 0, let extra = settings.extraAnchors else { return verdict }
        // Other roots have a store of their own: libcurl shares the system's between connections.
        let second = self.verdict(against: extra)
        return second.result.isValid || verdict.result.code == .certificateHasUnknownRoot ? second : verdict
    }

    func matchesHost() -> Bool {
        name.isAddress
            ? copenssl_matches_address(verification, name.text)
            : copenssl_matches_name(verification, name.text)
    }

    func pinnedVerdict() -> ChainVerdict {
        guard let anchors = settings.pinnedAnchors else {
            return ChainVerdict(result: .issuerMissing, chain: presented)
        }
        return verdict(against: anchors)
    }

    func isLinked(to certificate: PeerCertificate) -> Bool {
        // The handshake itself proves that the server has the key of its own certificate.
        if certificate.der == presented.first?.der { return true }
        guard let anchors = TrustAnchors([certificate.der]) else { return false }
        return copenssl_verify_against(verification, anchors.raw, false, nil, nil) == 0
    }

    private func verdict(against anchors: TrustAnchors) -> ChainVerdict {
        var chain: OpaquePointer?
        var depth: Int32 = 0
        let result = copenssl_verify_against(verification, anchors.raw, true, &chain, &depth)
        defer { copenssl_chain_free(chain) }
        return ChainVerdict(
            result: OpenSSL.result(result), chain: OpenSSL.certificates(chain), depth: Int(depth))
    }
}

/// Certificates of which any may end a chain.
///
/// Unchecked because the compiler cannot see into OpenSSL: certificates are added before the object is handed
/// out, and look-ups in an `X509_STORE` take its lock.
final class TrustAnchors: @unchecked Sendable {
    let raw: OpaquePointer

    /// Nil without memory; what is no certificate is left out.
    init?(_ certificates: some Sequence<Data>) {
        guard let raw = copenssl_anchors_new() else { return nil }
        self.raw = raw
        for certificate in certificates {
            certificate.withUnsafeBytes { bytes in
                guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
                _ = copenssl_anchors_add(raw, start, bytes.count)
            }
        }
    }

    deinit { copenssl_anchors_free(raw) }
}
