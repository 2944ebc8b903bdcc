// SPDX-License-Identifier: Apache-2.0

/// The certificates of the test origin, new with each start.
package enum OriginCertificate: String, Sendable, CaseIterable {
    /// The root that clients trust.
    case root
    case intermediate
    /// For origin.test, localhost, 127.0.0.1 and ::1, as all leaves unless said otherwise.
    case leaf
    /// With the key of `leaf`.
    case renewed
    case rsa
    case expired
    case future
    /// For other.test.
    case wrongName = "wrong-name"
    case selfSigned = "self-signed"
    case selfSignedCN = "self-signed-cn"
    case nameless
    case otherRoot = "other-root"
    case otherLeaf = "other-leaf"
    /// The authority of clients.
    case clientRoot = "client-root"
    /// CN=device-1.
    case client
    /// A client of an unknown authority.
    case stranger
}

extension Origin {
    /// The password of the encrypted files.
    package static var password: String { "secret" }

    /// The file of a certificate, PEM.
    package func pem(_ certificate: OriginCertificate) -> String { "\(folder)/\(certificate.rawValue).pem" }
    /// The file of a certificate, DER.
    package func der(_ certificate: OriginCertificate) -> String { "\(folder)/\(certificate.rawValue).der" }
    /// A leaf and its intermediate, PEM.
    package func chain(_ certificate: OriginCertificate) -> String {
        "\(folder)/\(certificate.rawValue).chain.pem"
    }
    /// The file of a private key, PEM without a password.
    package func key(_ certificate: OriginCertificate) -> String { "\(folder)/\(certificate.rawValue).key" }
    /// The key of `client`, PEM with the password.
    package var encryptedClientKey: String { "\(folder)/client-encrypted.key" }
    /// The key of `client`, DER (PKCS#8).
    package var clientKeyDER: String { "\(folder)/client.key.der" }
    /// Certificate and key of `client`, PKCS#12 with the password.
    package var clientPKCS12: String { "\(folder)/client.p12" }
}
