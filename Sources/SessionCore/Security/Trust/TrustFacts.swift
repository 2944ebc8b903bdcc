// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// What a policy wants to know of a handshake; functions, since most of it costs signatures.
package protocol TrustFacts {
    /// The host that was asked for; nil where there is no name to check.
    var host: String? { get }
    /// What the server sent, its own certificate first.
    var presented: [PeerCertificate] { get }
    /// The keys that the policy pins, those of its certificates included.
    var pinnedKeys: Set<PublicKeyPin> { get }
    /// The time that certificates were judged at.
    var now: Date { get }

    /// Whether the chain is valid against the trust roots, for a server, at this time; names aside.
    func chainVerdict() -> ChainVerdict
    /// Whether the server's certificate is for the host (RFC 6125, RFC 9525).
    func matchesHost() -> Bool
    /// As ``chainVerdict()`` with the pinned certificates as the only anchors, at any index of the chain.
    func pinnedVerdict() -> ChainVerdict
    /// Whether it is the server's certificate, or signatures of authorities lead from that to it; time aside.
    func isLinked(to certificate: PeerCertificate) -> Bool
}

/// The result of building and verifying a chain.
package struct ChainVerdict: Sendable, Equatable {
    /// What is wrong.
    package let result: VerifyResult
    /// The chain that was built, the server's certificate first; where the result is bad, as far as it got.
    package let chain: [PeerCertificate]
    /// Which certificate of the chain is meant.
    package let depth: Int

    package init(result: VerifyResult, chain: [PeerCertificate], depth: Int = 0) {
        self.result = result
        self.chain = chain
        self.depth = depth
    }

    package var culprit: PeerCertificate? { chain.indices.contains(depth) ? chain[depth] : chain.last }
}

/// The result of a verification by OpenSSL's numbers (X509_STORE_CTX_get_error(3)), as libcurl hands it on.
package struct VerifyResult: Sendable, Equatable {
    package let number: Int
    /// The library's words.
    package let text: String

    package init(_ number: Int, text: String = "") {
        self.number = number
        self.text = text
    }

    package static let ok = VerifyResult(0)
    package static let issuerMissing = VerifyResult(20, text: "unable to get local issuer certificate")
    package static let applicationRefused = VerifyResult(50, text: "application verification failure")

    package var isValid: Bool { number == 0 }

    package enum Kind {
        case valid, expired, notYetValid, selfSigned, untrustedRoot, issuerMissing, wrongName, other
    }

    package var kind: Kind {
        switch number {
        case 0: .valid
        case 9: .notYetValid
        case 10: .expired
        case 18: .selfSigned
        case 19, 27: .untrustedRoot
        // No issuer: locally, at all, or a chain of only itself (33, of a CRL's issuer, is none of it).
        case 2, 20, 21: .issuerMissing
        case 62, 63, 64: .wrongName
        default: .other
        }
    }

    package var code: SessionError.Code { SessionError.Code(curlCode: 60, verifyResult: number) }
}
