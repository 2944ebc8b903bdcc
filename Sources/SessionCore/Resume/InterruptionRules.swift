// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// How far an exchange was when its connection died.
package struct Interruption: Sendable, Equatable {
    /// Where the content of the response goes.
    package enum Content: Sendable, Equatable {
        /// Into memory: no reader has had any of it.
        case memory
        /// Into a file, so many bytes of which are there.
        case file(bytes: Int64)
        /// To a reader that has had so many bytes already.
        case reader(bytes: Int64)
    }

    /// Whether the request may be carried out twice: its method says so, or its maker.
    package var isIdempotent: Bool
    /// Whether anything of the request was handed to the kernel.
    package var hasBegun = true
    /// Whether all of it was.
    package var isWhollySent = true
    /// Whether the response has begun, and its head says what became of the request.
    package var hasHead = false
    /// Whether the head only says what to send next: a redirect, a challenge.
    package var isPreliminary = false
    /// Where the content goes.
    package var content = Content.memory
    /// Whether the server sends the content's version, so that the missing bytes can be asked for (RFC 9110
    /// §13.1.5).
    package var canContinue = false

    package init(isIdempotent: Bool) { self.isIdempotent = isIdempotent }
}

/// What becomes of an exchange whose connection died.
package enum InterruptionVerdict: Sendable, Equatable {
    /// The missing bytes are asked for.
    case continueByRange
    /// The request is sent again from its beginning.
    case restart
    /// Whether the server has carried it out is unknown.
    case outcomeUnknown
    /// The server has answered, and the rest of the answer cannot be had.
    case cutOff
}

/// Decides whether a request may be sent again after its connection died (RFC 9110 §9.2.2).
package enum InterruptionRules {
    /// What becomes of it.
    package static func verdict(_ interruption: Interruption) -> InterruptionVerdict {
        // The server asked for another request anyway.
        if interruption.hasHead, interruption.isPreliminary { return .restart }
        switch interruption.content {
        case .file(let bytes) where bytes > 0 && interruption.canContinue: return .continueByRange
        case .reader(let bytes) where bytes > 0:
            return interruption.canContinue ? .continueByRange : .cutOff
        default: break
        }
        if interruption.isIdempotent || !interruption.hasBegun { return .restart }
        if interruption.hasHead { return .cutOff }
        // The server cannot have carried out a request of which it lacks the end.
        return interruption.isWhollySent ? .outcomeUnknown : .restart
    }

    /// Whether a request may be sent again after a failure that the loss of the network explains.
    package static func canRepeatAfterFailure(
        code: SessionError.Code, isIdempotent: Bool, isBodyRewindable: Bool
    ) -> Bool {
        isBodyRewindable && (code.isUnconnected || code == .networkConnectionLost && isIdempotent)
    }

    /// Whether another try of a download may ask for the rest: not after a failure that says that the content
    /// is bad.
    ///
    /// - Parameter status: of the response that came with the failure.
    package static func canContinueInNextTry(after code: SessionError.Code, status: Int?) -> Bool {
        code.isOutage || code == .badServerResponse && ![nil, 200, 206].contains(status)
    }
}

extension SessionError.Code {
    /// Whether no connection came about: the server has received nothing.
    package var isUnconnected: Bool {
        switch self {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost: true
        default: false
        }
    }

    /// Whether the server cannot be reached (RFC 5861 §4).
    package var isOutage: Bool { isUnconnected || self == .networkConnectionLost || self == .timedOut }
}

extension HTTPRequest.Method {
    /// Whether it may be carried out several times with the effect of one (RFC 9110 §9.2.2).
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }
}

extension SessionRequest {
    /// Whether it may be carried out twice: by its method, or since servers know it by its key.
    package var isIdempotent: Bool { method.isIdempotent || hasIdempotencyKey }

    /// Whether it has a key by which a server knows it again (draft-ietf-httpapi-idempotency-key-header).
    var hasIdempotencyKey: Bool { headerFields.contains { $0.name.canonicalName == "idempotency-key" } }
}

extension SessionError {
    /// The connection died, and what the server did is not known.
    package static func outcomeUnknown(_ sentence: String) -> SessionError {
        SessionError(
            .networkConnectionLost,
            "the connection was lost (\(sentence))"
        ).withUnknownOutcome
    }

    /// The same error, of a request that the server may have carried out.
    var withUnknownOutcome: SessionError {
        with(
            message:
                "\(message), and the outcome is unknown: the server may have carried out the request",
            advice: "\(Self.askingFirst), or mark requests that may be sent twice as idempotent")
    }

    /// What to try with a request that must not be carried out twice.
    static let askingFirst = "ask the server before sending it again"

    /// The connection died while the response came.
    package static func cutOff(_ sentence: String, isIdempotent: Bool) -> SessionError {
        SessionError(
            .networkConnectionLost,
            "the connection was lost (\(sentence)) after the server had answered, and the rest of the answer is missing",
            advice: isIdempotent
                ? "ask again; content whose server sends an ETag goes on by itself" : askingFirst)
    }

    /// The connection died while the response came, and the server does not send the rest.
    ///
    /// - Parameters:
    ///   - cause: what happened to the connection; nil if it is not known.
    ///   - status: that of the answer to the question for the rest.
    package static func restRefused(after cause: String?, status: Int?) -> SessionError {
        let reason =
            switch status {
            case 200: "the content has changed"
            case 206: "the server sends another part in its place"
            default: "the server answers the question for it with status \(status ?? 0)"
            }
        let why = cause.map { " (\($0))" } ?? ""
        return SessionError(
            .networkConnectionLost,
            "the connection was lost\(why) after the server had answered, and the rest is missing: \(reason)",
            advice: "ask again for the whole")
    }
}

/// What running transfers do when traffic turns to another interface while theirs still works: a cable was
/// plugged in beside Wi-Fi, or a line that was dead is back.
///
/// New transfers take the kernel's choice in either case.
public enum BetterPathPolicy: String, Sendable, Codable, CaseIterable {
    /// They stay: their sockets are bound to their interface (SO_BINDTODEVICE, socket(7)), without which the
    /// kernel would send their packets through the new one, with the old one's address.
    case stay
    /// They continue over the new one, as after a loss: downloads by range, requests that may be sent twice
    /// again from the beginning, the others stay.
    case move
}
