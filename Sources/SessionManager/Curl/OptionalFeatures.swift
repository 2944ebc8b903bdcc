// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import SessionCore

/// What a configuration asks of libcurl that a build may lack; an error names what is missing.
struct OptionalFeatures {
    /// The server that looks names up by https.
    private let resolver: String?

    /// - Throws: before anything is sent, where this libcurl lacks a feature, or a setting cannot be used.
    init(_ configuration: SessionConfiguration, _ library: CurlLibrary) throws(SessionError) {
        resolver = configuration.dnsOverHTTPS
        if let resolver { try Self.check(resolver: resolver) }
    }

    private static func check(resolver: String) throws(SessionError) {
        let url = try URL(spoken: resolver)
        guard Origin(url)?.isSecure == true else {
            throw SessionError(
                .unsupportedURL, "names can be looked up by https alone, not at \(TextQuote(resolver))",
                advice: "write the server's address as https://HOST/dns-query")
        }
    }

    /// Sets the options of an easy handle (`CURL *`).
    func configure(_ easy: UnsafeMutableRawPointer) throws(SessionError) {
        guard let resolver else { return }
        // The server is verified whatever the policy permits: both options of that are on by default.
        try Self.check(
            resolver.withCString { ccurl_set_string(easy, CURLOPT_DOH_URL, $0) }, "looking names up by https")
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
