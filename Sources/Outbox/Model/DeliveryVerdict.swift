// SPDX-License-Identifier: Apache-2.0

package import SessionCore

/// What follows an attempt.
package enum DeliveryVerdict: Sendable, Equatable {
    /// The server has it.
    case delivered(statusCode: Int)
    /// It is sent again, unless this was the last permitted attempt.
    case retry(OutboxFailure)
    /// Sending it again would not help.
    case dead(OutboxFailure)
    /// The delivery was stopped before the attempt was complete, or a file waits for room.
    case untried

    /// Judges by the status of a complete response (RFC 9110 §15).
    ///
    /// - Parameters:
    ///   - fillsSecrets: whether secrets were filled in that may differ with the next attempt.
    ///   - isSecure: whether TLS protected the answer, so that it is the server's own.
    ///   - isRepeated: whether the server may have received the request before.
    ///   - asksForLater: whether the response has `Retry-After`.
    ///   - location: the target of a redirect.
    package init(
        statusCode: Int, fillsSecrets: Bool = false, isSecure: Bool = false, isRepeated: Bool = false,
        asksForLater: Bool = false, location: String? = nil
    ) {
        switch statusCode {
        case 200..<300: self = .delivered(statusCode: statusCode)
        // With TLS, the server itself names the result of the processed request (RFC 9110 §15.4.4).
        case 303 where isSecure: self = .delivered(statusCode: statusCode)
        // ``DeliveryRedirects`` does not follow it: perhaps a captive portal's, or a mistake of the server.
        case 301, 302, 303, 307, 308:
            let target = location.map { " to \(TextQuote($0))" } ?? ""
            let message =
                "status \(statusCode) redirects\(target), where the same request would not reach the same server for certain"
            self = .retry(OutboxFailure(.server, message, statusCode: statusCode))
        case 401 where fillsSecrets, 403 where fillsSecrets:
            self = .retry(
                OutboxFailure(.credentials, "the server answered \(statusCode)", statusCode: statusCode))
        // A proxy refuses this device, whatever the request; the server has not seen it (RFC 9110 §15.5.8).
        case 407:
            let message = "a proxy on the way wants credentials: status 407"
            self = .retry(OutboxFailure(.security, message, statusCode: statusCode))
        // Still processing the first attempt (draft-ietf-httpapi-idempotency-key-header §2.6 and §2.7).
        case 409 where isRepeated:
            let message = "the server answered 409, perhaps since it still works on an earlier try"
            self = .retry(OutboxFailure(.server, message, statusCode: statusCode))
        // Another connection (421, RFC 9110 §15.5.20) or a released lock (423, RFC 4918 §11.3) may help; 425
        // (RFC 8470) and 429 (RFC 6585) are temporary by definition, as 408 is.
        case 408, 421, 423, 425, 429, 500...:
            self = .retry(OutboxFailure(.server, "the server answered \(statusCode)", statusCode: statusCode))
        // Refused for a while (RFC 9110 §10.2.3; §15.5.14 for 413).
        case 400..<500 where asksForLater:
            let message = "the server answered \(statusCode) and wants to be asked later"
            self = .retry(OutboxFailure(.server, message, statusCode: statusCode))
        default:
            self = .dead(OutboxFailure(.refused, "the server answered \(statusCode)", statusCode: statusCode))
        }
    }

    /// Judges by the error that ended the transfer.
    ///
    /// The other parameters describe the response whose content was incomplete.
    ///
    /// - Parameter isSent: whether the whole request had been sent: then the server has answered it by its
    ///   status, also if the content of the answer broke off.
    package init(
        error: SessionError, statusCode status: Int?, fillsSecrets: Bool = false, isSecure: Bool = false,
        isRepeated: Bool = false, asksForLater: Bool = false, isSent: Bool = false
    ) {
        let message = error.message
        let judged = status.map {
            DeliveryVerdict(
                statusCode: $0, fillsSecrets: fillsSecrets, isSecure: isSecure, isRepeated: isRepeated,
                asksForLater: asksForLater)
        }
        switch error.code {
        case .cancelled, .invalidated: self = .untried
        // The server has confirmed the request; only the content of its answer cannot be used.
        case .dataLengthExceedsMaximum, .cannotDecodeRawData:
            self = judged ?? .retry(OutboxFailure(.server, message))
        // The same if the content may be truncated because TLS was not closed (RFC 9112 §9.8).
        case .networkConnectionLost where error.domain == .security && judged != nil:
            self = judged ?? .retry(OutboxFailure(.network, message))
        case .networkConnectionLost where isSent && judged != nil, .timedOut where isSent && judged != nil,
            .badServerResponse where isSent && judged != nil:
            self = judged ?? .retry(OutboxFailure(.network, message))
        // An endless redirect says no more about the request than one that is not followed.
        case .tooManyRedirects: self = .retry(OutboxFailure(.server, message, statusCode: status))
        case .badURL where (status ?? 0) / 100 == 3, .unsupportedURL where (status ?? 0) / 100 == 3:
            if case .delivered? = judged {
                self = .delivered(statusCode: status ?? 0)
            } else {
                self = .retry(OutboxFailure(.server, message, statusCode: status))
            }
        case .badURL, .unsupportedURL, .invalidHeaderField, .fileDoesNotExist, .cannotOpenFile,
            .noPermissionsToReadFile, .requestBodyStreamExhausted:
            self = .dead(OutboxFailure(.unsendable, message, statusCode: status))
        case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost,
            .notConnectedToInternet:
            self = .retry(OutboxFailure(.network, message, statusCode: status))
        case .userAuthenticationRequired:
            self = .retry(OutboxFailure(.security, message, statusCode: status))
        case .missingLibrary, .outOfResources, .invalidSecurityPolicy:
            self = .retry(OutboxFailure(.local, message))
        default:
            let isAboutTrust = error.domain == .security || (-1206...(-1200)).contains(error.code.rawValue)
            self = .retry(OutboxFailure(isAboutTrust ? .security : .server, message, statusCode: status))
        }
    }
}
