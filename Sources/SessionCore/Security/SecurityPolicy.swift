// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Which servers are trusted, and how this client shows who it is.
///
/// The default verifies the server's chain against the system's authorities and its name against the host, with at least
/// TLS 1.2. Pins narrow that down:
///
///     var policy = try SecurityPolicy(pins: "sha256//…", "sha256//…")          // the key in use and a backup
///     let policy = try SecurityPolicy(pinningMode: .certificate, certificatesInFile: "/etc/device/ca.pem")
///
/// What is checked, in this order:
/// 1. Invalid certificates allowed, names validated and nothing pinned: refused, for a name says nothing on a chain that anybody may have made.
/// 2. Mode none: the chain and the name must be valid, unless invalid certificates are allowed.
/// 3. With pins the chain and the name must be valid too, unless invalid certificates are allowed.
/// 4. Mode certificate: the chain must be valid with the pinned certificates as its only anchors, and hold one of them.
/// 5. Mode public key: a certificate of the chain has a pinned key, and the signatures lead from the server's certificate
///    to it (a certificate that a server merely sends along proves nothing).
///
/// In modes with pins the name is checked even where invalid certificates are allowed; only ``validatesDomainName``
/// switches that off. No match, or nothing pinned in a mode with pins, is a refusal. Revocation is not checked: neither
/// OCSP nor lists.
///
/// With libcurl on OpenSSL 3 all of it works. On other TLS libraries there is mode none, and mode public key with
/// ``pinnedKeys`` for the server's own key; a policy that asks for more is refused when a session starts.
public struct SecurityPolicy: Sendable, Equatable, Codable {
    /// What servers are compared with.
    public let pinningMode: PinningMode
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

    /// The default policy with pins in the way of this mode.
    public init(pinningMode: PinningMode = .none, pinnedCertificates: some Sequence<Data> = []) {
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
    /// Throws ``SessionError/Code/noPermissionsToReadFile`` and ``SessionError/Code/cannotOpenFile`` with the path.
    public init(pinningMode: PinningMode, certificatesInFile path: String) throws(SessionError) {
        self.init(
            pinningMode: pinningMode, pinnedCertificates: try CertificateFiles.certificates(inFile: path))
    }

    /// A policy that pins the certificates of all `.cer`, `.crt`, `.der` and `.pem` files of a directory.
    ///
    /// Throws as for one file; one unusable file is an error, for a pin that is silently missing would be found out
    /// on the day it is needed.
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
