// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// What a server showed of itself: what a delegate decides upon, and what an error reports.
public struct PeerTrust: Sendable, Equatable {
    /// The host that was asked for.
    public let host: String
    /// The certificates that the server sent, its own first; nothing about them has been verified.
    public let certificates: [PeerCertificate]

    package init(host: String, certificates: [PeerCertificate]) {
        self.host = host
        self.certificates = certificates
    }

    /// When each certificate ends, in the server's order.
    public var expiries: [CertificateExpiry] {
        certificates.compactMap { certificate in
            certificate.notAfter.map { CertificateExpiry(subject: certificate.subject, notAfter: $0) }
        }
    }
}

/// A certificate out of a server's chain.
public struct PeerCertificate: Sendable, Equatable {
    /// The certificate in DER form.
    public let der: Data
    /// The pin of its key; nil where no key can be read.
    public let pin: PublicKeyPin?
    /// The common name of its owner, else the organisation: untrusted text, may be empty.
    public let subject: String
    /// The common name of the issuer.
    public let issuer: String
    /// The DNS names and addresses that it is for.
    public let names: [String]
    /// From when on it is valid; nil where that cannot be read.
    public let notBefore: Date?
    /// Until when it is valid; nil where that cannot be read.
    public let notAfter: Date?

    /// A certificate and the hash of its key that another part makes.
    package init(_ der: Data, sha256: (Data) -> PublicKeyPin?) {
        let contents = CertificateContents(der)
        self.der = der
        pin = contents.flatMap { sha256($0.publicKeyInfo) }
        subject = contents?.subject ?? ""
        issuer = contents?.issuer ?? ""
        names = contents?.names ?? []
        notBefore = contents?.notBefore
        notAfter = contents?.notAfter
    }

    package init(
        der: Data, pin: PublicKeyPin?, subject: String = "", issuer: String = "", names: [String] = [],
        notBefore: Date? = nil, notAfter: Date? = nil
    ) {
        self.der = der
        self.pin = pin
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// The name for messages.
    var title: String { subject.isEmpty ? "a certificate without a name" : "CN=\(TextQuote(subject))" }
}
