// SPDX-License-Identifier: Apache-2.0

extension TrustRefusal {
    static func nameWithoutPins(_ peer: PeerTrust) -> TrustRefusal {
        TrustRefusal(
            .nameWithoutPins,
            "the policy allows invalid certificates and validates names, but pins nothing: the name of "
                + "\(peer.host) cannot be validated on a chain that an attacker may have made",
            advice: "pin the server's certificate or key, or switch validatesDomainName off", peer: peer)
    }

    static func noPins(_ mode: SecurityPolicy.PinningMode, _ peer: PeerTrust) -> TrustRefusal {
        TrustRefusal(
            .noPins, "the policy's mode is \(mode) and it pins nothing usable, so no server can match",
            advice: mode == .certificate
                ? "give it certificates, or use mode publicKey for pins of keys"
                : "give it pins or certificates", peer: peer)
    }

    static func wrongName(_ peer: PeerTrust) -> TrustRefusal {
        let names = peer.certificates.first.map { $0.names.isEmpty ? [$0.subject] : $0.names } ?? []
        let shown = names.prefix(5).map { TextQuote($0).description }.joined(separator: ", ")
        return TrustRefusal(
            .name,
            "the certificate is for \(shown)\(names.count > 5 ? " and \(names.count - 5) more" : ""), "
                + "not for \(peer.host)",
            advice: "use a name that the certificate has, or renew it with this one", peer: peer)
    }

    static func chain(_ verdict: ChainVerdict, _ facts: some TrustFacts, _ peer: PeerTrust) -> TrustRefusal {
        let culprit = verdict.culprit ?? facts.presented.first
        let (sentence, advice) = explanation(verdict.result, of: culprit, facts, peer)
        return TrustRefusal(
            .chain, sentence, advice: advice, peer: peer, code: verdict.result.code,
            verifyResult: verdict.result.number)
    }

    private static func explanation(
        _ result: VerifyResult, of culprit: PeerCertificate?, _ facts: some TrustFacts, _ peer: PeerTrust
    ) -> (sentence: String, advice: String) {
        let title = culprit?.title ?? "a certificate", host = peer.host
        let clock = "check this device's clock: it says \(facts.now.day)"
        // The origin of a certificate says which side has to replace it.
        let index = culprit.flatMap { one in facts.presented.firstIndex { $0.der == one.der } }
        let (subject, renewal) =
            if culprit == nil || index == 0 {
                ("the certificate \(title) of \(host)", "renew it")
            } else if index != nil {
                ("the certificate \(title), which \(host) sends along,", "let the server send a current one")
            } else {
                (
                    "the authority \(title), to which the certificate of \(host) leads,",
                    "replace it among the trust roots or pins of this device"
                )
            }
        switch result.kind {
        case .expired:
            let end = culprit?.notAfter.map { " on \($0.day)" } ?? ""
            return ("\(subject) expired\(end)", "\(renewal); if it is new, \(clock)")
        case .notYetValid:
            let start = culprit?.notBefore.map { " before \($0.day)" } ?? " yet"
            return ("\(subject) is not valid\(start)", clock)
        case .selfSigned:
            return (
                "\(host) has a self-signed certificate, \(title), that is not trusted",
                "add it to the trust roots, or pin it and allow invalid certificates"
            )
        case .untrustedRoot:
            return (
                "the chain of \(host) ends at \(title), which is not trusted",
                "add that authority to the trust roots, or pin it and allow invalid certificates"
            )
        case .issuerMissing:
            let issuer = culprit.map { TextQuote($0.issuer).description } ?? "its issuer"
            return (
                "the certificate \(title) of \(host) is signed by \(issuer), which is neither trusted nor sent along",
                "add that authority to the trust roots, or let the server send its intermediate certificates"
            )
        case .valid, .wrongName, .other:
            return (
                "the chain of \(host) is not valid: \(result.text.isEmpty ? "error \(result.number)" : result.text)",
                "look at the certificate \(title)"
            )
        }
    }

    static func certificatePins(
        _ policy: SecurityPolicy, _ verdict: ChainVerdict, _ facts: some TrustFacts, _ peer: PeerTrust
    ) -> TrustRefusal {
        let pinned = policy.pinnedCertificates.compactMap { CertificateContents($0) }
        let names = list(pinned.map { "CN=\(TextQuote($0.subject))" })
        let shown = list(peer.certificates.map(\.title))
        switch verdict.result.kind {
        // These say something of their own: a pin was found, and what leads to it is out of date.
        case .expired, .notYetValid:
            let (sentence, advice) = explanation(
                verdict.result, of: verdict.culprit ?? facts.presented.first, facts, peer)
            return TrustRefusal(
                .certificatePins, sentence, advice: advice, peer: peer, code: verdict.result.code,
                verifyResult: verdict.result.number)
        default:
            return TrustRefusal(
                .certificatePins,
                "\(peer.host) presented \(shown), and none of the pinned certificates is in that chain: \(names)",
                advice:
                    "if the certificate was renewed, pin the new one, or better its authority or its key; "
                    + "if not, the connection may be intercepted",
                peer: peer, verifyResult: verdict.result.number)
        }
    }

    static func keyPins(_ facts: some TrustFacts, _ peer: PeerTrust) -> TrustRefusal {
        let shown = list(
            peer.certificates.map { "\($0.pin?.description ?? "an unreadable key") (\($0.title))" })
        let pinned = list(facts.pinnedKeys.map(\.description).sorted())
        let isSentAlong = peer.certificates.contains { $0.pin.map(facts.pinnedKeys.contains) ?? false }
        return TrustRefusal(
            .keyPins,
            isSentAlong
                ? "\(peer.host) sent a certificate with a pinned key, but no signatures lead to it from the server's own: it presented \(shown)"
                : "\(peer.host) presented the keys \(shown); the policy pins \(pinned)",
            advice: isSentAlong
                ? "the connection may be intercepted"
                : "if the certificate was renewed with another key, add its pin; if not, the connection may be intercepted",
            peer: peer)
    }

    private static func list(_ items: [String]) -> String {
        items.isEmpty
            ? "nothing"
            : items.prefix(6).joined(separator: ", ")
                + (items.count > 6 ? " and \(items.count - 6) more" : "")
    }
}
