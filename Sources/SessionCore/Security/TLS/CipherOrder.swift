// SPDX-License-Identifier: Apache-2.0

/// The order in which TLS offers its ciphers: first the one that this processor computes fastest, as in
/// BoringSSL and Go's crypto/tls.
///
/// OpenSSL offers AES-256 first everywhere. With instructions for AES, AES-128 takes 10 rounds instead of 14,
/// and is the cipher that every implementation of TLS 1.3 has (RFC 8446 §9.1). Without them, ChaCha20 is
/// several times as fast as AES, and its time does not depend on the key (RFC 8439). What the system does not
/// offer is never added.
package enum CipherOrder {
    private static let aes128 = "TLS_AES_128_GCM_SHA256"
    private static let aes256 = "TLS_AES_256_GCM_SHA384"
    private static let chacha20 = "TLS_CHACHA20_POLY1305_SHA256"
    /// The order of OpenSSL itself (OSSL_default_ciphersuites(), ssl/ssl_ciph.c).
    private static let default13 = [aes256, chacha20, aes128]

    /// Whether a name of OpenSSL's is of TLS 1.3.
    package static func isTLS13(_ name: String) -> Bool { name.hasPrefix("TLS_") }

    /// The ciphers of TLS 1.3 in another order; nil for the order as it is.
    ///
    /// Another list than OpenSSL's own is the choice of the system's configuration (config(5ssl)), and stays.
    package static func tls13(_ offered: [String], hasAES: Bool) -> [String]? {
        guard offered == default13 else { return nil }
        return hasAES ? [aes128, aes256, chacha20] : [chacha20, aes128, aes256]
    }

    /// The ciphers of the versions before in another order; nil for the order as it is.
    ///
    /// Only ChaCha20 moves, and only where the key is agreed on by elliptic curves, which keeps what was sent
    /// before secret from a thief of the server's key.
    package static func tls12(_ offered: [String], hasAES: Bool) -> [String]? {
        if hasAES { return nil }
        let first = offered.filter { $0.hasPrefix("ECDHE-") && $0.hasSuffix("-CHACHA20-POLY1305") }
        if first.isEmpty || offered.starts(with: first) { return nil }
        return first + offered.filter { !first.contains($0) }
    }
}
