// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Policies in real handshakes: OpenSSL below libcurl with nginx.
struct PolicyHandshakeTests {
    private static let pinningModes = [SecurityPolicy.PinningMode.publicKey, .certificate]

    /// A handshake under a policy that trusts the origin's root alone.
    private func handshake(
        _ listener: OriginListener, host: String = "origin.test", _ mode: SecurityPolicy.PinningMode = .none,
        _ pins: [OriginCertificate] = [], rooted: Bool = true,
        _ change: (inout SecurityPolicy) throws -> Void = { _ in }
    ) async throws -> TLSProbe.Result {
        let origin = try await TestSupport.Origin.shared
        var policy = SecurityPolicy(pinningMode: mode)
        for pin in pins {
            policy.pinnedCertificates.formUnion(try CertificateFiles.certificates(inFile: origin.der(pin)))
        }
        if rooted { policy.trustRoots = .only(.file(origin.pem(.root))) }
        try change(&policy)
        return try TLSProbe(origin).get(listener, host: host, TLSSettings(policy, CurlLibrary.load()))
    }

    private func allowInvalid(_ policy: inout SecurityPolicy) { policy.allowInvalidCertificates = true }

    @Test("AF-188 the default accepts a valid chain with the right name, and refuses another name or root")
    func defaults() async throws {
        let accepted = try await handshake(.https)
        #expect(accepted.isAccepted && accepted.evaluator == nil, "libcurl's own verification is all")
        for host in ["127.0.0.1", "localhost"] {
            #expect(try await handshake(.https, host: host).isAccepted)
        }
        let wrong = try await handshake(.https, host: "wrong.test")
        #expect(wrong.error?.code == .certificateUntrusted)
        #expect(try await handshake(.wrongName).error?.code == .certificateUntrusted)
        let unknown = try await handshake(.https, rooted: false)
        #expect(unknown.error?.code == .certificateHasUnknownRoot)
        #expect(unknown.error?.transport?.curlCode == 60 && unknown.error?.domain == .security)
        #expect(try await handshake(.otherAuthority).error?.code == .certificateHasUnknownRoot)
        #expect(try await handshake(.incomplete).error?.code == .certificateHasUnknownRoot)
        #expect(try await handshake(.selfSigned).error?.code == .certificateHasUnknownRoot)
        #expect(try await handshake(.future).error?.code == .certificateNotYetValid)
    }

    @Test("AF-189 a pin matches wherever it is in the chain", arguments: pinningModes)
    func anyCertificate(_ mode: SecurityPolicy.PinningMode) async throws {
        let pins: [[OriginCertificate]] = [[.leaf], [.intermediate], [.root], [.leaf, .intermediate, .root]]
        for pins in pins {
            let result = try await handshake(.https, mode, pins)
            #expect(result.isAccepted, "\(pins): \(result.error.map { "\($0)" } ?? "")")
            #expect(result.evaluator?.handshakeCount == 1 && result.evaluator?.refusal == nil)
            #expect(result.evaluator?.peer?.certificates.count == 2)
        }
    }

    @Test(
        "AF-190 no pins and foreign pins refuse, one matching pin among others accepts",
        arguments: pinningModes)
    func foreignPins(_ mode: SecurityPolicy.PinningMode) async throws {
        let step: TrustRefusal.Step = mode == .certificate ? .certificatePins : .keyPins
        #expect(try await handshake(.https, mode).evaluator?.refusal?.step == .noPins)
        for pins in [[.otherRoot], [.otherRoot, .otherLeaf, .rsa]] as [[OriginCertificate]] {
            let result = try await handshake(.https, mode, pins)
            #expect(
                result.error?.code == .certificateUntrusted && result.code == CURLE_PEER_FAILED_VERIFICATION)
            #expect(result.evaluator?.refusal?.step == step)
            #expect(result.error?.peerTrust?.certificates.first?.subject == "origin.test")
        }
        #expect(try await handshake(.https, mode, [.otherRoot, .leaf]).isAccepted)
    }

    @Test("AF-192 without validation of names a wrong name is accepted, and nothing else")
    func wrongName() async throws {
        for (mode, pins) in [(.none, []), (.publicKey, [.root]), (.certificate, [.root])]
            as [(SecurityPolicy.PinningMode, [OriginCertificate])]
        {
            let accepted = try await handshake(.wrongName, mode, pins) { $0.validatesDomainName = false }
            #expect(accepted.isAccepted, "\(mode) \(accepted.error.map { "\($0)" } ?? "")")
            #expect(try await handshake(.wrongName, mode, pins).error?.code == .certificateUntrusted)
            let expired = try await handshake(.expired, mode, pins) { $0.validatesDomainName = false }
            #expect(expired.error?.code == .certificateHasBadDate)
        }
    }

    @Test(
        "AF-193 where invalid is allowed and no name is checked, anything is accepted",
        arguments: [OriginListener.selfSigned, .wrongName, .expired, .otherAuthority, .nameless, .https])
    func anything(_ listener: OriginListener) async throws {
        let result = try await handshake(listener, rooted: false) {
            $0.allowInvalidCertificates = true
            $0.validatesDomainName = false
        }
        #expect(result.isAccepted)
    }

    @Test(
        "AF-194 a pinned certificate that is self-signed is accepted for its own name only",
        arguments: [
            (OriginListener.selfSigned, OriginCertificate.selfSigned), (.selfSignedCN, .selfSignedCN),
        ])
    func selfSigned(_ listener: OriginListener, _ pin: OriginCertificate) async throws {
        for mode in Self.pinningModes {
            let result = try await handshake(listener, mode, [pin], rooted: false, allowInvalid)
            #expect(result.isAccepted, "\(mode) \(result.error.map { "\($0)" } ?? "")")
            let wrong = try await handshake(listener, host: "wrong.test", mode, [pin], allowInvalid)
            #expect(wrong.evaluator?.refusal?.step == .name && wrong.error?.code == .certificateUntrusted)
            #expect(try await handshake(listener, mode, [pin]).error?.code == .certificateHasUnknownRoot)
            #expect(try await handshake(listener, mode, [.leaf], allowInvalid).evaluator?.refusal != nil)
        }
    }

    @Test("AF-196 a name cannot be validated on an invalid chain without pins")
    func nameWithoutPins() async throws {
        for (mode, pins) in [(.none, []), (.none, [.leaf]), (.publicKey, []), (.certificate, [])]
            as [(SecurityPolicy.PinningMode, [OriginCertificate])]
        {
            let result = try await handshake(.https, mode, pins, allowInvalid)
            #expect(result.evaluator?.refusal?.step == .nameWithoutPins, "\(mode)")
        }
    }

    @Test(
        "AF-197 a renewal with the same key: the key's pin and the authority's match, the certificate's does not"
    )
    func renewal() async throws {
        #expect(try await handshake(.renewed, .publicKey, [.leaf]).isAccepted)
        let refused = try await handshake(.renewed, .certificate, [.leaf])
        #expect(refused.evaluator?.refusal?.step == .certificatePins)
        #expect(try await handshake(.renewed, .certificate, [.intermediate]).isAccepted)
        let origin = try await TestSupport.Origin.shared
        let byHash = try await handshake(.renewed, .publicKey) {
            $0.pinnedKeys = [try PublicKeyPin(origin.pin(.leaf))]
        }
        #expect(byHash.isAccepted)
    }

    @Test("AF-198 an expired certificate has its own code; where invalid is allowed the pinned key counts")
    func expired() async throws {
        for mode in SecurityPolicy.PinningMode.allCases {
            #expect(try await handshake(.expired, mode, [.expired]).error?.code == .certificateHasBadDate)
        }
        #expect(try await handshake(.expired, .publicKey, [.expired], allowInvalid).isAccepted)
        let byRoot = try await handshake(.expired, .publicKey, [.intermediate], allowInvalid)
        #expect(byRoot.isAccepted)
        // Anchors of mode certificate are verified with the time.
        let strict = try await handshake(.expired, .certificate, [.root], allowInvalid)
        #expect(
            strict.error?.code == .certificateHasBadDate
                && strict.evaluator?.refusal?.step == .certificatePins)
        let refusal = try await handshake(.expired, .publicKey, [.expired]).evaluator?.refusal
        #expect(
            refusal?.description.contains("expired on 2021-01-01; renew it; if it is new, check") ?? false)
    }

    @Test("a wrong pin explains itself in one sentence, and names the key to pin")
    func explanation() async throws {
        let origin = try await TestSupport.Origin.shared
        let result = try await handshake(.https, .publicKey) {
            $0.pinnedKeys = [try PublicKeyPin(origin.pin(.rsa))]
        }
        let text = try #require(result.error).description
        #expect(
            text.hasPrefix(
                "origin.test presented the keys \(origin.pin(.leaf)) (CN=\"origin.test\"), \(origin.pin(.intermediate)) "
                    + "(CN=\"Reach Test Intermediate\"); the policy pins \(origin.pin(.rsa))"), "\(text)")
        #expect(text.contains("add its pin"))
    }
}
