// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// Certificates as text (RFC 7468).
package enum PEM {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// The DER form of every certificate of a text; text around them and other kinds of blocks are skipped.
    ///
    /// Nil if a block is not closed or is no base64.
    package static func certificates(_ text: String) -> [Data]? {
        var found: [Data] = []
        var block: String?
        // Any line ending, a lone CR too: files come from all kinds of systems.
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = String(Substring(line).trimmingBlanks)
            if line == begin {
                guard block == nil else { return nil }
                block = ""
            } else if line == end {
                guard let body = block, let der = Data(base64Encoded: body), !der.isEmpty else { return nil }
                found.append(der)
                block = nil
            } else {
                block?.append(line)
            }
        }
        return block == nil ? found : nil
    }

    /// Whether a text has a private key that a passphrase protects: PKCS #8 (RFC 7468 §11), or what OpenSSL wrote before, with the header
    /// of RFC 1421 §4.6.1.1.
    package static func hasEncryptedKey(_ text: String) -> Bool {
        text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { line in
            let line = Substring(line).trimmingBlanks
            return line == "-----BEGIN ENCRYPTED PRIVATE KEY-----" || line == "Proc-Type: 4,ENCRYPTED"
        }
    }

    /// The text of certificates.
    package static func text(_ certificates: some Sequence<Data>) -> String {
        var text = ""
        for certificate in certificates {
            text += "\(begin)\n"
            var rest = Substring(certificate.base64EncodedString())
            while !rest.isEmpty {
                text += "\(rest.prefix(64))\n"
                rest = rest.dropFirst(64)
            }
            text += "\(end)\n"
        }
        return text
    }
}
