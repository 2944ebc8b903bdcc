// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Which servers are trusted, and how this client identifies itself.
///
/// The default verifies the server's chain against the system's authorities and its name against the host,
/// with at least TLS 1.2. Pins narrow that down:
///
///     var policy = try SecurityPolicy(pins: "sha256//…", "sha256//…")  // the key in use, and a backup
///     policy = try SecurityPolicy(pinningMode: .certificate, certificatesInFile: "/etc/device/server.pem")
///     policy.trustRoots = .systemAnd(.file("/etc/device/ca.pem"))  // an authority of your own
///
/// What is checked, in this order:
/// 1. Invalid certificates allowed, names validated, nothing pinned: refused, as a name alone proves nothing.
/// 2. Mode none: the chain and the name must be valid, unless invalid certificates are allowed.
/// 3. With pins the chain and the name must be valid too, unless invalid certificates are allowed.
/// 4. Mode certificate: the chain must hold a pinned certificate and be valid with these as only anchors.
/// 5. Mode public key: a certificate of the chain has a pinned key, and the signatures lead from the server's
///   certificate to it (a certificate that a server merely sends along proves nothing).
///
/// In modes with pins the name is checked even where invalid certificates are allowed; only
/// ``validatesDomainName`` switches that off. No match, or nothing pinned in a mode with pins, is a refusal.
/// Revocation is not checked: neither OCSP nor lists.
///
/// With libcurl on OpenSSL 3 all of it works. Other TLS libraries have mode none, and mode public key with
/// ``pinnedKeys`` for the server's own key; sessions refuse policies that ask for more.
public struct SecurityPolicy: Sendable, Equatable, Codable, Configurable {
    /// What servers are compared with.
    public var pinningMode: PinningMode
    /// Pinned certificates in DER form: anchors of mode certificate; of mode public key their keys.
    ///
    /// In mode public key, blobs out of which no key can be read are skipped.
    public var pinnedCertificates: Set<Data> = []
    /// Pinned keys of mode public key, beside those of ``pinnedCertificates``; any one suffices.
    public var pinnedKeys: Set<PublicKeyPin> = []
    /// Whether a chain may be expired, self-signed or from an unknown authority; false.
    public var allowInvalidCertificates = false
    /// Whether the server's certificate must be for the host that was asked for; true.
    public var validatesDomainName = true
    /// The oldest version of TLS that is spoken; TLS 1.2.
    ///
    /// A system's own settings may be stricter.
    public var minimumTLSVersion = TLSVersion.tls1_2
    /// Whose signatures make a chain valid; the system's authorities.
    public var trustRoots = TrustRoots.system
    /// The certificate and key to show to servers that ask for one; nil.
    public var clientIdentity: ClientIdentity?

    /// The default policy: no pins.
    public init() { pinningMode = .none }

    /// The default policy with pins in the way of this mode.
    public init(pinningMode: PinningMode, pinnedCertificates: some Sequence<Data> = []) {
        self.pinningMode = pinningMode
        self.pinnedCertificates = Set(pinnedCertificates)
    }

    /// The default policy: no pins.
    public static var `default`: SecurityPolicy { SecurityPolicy() }

    /// A policy that pins keys; give the one in use and a backup for the next.
    public init(pinnedKeys: Set<PublicKeyPin>) {
        self.init(pinningMode: .publicKey)
        self.pinnedKeys = pinnedKeys
    }

    /// A policy that pins keys, written `sha256//BASE64`.
    ///
    /// Throws ``SessionError/Code/invalidSecurityPolicy`` for a text that is no pin.
    public init(pins first: String, _ others: String...) throws(SessionError) {
        var keys: Set<PublicKeyPin> = []
        for pin in [first] + others { keys.formUnion(try PublicKeyPin.list(pin)) }
        self.init(pinnedKeys: keys)
    }

    /// A policy that pins the certificates of a file in PEM or DER form.
    ///
    /// Throws ``SessionError/Code/noPermissionsToReadFile`` and ``SessionError/Code/cannotOpenFile``.
    public init(pinningMode: PinningMode, certificatesInFile path: String) throws(SessionError) {
        self.init(
            pinningMode: pinningMode, pinnedCertificates: try CertificateFiles.certificates(inFile: path))
    }

    /// A policy that pins the certificates of all `.cer`, `.crt`, `.der` and `.pem` files of a directory.
    ///
    /// Throws as for one file; one unusable file is an error, so that no pin is silently missing.
    public init(pinningMode: PinningMode, certificatesInDirectory path: String) throws(SessionError) {
        self.init(
            pinningMode: pinningMode, pinnedCertificates: try CertificateFiles.certificates(inDirectory: path)
        )
    }

    /// When the pinned certificates expire, soonest first: for warnings before a device locks itself out.
    ///
    /// Blobs that are no certificates are left out.
    public var pinnedExpiries: [CertificateExpiry] {
        pinnedCertificates.compactMap { CertificateContents($0) }
            .map { CertificateExpiry(subject: $0.subject, notAfter: $0.notAfter) }
            .sorted { $0.notAfter < $1.notAfter }
    }
}

/// When a certificate ends.
public struct CertificateExpiry: Sendable, Equatable {
    /// The common name of the certificate.
    public let subject: String
    /// Until when it is valid.
    public let notAfter: Date

    /// Whole days left, rounded down; negative after the end.
    public func daysLeft(at now: Date) -> Int {
        Int((notAfter.timeIntervalSince(now) / 86_400).rounded(.down))
    }
}

extension SecurityPolicy {
    /// What a server is compared with, beside the ordinary verification of its chain.
    public enum PinningMode: Int, Sendable, Codable, CaseIterable, CustomStringConvertible {
        /// Nothing: the trust roots decide.
        case none = 0
        /// Some certificate of the chain has a pinned key. Survives renewals that keep the key.
        case publicKey = 1
        /// The chain leads to a pinned certificate, its only anchor. Does not survive that one's renewal.
        case certificate = 2

        /// The name of the mode.
        public var description: String {
            switch self {
            case .none: "none"
            case .publicKey: "publicKey"
            case .certificate: "certificate"
            }
        }
    }
    /// Whether a server that the policy accepts is the URL's own: by its chain or a pin, and by its name.
    package var provesServers: Bool {
        validatesDomainName && (pinningMode != .none || !allowInvalidCertificates)
    }

    /// Whether a manager with this base URL may have the policy.
    ///
    /// Pins on plain http, or on no base at all, would protect nothing while seeming to: throws
    /// ``SessionError/Code/invalidSecurityPolicy``.
    package func validate(forBaseURL base: URL?) throws(SessionError) {
        guard pinningMode != .none, base?.scheme?.lowercased() != "https" else { return }
        let address = base.map { TextQuote($0.textWithoutUser).description } ?? "none"
        throw SessionError(
            .invalidSecurityPolicy,
            "Invalid Security Policy: pinning mode \(pinningMode) needs a base URL with https; the base URL is \(address)",
            advice: "use an https base URL or pinning mode none", domain: .security, failingURL: base)
    }
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
        // Even with invalid certificates allowed: a pin says which authority or key, not which server of it.
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
