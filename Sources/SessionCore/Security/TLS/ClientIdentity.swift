// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The certificate and key by which a client identifies itself to a server (mutual TLS).
///
/// An archive of it holds the passphrase and keys given as bytes: keep it safe. Descriptions show neither.
public enum ClientIdentity: Sendable, Equatable, Codable, CustomStringConvertible {
    /// A certificate, with its intermediates behind it, and a key, both in PEM form.
    ///
    /// The key may be nil where the certificate's file holds it too. A key that is encrypted needs its
    /// passphrase here: without one the transfer fails, for a terminal is never asked.
    case pem(certificate: Source, key: Source?, passphrase: String? = nil)
    /// Certificate and key in one PKCS #12 file (`.p12`, `.pfx`).
    case pkcs12(Source, passphrase: String? = nil)

    /// Where a part of an identity is.
    public enum Source: Sendable, Equatable, Codable, CustomStringConvertible {
        /// The path of a file; read by libcurl at each handshake, so a renewed file needs no restart.
        case file(String)
        /// The content of such a file.
        case data(Data)

        /// The path, or how many bytes there are.
        public var description: String {
            switch self {
            case .file(let path): path
            case .data(let bytes): "\(bytes.count) bytes"
            }
        }
    }

    /// What it is made of, without any secret.
    public var description: String {
        switch self {
        case .pem(let certificate, let key, _):
            "certificate \(certificate)" + (key.map { ", key \($0)" } ?? "")
        case .pkcs12(let source, _): "PKCS #12 \(source)"
        }
    }

    /// Whether the key is encrypted PEM, and there is no passphrase for it.
    ///
    /// False where the file cannot be read. PKCS #12 is always encrypted, often with an empty passphrase.
    package var lacksPassphrase: Bool {
        guard case .pem(let certificate, let key, nil) = self else { return false }
        switch key ?? certificate {
        case .data(let bytes): return PEM.hasEncryptedKey(String(decoding: bytes, as: UTF8.self))
        case .file(let path):
            guard let bytes = try? CertificateFiles.content(ofFile: path) else { return false }
            return PEM.hasEncryptedKey(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Every file that has to be readable.
    package var files: [String] {
        let sources: [Source?] =
            switch self {
            case .pem(let certificate, let key, _): [certificate, key]
            case .pkcs12(let source, _): [source]
            }
        return sources.compactMap { if case .file(let path) = $0 { path } else { nil } }
    }
}

extension ClientIdentity: CustomDebugStringConvertible, CustomReflectable {
    /// The same as ``description``: secrets stay out of logs and debuggers' dumps.
    public var debugDescription: String { description }
    /// Nothing: `dump` would print the passphrase.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
