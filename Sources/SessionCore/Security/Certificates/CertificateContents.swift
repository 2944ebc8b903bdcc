// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// What the project reads of an X.509 certificate (RFC 5280 §4.1): key, validity, names.
///
/// Only reads. Whether signatures, extensions and names are good is verified by the TLS library.
package struct CertificateContents: Sendable, Equatable {
    /// The certificate, byte for byte.
    package let der: Data
    /// The SubjectPublicKeyInfo in DER form: what pins hash.
    package let publicKeyInfo: Data
    /// From when on it is valid.
    package let notBefore: Date
    /// Until when it is valid.
    package let notAfter: Date
    /// The common name of its owner, else the organisation; empty where there is neither.
    package let subject: String
    /// The same of the issuer.
    package let issuer: String
    /// DNS names and addresses of the subjectAltName extension (§4.2.1.6), at most 100.
    package let names: [String]

    /// Reads a certificate; nil for bytes which are none, or which more bytes follow.
    package init?(_ der: Data) {
        let bytes = [UInt8](der)
        var outer = DERReader(bytes)
        guard var certificate = outer.enter(DERTag.sequence), outer.isAtEnd,
            var body = certificate.enter(DERTag.sequence),
            certificate.next(DERTag.sequence) != nil, certificate.next(DERTag.bitString) != nil,
            certificate.isAtEnd
        else { return nil }
        _ = body.next(DERTag.explicit(0))
        guard body.next(DERTag.integer) != nil, body.next(DERTag.sequence) != nil,
            let issuer = body.next(DERTag.sequence), var validity = body.enter(DERTag.sequence),
            let notBefore = validity.next().flatMap({ DERTime.date($0, in: bytes) }),
            let notAfter = validity.next().flatMap({ DERTime.date($0, in: bytes) }), validity.isAtEnd,
            let subject = body.next(DERTag.sequence), let key = body.next(DERTag.sequence)
        else { return nil }
        _ = body.next(0x81)
        _ = body.next(0x82)
        _ = body.next(0xA1)
        _ = body.next(0xA2)
        var names: [String] = []
        if var wrapper = body.enter(DERTag.explicit(3)) {
            guard let extensions = wrapper.enter(DERTag.sequence) else { return nil }
            names = DERNames.alternativeNames(extensions)
        }
        guard body.isAtEnd else { return nil }
        self.der = Data(bytes)
        publicKeyInfo = Data(bytes[key.whole])
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.subject = DERNames.commonName(DERReader(bytes, subject.content))
        self.issuer = DERNames.commonName(DERReader(bytes, issuer.content))
        self.names = names
    }
}
