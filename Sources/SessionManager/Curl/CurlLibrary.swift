// SPDX-License-Identifier: Apache-2.0

import CCurl
import SessionCore

/// The libcurl of this machine.
package struct CurlLibrary: Sendable {
    /// libcurl's version, as `7.88.1`.
    package let version: String
    /// The TLS backend, as `OpenSSL/3.0.19`; empty where libcurl has none.
    package let tlsBackend: String
    /// Whether it was built to read the system's certificate authorities from a file.
    let hasRootFile: Bool
    /// Whether HTTP/2 can be spoken.
    package let hasHTTP2: Bool
    /// Whether HTTP/3 can be spoken.
    package let hasHTTP3: Bool
    /// Whether it knows alternative services (RFC 7838).
    let hasAlternativeServices: Bool
    /// Whether bodies over HTTP/2 arrive as they were sent.
    ///
    /// Before 8.2 libcurl loses count where the connection's send buffer is full: it sends bytes twice, the
    /// lines of the request's own head among the content. The server gets another body, and cannot notice it
    /// where the length is not known.
    package let sendsBodiesByHTTP2: Bool

    /// Finds libcurl and initialises it, once for the process, and again where that has failed.
    package static func load() throws(SessionError) -> CurlLibrary {
        switch ccurl_load() {
        case CCURL_LOADED: return CurlLibrary(ccurl_version().pointee)
        case CCURL_TOO_OLD:
            throw missing("install libcurl 7.88 or newer")
        case CCURL_INIT_FAILED:
            throw missing("there may be no memory left, or the TLS library is damaged")
        case CCURL_NO_RESOURCES:
            throw missing(
                "raise the limit of open files (ulimit -n, LimitNOFILE=) or free memory", .outOfResources)
        case CCURL_NO_MEMORY:
            throw missing("free memory, or allow more of it (ulimit -v, MemoryMax=)", .outOfResources)
        case CCURL_NO_SPACE:
            throw missing("raise the limit of the address space (ulimit -v, LimitAS=)", .outOfResources)
        default:
            throw missing("install libcurl, on Debian: apt install libcurl4")
        }
    }

    private static func missing(
        _ advice: String, _ code: SessionError.Code = .missingLibrary
    ) -> SessionError {
        SessionError(
            code, "libcurl cannot be used: \(String(cString: ccurl_load_message()))",
            advice: advice)
    }

    private init(_ info: curl_version_info_data) {
        version = info.version.map { String(cString: $0) } ?? ""
        tlsBackend = info.ssl_version.map { String(cString: $0) } ?? ""
        hasRootFile = info.cainfo != nil
        hasHTTP2 = info.features & CURL_VERSION_HTTP2 != 0
        hasHTTP3 = info.features & CURL_VERSION_HTTP3 != 0
        hasAlternativeServices = info.features & CURL_VERSION_ALTSVC != 0
        sendsBodiesByHTTP2 = Int(info.version_num) >= CCURL_HTTP2_BODIES_VERSION
    }
}
