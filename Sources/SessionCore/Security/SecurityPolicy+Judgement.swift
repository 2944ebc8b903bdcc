// SPDX-License-Identifier: Apache-2.0

extension SecurityPolicy {
    /// A chain longer than this is not searched for pinned keys any further: each costs a verification.
    private static let longestSearch = 16

    /// Whether the policy trusts a server.
    package func judge(_ facts: some TrustFacts) -> TrustJudgement {
        let peer = PeerTrust(host: facts.host ?? "the server", certificates: facts.presented)
        let hasPins =
            pinningMode == .publicKey ? !facts.pinnedKeys.isEmpty : !pinnedCertificates.isEmpty
        let checksName = validatesDomainName && facts.host != nil

        if allowInvalidCertificates, checksName, pinningMode == .none || !hasPins {
            return .refused(.nameWithoutPins(peer))
        }
        if pinningMode == .none, allowInvalidCertificates { return .accepted }
        if pinningMode != .none, !hasPins { return .refused(.noPins(pinningMode, peer)) }

        var built: [PeerCertificate] = []
        if !allowInvalidCertificates {
            let verdict = facts.chainVerdict()
            guard verdict.result.isValid else { return .refused(.chain(verdict, facts, peer)) }
            built = verdict.chain
        }
        // Also where invalid certificates are allowed: a pin says which authority or key, not which of its servers.
        if checksName, !facts.matchesHost() { return .refused(.wrongName(peer)) }

        switch pinningMode {
        case .none: return .accepted
        case .certificate: return judgeCertificates(facts, peer)
        case .publicKey: return judgeKeys(facts, built, peer)
        }
    }

    private func judgeCertificates(_ facts: some TrustFacts, _ peer: PeerTrust) -> TrustJudgement {
        let verdict = facts.pinnedVerdict()
        let isPinned = verdict.chain.reversed().contains { pinnedCertificates.contains($0.der) }
        return verdict.result.isValid && isPinned
            ? .accepted : .refused(.certificatePins(self, verdict, facts, peer))
    }

    /// A server can send certificates of others along, so that they have a pinned key is not enough.
    private func judgeKeys(_ facts: some TrustFacts, _ built: [PeerCertificate], _ peer: PeerTrust)
        -> TrustJudgement
    {
        let isPinned: (PeerCertificate) -> Bool = { $0.pin.map(facts.pinnedKeys.contains) ?? false }
        if built.contains(where: isPinned) { return .accepted }
        let candidates = facts.presented.lazy.filter(isPinned).prefix(Self.longestSearch)
        return candidates.contains(where: facts.isLinked(to:)) ? .accepted : .refused(.keyPins(facts, peer))
    }
}
