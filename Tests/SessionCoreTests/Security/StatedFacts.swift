// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Facts of a handshake as a test states them: a chain of leaf, intermediate and root for `host.example`.
struct StatedFacts: TrustFacts {
    static let leaf = certificate(1, "host.example", issuer: "Intermediate", names: ["host.example"])
    static let intermediate = certificate(2, "Intermediate", issuer: "Root")
    static let root = certificate(3, "Root", issuer: "Root")
    static let chain = [leaf, intermediate, root]

    var host: String? = "host.example"
    var presented = [leaf, intermediate]
    var pinnedKeys: Set<PublicKeyPin> = []
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    var verdict = ChainVerdict(result: .ok, chain: chain)
    var pinned = ChainVerdict(result: .issuerMissing, chain: [leaf])
    var certificateNames = ["host.example"]
    /// What signatures lead to.
    var linked = chain

    func chainVerdict() -> ChainVerdict { verdict }
    func matchesHost() -> Bool { host.map(certificateNames.contains) ?? false }
    func pinnedVerdict() -> ChainVerdict { pinned }
    func isLinked(to certificate: PeerCertificate) -> Bool { linked.contains(certificate) }

    /// The same with the keys of certificates pinned, and what a verification anchored to them finds.
    func pinning(_ certificates: [PeerCertificate]) -> StatedFacts {
        var facts = self
        facts.pinnedKeys = Set(certificates.compactMap(\.pin))
        if let anchor = linked.firstIndex(where: certificates.contains) {
            facts.pinned = ChainVerdict(result: .ok, chain: Array(linked[...anchor]))
        }
        return facts
    }

    static func certificate(
        _ number: UInt8, _ subject: String, issuer: String, names: [String] = [], notAfter: Date? = nil
    ) -> PeerCertificate {
        PeerCertificate(
            der: Data([number]), pin: PublicKeyPin(sha256: [UInt8](repeating: number, count: 32)),
            subject: subject,
            issuer: issuer, names: names, notBefore: Date(timeIntervalSince1970: 1_700_000_000),
            notAfter: notAfter)
    }
}
