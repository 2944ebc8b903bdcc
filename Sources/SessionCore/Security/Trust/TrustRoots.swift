// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Whose signatures make a server's chain valid.
public enum TrustRoots: Sendable, Equatable, Codable {
    /// The system's authorities, as libcurl was built to find them; a change counts after ten minutes.
    case system
    /// These alone: a server with a certificate from a public authority is refused.
    case only(Source)
    /// These beside the system's. Needs libcurl with OpenSSL.
    case systemAnd(Source)

    /// Where certificates of authorities are.
    public enum Source: Sendable, Equatable, Codable {
        /// The path of a file with certificates in PEM form (or one in DER form), read when a session starts.
        case file(String)
        /// The path of a directory with `.pem`, `.crt`, `.cer` and `.der` files, read when a session starts;
        /// no hashed names needed.
        case directory(String)
        /// Certificates in DER form.
        case certificates([Data])

        /// The certificates in DER form; throws as ``CertificateFiles`` does for unreadable files.
        package func load() throws(SessionError) -> [Data] {
            switch self {
            case .file(let path): try CertificateFiles.certificates(inFile: path)
            case .directory(let path): try CertificateFiles.certificates(inDirectory: path)
            case .certificates(let blobs): blobs
            }
        }
    }
}

/// Trust roots of a policy that are not valid at a moment.
///
/// OpenSSL reports that a certificate of the chain is outdated, not which. It looks at the root first
/// (internal_verify(), crypto/x509/x509_vfy.c), so where all roots are outdated it is one of them.
package struct OutdatedRoots: Sendable {
    private let outdated: [CertificateContents]
    private let areAll: Bool
    private let path: String?
    private let now: Date

    /// Nil where none is outdated, or they cannot be read.
    package init?(_ source: TrustRoots.Source, at now: Date) {
        guard let certificates = try? source.load().compactMap(CertificateContents.init) else { return nil }
        outdated = certificates.filter { now < $0.notBefore || $0.notAfter < now }
        guard !outdated.isEmpty else { return nil }
        areAll = outdated.count == certificates.count
        self.now = now
        path =
            switch source {
            case .file(let path), .directory(let path): path
            case .certificates: nil
            }
    }

    /// What is wrong and what to do; nil where no root is outdated in that way.
    func reason(_ kind: VerifyResult.Kind, host: String) -> (sentence: String, advice: String)? {
        let isExpired = kind == .expired
        guard let root = outdated.first(where: { isExpired ? $0.notAfter < now : now < $0.notBefore })
        else { return nil }
        let title = root.subject.isEmpty ? "a certificate without a name" : "CN=\(TextQuote(root.subject))"
        let origin = path.map { "in \(TextQuote($0))" } ?? "among the trust roots"
        let target = path.map { "in \(TextQuote($0))" } ?? "there"
        let what = isExpired ? "expired on \(root.notAfter.day)" : "is not valid before \(root.notBefore.day)"
        let clock = "check this device's clock: it says \(now.day)"
        if areAll {
            return (
                "the authority \(title) \(origin), to which the certificate of \(host) leads, \(what)",
                "put the authority's current certificate \(target); if it is current, \(clock)"
            )
        }
        return (
            "a certificate between \(host) and the authority that it leads to is not valid now; \(title) \(origin) \(what)",
            "put the authority's current certificate \(target); if that is current, have the server's renewed, or \(clock)"
        )
    }
}
