// SPDX-License-Identifier: Apache-2.0

import COpenSSL
package import FoundationEssentials
package import SessionCore

/// The OpenSSL that libcurl uses.
package enum OpenSSL {
    /// Finds its functions; throws ``SessionError/Code/missingLibrary``.
    ///
    /// Needs libcurl to be loaded and to say that it uses OpenSSL.
    package static func load() throws(SessionError) {
        guard !copenssl_load() else { return }
        throw SessionError(
            .missingLibrary,
            "pins and own authorities need OpenSSL below libcurl: \(String(cString: copenssl_load_message()))",
            advice: "install libcurl with OpenSSL 3 (on Debian: libcurl4)",
            domain: .security)
    }

    /// The pin of a key in DER form (SubjectPublicKeyInfo).
    package static func pin(ofKey key: Data) -> PublicKeyPin? {
        var hash = [UInt8](repeating: 0, count: 32)
        let isHashed = key.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return copenssl_sha256(start, bytes.count, &hash)
        }
        return isHashed ? PublicKeyPin(sha256: hash) : nil
    }

    /// The certificates of a chain, copied; however long a server makes it, at most 100.
    static func certificates(_ chain: OpaquePointer?) -> [PeerCertificate] {
        (0..<min(copenssl_chain_count(chain), 100)).map { index in
            var count: Int32 = 0
            let bytes = copenssl_chain_der(chain, index, &count)
            defer { copenssl_free(bytes) }
            let der = bytes.map { Data(bytes: $0, count: Int(count)) } ?? Data()
            return PeerCertificate(der, sha256: pin(ofKey:))
        }
    }

    /// Whether a connection has agreed on HTTP/2; `session` is OpenSSL's `SSL *`, as libcurl uses it.
    static func speaksHTTP2(_ session: UnsafeMutableRawPointer) -> Bool {
        copenssl_load() && copenssl_speaks_http2(session)
    }

    static func result(_ number: Int32) -> VerifyResult {
        number == 0 ? .ok : VerifyResult(Int(number), text: String(cString: copenssl_result_text(number)))
    }
}

/// How a TLS connection ends; on the loop's thread.
///
/// Content without a length ends where its connection does. Only the alert `close_notify` distinguishes that
/// end from one that was made on the way (RFC 9112 §9.8, RFC 8446 §6.1), and libcurl accepts either.
final class TLSEnding {
    private let ending: OpaquePointer

    /// - Parameter session: OpenSSL's `SSL *`, as libcurl uses it.
    init?(_ session: UnsafeMutableRawPointer) {
        guard copenssl_load(), let ending = copenssl_watch_ending(session) else {
            return nil
        }
        self.ending = ending
    }

    deinit { copenssl_ending_release(ending) }

    /// Whether the server has said that nothing more comes.
    var isNotified: Bool { copenssl_ending_is_notified(ending) }
}

extension SessionError {
    /// Content without a length whose connection ended without a notice of the server's.
    static func missingCloseNotify(_ host: String) -> SessionError {
        SessionError(
            .networkConnectionLost,
            "the connection to \(host) ended without TLS's close_notify, so what came may have been cut off",
            advice: "try again; if it happens always, the server has to close TLS, or to send Content-Length",
            domain: .security)
    }
}
