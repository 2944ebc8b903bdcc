// SPDX-License-Identifier: Apache-2.0

import CCurl
import COpenSSL
import SessionCore

/// The system's certificate authorities, read once for all connections of a pool instead of once for each.
///
/// libcurl keeps what it has read of a file, but of nothing that comes from a file and a directory, as on
/// Debian (CURLOPT_CA_CACHE_TIMEOUT(3)): each connection had a copy of its own, of 0.8 MB and ten
/// milliseconds. So the directory is hidden from libcurl and shown to OpenSSL, which looks there for
/// authorities that the file lacks, when it needs one.
enum SystemRoots {
    /// Whether this libcurl reads both.
    static func canBeShared(_ library: CurlLibrary) -> Bool {
        library.hasRootFile && directory != nil
    }

    /// Prepares an easy handle; ``addDirectory(to:)`` has to be called for each of its connections.
    static func share(_ options: TLSOptions) throws(SessionError) {
        try options.set(CURLOPT_CAPATH, nil)
        try options.set(CURLOPT_CA_CACHE_TIMEOUT, seconds)
    }

    /// Shows the directory to an `SSL_CTX`.
    static func addDirectory(to context: UnsafeMutableRawPointer) -> Bool {
        directory.map { copenssl_add_directory(context, $0) } ?? false
    }

    /// How long libcurl uses what it has read of the file.
    private static let seconds = 600

    private static var directory: UnsafePointer<CChar>? { ccurl_version().pointee.capath }
}
