// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Whose signatures make a server's chain valid.
public enum TrustRoots: Sendable, Equatable, Codable {
    /// The system's certificate authorities, as libcurl was built to find them; a change of theirs is heeded after ten minutes.
    case system
    /// These alone: a server with a certificate from a public authority is refused.
    case only(Source)
    /// These beside the system's. Needs libcurl with OpenSSL.
    case systemAnd(Source)

    /// Where certificates of authorities are.
    public enum Source: Sendable, Equatable, Codable {
        /// The path of a file with certificates in PEM form (or one in DER form), read when a session starts.
        case file(String)
        /// The path of a directory with `.pem`, `.crt`, `.cer` and `.der` files, read when a session starts; no hashed names needed.
        case directory(String)
        /// Certificates in DER form.
        case certificates([Data])

        /// The certificates in DER form.
        ///
        /// Throws what ``CertificateFiles`` throws for unreadable files.
        package func load() throws(SessionError) -> [Data] {
            switch self {
            case .file(let path): try CertificateFiles.certificates(inFile: path)
            case .directory(let path): try CertificateFiles.certificates(inDirectory: path)
            case .certificates(let blobs): blobs
            }
        }
    }
}
