// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// Certificates from files, in DER or PEM form whatever the name says.
package enum CertificateFiles {
    private static let endings = [".cer", ".crt", ".der", ".pem"]
    /// More than every root of the world in one file; what is larger is something else.
    private static let largestFile = 16 << 20

    /// The certificates of one file, in DER form, at least one.
    package static func certificates(inFile path: String) throws(SessionError) -> [Data] {
        let content = try content(ofFile: path)
        if let certificate = CertificateContents(content) { return [certificate.der] }
        guard let blocks = PEM.certificates(String(decoding: content, as: UTF8.self)), !blocks.isEmpty else {
            throw unusable(path, "it holds no certificate in PEM or DER form")
        }
        if let broken = blocks.firstIndex(where: { CertificateContents($0) == nil }) {
            throw unusable(path, "block \(broken + 1) of \(blocks.count) is no X.509 certificate")
        }
        return blocks
    }

    /// The content of a file that is of a kind and size to be read.
    package static func content(ofFile path: String) throws(SessionError) -> Data {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        do {
            // Asked first: a directory, a device or a pipe of this name must not block or fill the memory.
            let target = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
            let attributes = try FileManager.default.attributesOfItem(atPath: target)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw unusable(path, "it is no regular file")
            }
            // The one type where the whole of Foundation is linked, the other where only its essentials are.
            let size = attributes[.size] as? UInt64 ?? (attributes[.size] as? UInt).map { UInt64($0) } ?? 0
            // Also because Foundation leaks 4 KiB with each empty file that it reads.
            guard size > 0 else { throw unusable(path, "it is empty") }
            guard size <= largestFile else { throw unusable(path, "it is larger than 16 MiB") }
            return try Data(contentsOf: URL(filePath: path))
        } catch let error as SessionError {
            throw error
        } catch {
            throw SessionError(
                .noPermissionsToReadFile, "the certificate file \(TextQuote(path)) cannot be read",
                advice: "check that it exists and that this user may read it", domain: .security,
                underlying: error)
        }
    }

    /// The certificates of a directory's `.cer`, `.crt`, `.der` and `.pem` files, sorted by name.
    package static func certificates(inDirectory path: String) throws(SessionError) -> [Data] {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw SessionError(
                .noPermissionsToReadFile, "the directory of certificates \(TextQuote(path)) cannot be read",
                advice: "check that it exists and that this user may read it", domain: .security,
                underlying: error)
        }
        var certificates: [Data] = []
        for name in names.sorted() where endings.contains(where: { name.lowercased().hasSuffix($0) }) {
            certificates += try self.certificates(inFile: "\(path)/\(name)")
        }
        return certificates
    }

    private static func unusable(_ path: String, _ reason: String) -> SessionError {
        SessionError(
            .cannotOpenFile, "the certificate file \(TextQuote(path)) is unusable: \(reason)",
            advice: "remove it or put a certificate there", domain: .security)
    }
}

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

    /// Whether a text has a private key that a passphrase protects: PKCS #8 (RFC 7468 §11), or what OpenSSL
    /// wrote before, with the header of RFC 1421 §4.6.1.1.
    package static func hasEncryptedKey(_ text: String) -> Bool {
        text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { line in
            let line = Substring(line).trimmingBlanks
            return line == "-----BEGIN ENCRYPTED PRIVATE KEY-----" || line == "Proc-Type: 4,ENCRYPTED"
        }
    }

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
