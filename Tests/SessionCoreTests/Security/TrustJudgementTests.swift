// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct TrustJudgementTests {
    private static let stranger = StatedFacts.certificate(9, "Other", issuer: "Other")
    private static let stranger2 = StatedFacts.certificate(8, "Third", issuer: "Third")
    private static let pinningModes = [SecurityPolicy.PinningMode.publicKey, .certificate]

    /// A policy, and facts, with these certificates pinned in the way of the mode.
    private func judge(
        _ mode: SecurityPolicy.PinningMode, _ pins: [PeerCertificate] = [], allowInvalid: Bool = false,
        names: Bool = true, _ facts: StatedFacts = StatedFacts()
    ) -> TrustJudgement {
        var policy = SecurityPolicy(pinningMode: mode, pinnedCertificates: pins.map(\.der))
        policy.allowInvalidCertificates = allowInvalid
        policy.validatesDomainName = names
        return policy.judge(facts.pinning(pins))
    }

    private func broken(_ number: Int, chain: [PeerCertificate] = [StatedFacts.leaf]) -> StatedFacts {
        var facts = StatedFacts()
        facts.verdict = ChainVerdict(result: VerifyResult(number, text: "text \(number)"), chain: chain)
        return facts
    }

    private func named(_ host: String?) -> StatedFacts {
        var facts = StatedFacts()
        facts.host = host
        return facts
    }

    @Test("AF-188 the default accepts a valid chain with the right name and refuses another name")
    func defaults() {
        #expect(judge(.none) == .accepted)
        let refusal = judge(.none, [], named("other.example")).refusal
        #expect(refusal?.step == .name && refusal?.code == .certificateUntrusted)
        #expect(refusal?.message == "the certificate is for \"host.example\", not for other.example")
        #expect(judge(.none, [], named(nil)) == .accepted)
    }

    @Test("AF-189 a pin matches wherever it is in the chain", arguments: pinningModes)
    func anyCertificate(_ mode: SecurityPolicy.PinningMode) {
        for pin in StatedFacts.chain { #expect(judge(mode, [pin]) == .accepted, "\(pin.subject)") }
        #expect(judge(mode, StatedFacts.chain) == .accepted)
    }

    @Test(
        "AF-190 no pins and foreign pins refuse, one matching pin among others accepts",
        arguments: pinningModes)
    func foreignPins(_ mode: SecurityPolicy.PinningMode) {
        #expect(judge(mode, []).refusal?.step == .noPins)
        let step: TrustRefusal.Step = mode == .certificate ? .certificatePins : .keyPins
        #expect(judge(mode, [Self.stranger]).refusal?.step == step)
        #expect(judge(mode, [Self.stranger, Self.stranger2]).refusal?.step == step)
        #expect(judge(mode, [Self.stranger, StatedFacts.leaf]) == .accepted)
    }

    @Test("AF-192 without validation of names a wrong name is accepted")
    func wrongName() {
        #expect(judge(.none, names: false, named("other.example")) == .accepted)
        #expect(judge(.publicKey, [StatedFacts.root], names: false, named("other.example")) == .accepted)
        #expect(judge(.certificate, [StatedFacts.root], names: false, named("other.example")) == .accepted)
    }

    @Test("AF-193 where invalid is allowed and no name is checked, anything is accepted")
    func anything() {
        var selfSigned = broken(18)
        #expect(judge(.none, allowInvalid: true, names: false, selfSigned) == .accepted)
        selfSigned.host = nil
        #expect(judge(.none, allowInvalid: true, selfSigned) == .accepted)
    }

    @Test(
        "AF-194 a pinned key that is self-signed is accepted for its own name only", arguments: pinningModes)
    func selfSigned(_ mode: SecurityPolicy.PinningMode) {
        var facts = broken(18)
        facts.linked = [StatedFacts.leaf]
        #expect(judge(mode, [StatedFacts.leaf], allowInvalid: true, facts) == .accepted)
        #expect(judge(mode, [StatedFacts.leaf], facts).refusal?.step == .chain)
        facts.host = "other.example"
        #expect(judge(mode, [StatedFacts.leaf], allowInvalid: true, facts).refusal?.step == .name)
        #expect(judge(mode, [StatedFacts.leaf], allowInvalid: true, names: false, facts) == .accepted)
    }

    @Test("AF-196 a name cannot be validated on an invalid chain without pins")
    func nameWithoutPins() {
        #expect(judge(.none, allowInvalid: true).refusal?.step == .nameWithoutPins)
        #expect(judge(.none, [StatedFacts.leaf], allowInvalid: true).refusal?.step == .nameWithoutPins)
        #expect(judge(.publicKey, allowInvalid: true).refusal?.step == .nameWithoutPins)
        #expect(judge(.certificate, allowInvalid: true).refusal?.step == .nameWithoutPins)
    }

    @Test(
        "AF-197 a renewal with the same key: the key's pin and the authority's match, the certificate's does not"
    )
    func renewal() {
        let renewed = PeerCertificate(
            der: Data([77]), pin: StatedFacts.leaf.pin, subject: "host.example", issuer: "Intermediate",
            names: ["host.example"])
        var facts = StatedFacts()
        facts.presented[0] = renewed
        facts.linked[0] = renewed
        facts.verdict = ChainVerdict(result: .ok, chain: facts.linked)
        #expect(judge(.publicKey, [StatedFacts.leaf], facts) == .accepted)
        let refusal = judge(.certificate, [StatedFacts.leaf], facts).refusal
        #expect(refusal?.step == .certificatePins && refusal?.advice.contains("renewed") ?? false)
        #expect(judge(.certificate, [StatedFacts.intermediate], facts) == .accepted)
    }

    @Test(
        "AF-198 an expired certificate has its own code; where invalid is allowed the pinned key counts",
        arguments: [
            (10, SessionError.Code.certificateHasBadDate), (9, .certificateNotYetValid),
            (18, .certificateHasUnknownRoot), (19, .certificateHasUnknownRoot),
            (20, .certificateHasUnknownRoot),
            (21, .certificateHasUnknownRoot), (62, .certificateUntrusted), (7, .certificateUntrusted),
        ])
    func codes(_ number: Int, _ code: SessionError.Code) {
        for mode in SecurityPolicy.PinningMode.allCases {
            let refusal = judge(mode, [StatedFacts.leaf], broken(number)).refusal
            #expect(refusal?.step == .chain && refusal?.code == code && refusal?.verifyResult == number)
        }
        #expect(judge(.publicKey, [StatedFacts.leaf], allowInvalid: true, broken(number)) == .accepted)
    }

    @Test("a pinned certificate that is merely sent along proves nothing", arguments: [true, false])
    func sentAlong(_ allowInvalid: Bool) {
        var facts = StatedFacts()
        facts.presented.append(Self.stranger)
        let refusal = judge(.publicKey, [Self.stranger], allowInvalid: allowInvalid, facts).refusal
        #expect(refusal?.step == .keyPins && refusal?.message.contains("no signatures lead to it") ?? false)
    }

    @Test("however many certificates with a pinned key are sent along, few are verified")
    func flood() {
        var facts = StatedFacts()
        facts.presented += Array(repeating: Self.stranger, count: 300)
        facts.presented.append(StatedFacts.root)
        facts.verdict = ChainVerdict(result: .ok, chain: [StatedFacts.leaf, StatedFacts.intermediate])
        #expect(judge(.publicKey, [Self.stranger, StatedFacts.root], facts).refusal?.step == .keyPins)
    }

    @Test("a chain valid against the pins that holds none of them byte for byte is refused")
    func otherBytes() {
        var facts = StatedFacts().pinning([Self.stranger])
        facts.pinned = ChainVerdict(result: .ok, chain: StatedFacts.chain)
        let policy = SecurityPolicy(pinningMode: .certificate, pinnedCertificates: [Self.stranger.der])
        #expect(policy.judge(facts).refusal?.step == .certificatePins)
    }

    @Test("a wrong pin explains itself: what came, what is pinned, what to do")
    func explanation() throws {
        let refusal = try #require(judge(.publicKey, [Self.stranger]).refusal)
        let leafPin = try #require(StatedFacts.leaf.pin), pin = try #require(Self.stranger.pin)
        #expect(
            refusal.message.hasPrefix(
                "host.example presented the keys \(leafPin) (CN=\"host.example\"), sha256//"))
        #expect(refusal.message.hasSuffix("; the policy pins \(pin)"))
        #expect(refusal.advice.contains("renewed with another key, add its pin"))
        #expect(refusal.peer.certificates == StatedFacts().presented && refusal.peer.host == "host.example")
    }

    @Test("what is wrong with a chain is said with the certificate, the day and the clock")
    func sentences() {
        let past = StatedFacts.certificate(
            1, "host.example\u{7}", issuer: "Old", notAfter: Date(timeIntervalSince1970: 1_750_000_000))
        let sentence: (Int) -> String = {
            judge(.none, [], broken($0, chain: [past])).refusal?.description ?? ""
        }
        #expect(
            sentence(10).contains("CN=\"host.example\\u{7}\" of host.example expired on 2025-06-15; renew it")
        )
        #expect(sentence(10).contains("it says 2027-01-15"))
        #expect(sentence(9).contains("is not valid before 2023-11-14; check this device's clock"))
        #expect(sentence(18).contains("self-signed"))
        #expect(sentence(20).contains("signed by \"Old\", which is neither trusted nor sent along"))
        #expect(sentence(7).contains("text 7"))
    }

    @Test("a server that sends nothing readable is refused without a crash")
    func nothing() {
        var facts = broken(20, chain: [])
        facts.presented = []
        for mode in SecurityPolicy.PinningMode.allCases {
            #expect(judge(mode, [Self.stranger], facts).refusal?.step == .chain)
            #expect(judge(mode, [Self.stranger], allowInvalid: true, facts).refusal != nil)
        }
    }
}
