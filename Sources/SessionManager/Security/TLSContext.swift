// SPDX-License-Identifier: Apache-2.0

import CCurl
import COpenSSL
import SessionCore

/// What is set in each `SSL_CTX` that libcurl makes for a connection, before the handshake.
package enum TLSContext {
    /// Prepares an easy handle whose servers OpenSSL alone verifies.
    static func prepare(
        _ easy: UnsafeMutableRawPointer, _ options: TLSOptions, sharesRoots: Bool
    ) throws(SessionError) {
        try options.check(
            ccurl_set_tls_function(easy, sharesRoots ? onContextWithRoots : onContext),
            CURLOPT_SSL_CTX_FUNCTION)
    }

    private static let onContext: ccurl_tls_function = { _, context, _ in
        guard let context else { return CURLE_SSL_CONNECT_ERROR }
        orderCiphers(of: context)
        return CURLE_OK
    }

    private static let onContextWithRoots: ccurl_tls_function = { _, context, _ in
        guard let context, SystemRoots.addDirectory(to: context) else { return CURLE_SSL_CACERT_BADFILE }
        orderCiphers(of: context)
        return CURLE_OK
    }

    /// Offers the cipher first that this processor computes fastest, as `CipherOrder` says.
    ///
    /// Where OpenSSL refuses, its own order stays.
    static func orderCiphers(of context: UnsafeMutableRawPointer) {
        orderCiphers(of: context, hasAES: copenssl_has_aes())
    }

    /// The same for a processor with or without instructions for AES.
    package static func orderCiphers(of context: UnsafeMutableRawPointer, hasAES: Bool) {
        let tls13 = ciphers(of: context, from: 0, while: CipherOrder.isTLS13)
        if let order = CipherOrder.tls13(tls13, hasAES: hasAES) {
            _ = copenssl_set_ciphers(context, order.joined(separator: ":"))
        }
        // With fast AES the others stay, and their sixty names need not be read.
        let earlier = hasAES ? [] : ciphers(of: context, from: tls13.count) { _ in true }
        if let order = CipherOrder.tls12(earlier, hasAES: hasAES) {
            _ = copenssl_set_earlier_ciphers(context, order.joined(separator: ":"))
        }
    }

    /// The names of the offered ciphers, in order.
    private static func ciphers(
        of context: UnsafeMutableRawPointer, from start: Int, while isWanted: (String) -> Bool
    ) -> [String] {
        var names: [String] = []
        while let bytes = copenssl_cipher(context, Int32(start + names.count)) {
            let name = String(cString: bytes)
            guard isWanted(name) else { break }
            names.append(name)
        }
        return names
    }
}

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
