// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import SessionCore

/// How a TLS connection ends; on the loop's thread.
///
/// Content without a length ends where its connection does. Only the alert `close_notify` tells that end from
/// one that was made on the way (RFC 9112 §9.8, RFC 8446 §6.1), and libcurl takes either for the end.
final class TLSEnding {
    private let ending: OpaquePointer

    /// - Parameter session: OpenSSL's `SSL *`, as libcurl uses it.
    init?(_ session: UnsafeMutableRawPointer) {
        guard copenssl_load() == COPENSSL_LOADED, let ending = copenssl_watch_ending(session) else {
            return nil
        }
        self.ending = ending
    }

    deinit { copenssl_ending_release(ending) }

    /// Whether the server has said that nothing more comes.
    var isNotified: Bool { copenssl_ending_is_notified(ending) }
}

extension SessionError {
    /// Content without a length whose connection ended without the server's word.
    static func missingCloseNotify(_ host: String) -> SessionError {
        SessionError(
            .networkConnectionLost,
            "the connection to \(host) ended without TLS's close_notify, so what came may have been cut off",
            advice: "try again; if it happens always, the server has to close TLS, or to send Content-Length",
            domain: .security)
    }
}
