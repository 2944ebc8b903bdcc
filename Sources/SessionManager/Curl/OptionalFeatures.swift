// SPDX-License-Identifier: Apache-2.0

import CCurl
import CLinux
import FoundationEssentials
import Glibc
import SessionCore

/// What a configuration asks of libcurl that a build may lack; an error names what is missing.
struct OptionalFeatures {
    /// The server that looks names up by https.
    private let resolver: String?
    /// The file of alternative services; empty for none.
    private let alternatives: String?
    private let versions: Int
    private let hasHTTP3: Bool

    /// - Throws: before anything is sent, where this libcurl lacks a feature, or a setting cannot be used.
    init(_ configuration: SessionConfiguration, _ library: CurlLibrary) throws(SessionError) {
        resolver = configuration.dnsOverHTTPS
        alternatives = configuration.alternativeServices
        hasHTTP3 = library.hasHTTP3
        versions = Int(CURLALTSVC_H1 | CURLALTSVC_H2 | (library.hasHTTP3 ? CURLALTSVC_H3 : 0))
        if let resolver { try Self.check(resolver: resolver) }
        guard let alternatives else { return }
        if !library.hasAlternativeServices { throw Self.missing("an alternative service (Alt-Svc)") }
        if !alternatives.isEmpty { try Self.check(file: alternatives) }
    }

    /// libcurl reads it on the loop's thread, which a pipe would stop, and takes what it cannot read for an
    /// empty one.
    private static func check(file path: String) throws(SessionError) {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw FileFailure.cannotRead(path, errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SessionError(
                .cannotOpenFile, "\(path) is no regular file",
                advice: "name a file for the alternative services")
        }
        guard access(path, R_OK) == 0 else { throw FileFailure.cannotRead(path, errno) }
    }

    private static func check(resolver: String) throws(SessionError) {
        let url = try URL(spoken: resolver)
        guard Origin(url)?.isSecure == true else {
            throw SessionError(
                .unsupportedURL, "names can be looked up by https alone, not at \(TextQuote(resolver))",
                advice: "write the server's address as https://HOST/dns-query")
        }
    }

    /// Whether a transfer can be carried out as it wants.
    func check(_ transfer: Transfer) throws(SessionError) {
        guard transfer.options.maximumHTTPVersion == .http3, !hasHTTP3 else { return }
        throw Self.missing("HTTP/3").with(failingURL: transfer.request.url)
    }

    /// Sets the options of an easy handle (`CURL *`).
    ///
    /// - Parameter isFirst: of all handles the first alone writes the file of alternative services: each has
    ///   a list of its own, and that one serves most transfers.
    func configure(_ easy: UnsafeMutableRawPointer, isFirst: Bool) throws(SessionError) {
        if let resolver {
            // The server is verified whatever the policy permits: both options of that are on by default.
            let code = resolver.withCString { ccurl_set_string(easy, CURLOPT_DOH_URL, $0) }
            try Self.check(code, "looking names up by https")
        }
        guard let alternatives else { return }
        let control = versions | (isFirst ? 0 : Int(CURLALTSVC_READONLYFILE))
        try Self.check(ccurl_set_long(easy, CURLOPT_ALTSVC_CTRL, control), "an alternative service (Alt-Svc)")
        guard !alternatives.isEmpty else { return }
        let code = alternatives.withCString { ccurl_set_string(easy, CURLOPT_ALTSVC, $0) }
        try Self.check(code, "an alternative service (Alt-Svc)")
    }

    private static func check(_ code: CURLcode, _ feature: String) throws(SessionError) {
        guard code != CURLE_OK else { return }
        if code == CURLE_OUT_OF_MEMORY {
            throw SessionError(.outOfResources, "libcurl has no memory for another transfer")
        }
        throw missing(feature)
    }

    /// libcurl was built without something.
    static func missing(_ feature: String) -> SessionError {
        let version = ccurl_version().pointee.version.map { String(cString: $0) } ?? ""
        return SessionError(
            .missingLibrary, "\(feature) needs a libcurl that was built with it; libcurl \(version) is not",
            advice: "install such a libcurl, or leave the setting out")
    }
}
