// SPDX-License-Identifier: Apache-2.0

import SessionCore

extension WebSocketEnd {
    /// What the end is to a program; nil where a close frame says it.
    var error: SessionError? {
        switch self {
        case .closed: nil
        case .unanswered:
            SessionError(
                .timedOut, "the other side has not answered the close frame",
                advice: "the messages before it may not have come; allow more time with closeTimeout")
        case .violated(let violation):
            SessionError(
                violation.code == .messageTooBig ? .dataLengthExceedsMaximum : .badServerResponse,
                "the server breaks the WebSocket protocol: \(violation.sentence)",
                advice: violation.code == .messageTooBig
                    ? "raise maximumMessageSize" : "the server, or a proxy before it, is broken or hostile")
        case .silent(let nanoseconds):
            SessionError(
                .timedOut,
                "nothing came from the server for \(nanoseconds / 1_000_000_000) s, no answer to a ping either",
                advice: "the line or the server is dead; see keepAlive and pongTimeout")
        case .lost(let error):
            error
                ?? SessionError(
                    .networkConnectionLost, "the server ended the connection without a close frame",
                    advice: "try again")
        }
    }
}

/// Why a handshake fails.
extension SessionError {
    static var endedBeforeAnswer: SessionError {
        SessionError(
            .networkConnectionLost, "the server ended the connection before it answered the handshake",
            advice: "try again; if it happens always, the server is broken")
    }

    static func handshakeCannotCarry(_ scheme: String) -> SessionError {
        SessionError(
            .userAuthenticationRequired,
            "the server wants \(scheme), which the handshake of a WebSocket cannot carry",
            advice: "have the server take Basic over TLS, or a token in Authorization")
    }

    /// What came in the place of an answer to the handshake.
    static var brokenUpgradeHead: SessionError {
        SessionError(
            .badServerResponse, "the server sends more than 256 KiB of header fields, or none of HTTP",
            advice: "the server, or a proxy before it, is broken or hostile")
    }
}

extension UInt64 {
    /// The content of a ping with this number.
    var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - 8 * $0)) } }
}
