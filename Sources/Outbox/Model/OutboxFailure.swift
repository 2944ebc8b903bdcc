// SPDX-License-Identifier: Apache-2.0

package import SessionCore

/// Why a request was not delivered.
public struct OutboxFailure: Sendable, Equatable, CustomStringConvertible {
    /// What kind of reason it is.
    public enum Kind: String, Sendable, Codable {
        /// No network, no such host, no connection, a time limit: passes when the network is better.
        case network
        /// The server's status says that it cannot at the moment: 408, 421, 423, 425, 429, 5xx, 409 to a
        /// request that it may have got before, any refusal with `Retry-After`, a redirect that is not
        /// followed, or no proper HTTP; or it refuses everything.
        case server
        /// The server refuses the request, by another status.
        case refused
        /// The server is not trusted, or it or a proxy does not trust this device: needs a correction by
        /// people, of a clock for instance.
        case security
        /// A secret could not be looked up.
        case secret
        /// The server refuses the request with a secret that was filled in, which may be an old one: 401 or
        /// 403.
        case credentials
        /// The request cannot be sent as it is: its content is gone, its URL is none.
        case unsendable
        /// This device lacks something: memory, a library.
        case local
    }

    /// What kind of reason it is.
    public let kind: Kind
    /// What happened, in a sentence.
    public let message: String
    /// The status, where a server answered.
    public let statusCode: Int?

    /// A failure.
    public init(_ kind: Kind, _ message: String, statusCode: Int? = nil) {
        self.kind = kind
        self.message = message
        self.statusCode = statusCode
    }

    /// The message.
    public var description: String { message }

    /// Whether the same request may succeed later.
    public var isPassing: Bool { kind != .refused && kind != .unsendable }

    /// Whether it may be of a gateway that has lost its routes or keys, and not of the server behind it: the
    /// statuses that say nothing about the request's content.
    package var mayBeOfGateway: Bool {
        guard kind == .refused || kind == .credentials, let statusCode else { return false }
        return [401, 402, 403, 404, 405, 410, 451].contains(statusCode)
    }

    /// Whether the server says that the request conflicts with another one, perhaps its own earlier try.
    package var isConflict: Bool { kind == .server && statusCode == 409 }
}

/// What becomes of a request after a try.
package enum DeliveryVerdict: Sendable, Equatable {
    /// The server has it.
    case delivered(statusCode: Int)
    /// It is to be sent again, unless this was one try too many.
    case retry(OutboxFailure)
    /// Sending it again would not help.
    case dead(OutboxFailure)
    /// It was not really tried: the delivery was stopped meanwhile.
    case untried

    /// Judges by the status of a complete response (RFC 9110 §15).
    ///
    /// - Parameters:
    ///   - fillsSecrets: whether something was filled in that may be another with the next try.
    ///   - isSecure: whether TLS protected the answer, so that it is the server's own.
    ///   - isRepeated: whether the server may have got the request before.
    ///   - asksForLater: whether the response has `Retry-After`.
    ///   - location: where a redirect leads.
    package init(
        statusCode: Int, fillsSecrets: Bool = false, isSecure: Bool = false, isRepeated: Bool = false,
        asksForLater: Bool = false, location: String? = nil
    ) {
        switch statusCode {
        case 200..<300: self = .delivered(statusCode: statusCode)
        // The server has carried it out and names what came of it (RFC 9110 §15.4.4); in the clear it may not
        // be the server that says so.
        case 303 where isSecure: self = .delivered(statusCode: statusCode)
        // One that ``DeliveryRedirects`` do not follow: no server has the request. It may be of a network
        // that wants a sign-in, which says so of everything that waits, or of a server that is put right one
        // day, so nothing is given up for it.
        case 301, 302, 303, 307, 308:
            let target = location.map { " to \(TextQuote($0))" } ?? ""
            let message =
                "status \(statusCode) redirects\(target), where the same request would not reach the same server for certain"
            self = .retry(OutboxFailure(.server, message, statusCode: statusCode))
        case 401 where fillsSecrets, 403 where fillsSecrets:
            self = .retry(
                OutboxFailure(.credentials, "the server answered \(statusCode)", statusCode: statusCode))
        // A proxy on the way refuses this device, whatever it sends; the server has not seen the request (RFC
        // 9110 §15.5.8).
        case 407:
            let message = "a proxy on the way wants credentials: status 407"
            self = .retry(OutboxFailure(.security, message, statusCode: statusCode))
        // The first try is still being worked on (draft-ietf-httpapi-idempotency-key-header §2.6 and §2.7).
        case 409 where isRepeated:
            let message = "the server answered 409, perhaps since it still works on an earlier try"
            self = .retry(OutboxFailure(.server, message, statusCode: statusCode))
        // It may be taken by another connection (421, RFC 9110 §15.5.20), or when a lock is gone (423, RFC
        // 4918 §11.3).
        case 421, 423:
            self = .retry(OutboxFailure(.server, "the server answered \(statusCode)", statusCode: statusCode))
        // Too early (RFC 8470) and too many requests (RFC 6585) name themselves passing, as 408 does.
        case 408, 425, 429, 500...:
            self = .retry(OutboxFailure(.server, "the server answered \(statusCode)", statusCode: statusCode))
        // Refused for a while (RFC 9110 §10.2.3; §15.5.14 for 413).
        case 400..<500 where asksForLater:
            let message = "the server answered \(statusCode) and wants to be asked later"
            self = .retry(OutboxFailure(.server, message, statusCode: statusCode))
        default:
            self = .dead(OutboxFailure(.refused, "the server answered \(statusCode)", statusCode: statusCode))
        }
    }

    /// Judges by what hindered the transfer.
    ///
    /// - Parameters:
    ///   - status: that of a response which began to come.
    ///   - fillsSecrets: whether something was filled in that may be another with the next try.
    ///   - isSecure: whether TLS protected that response.
    ///   - isRepeated: whether the server may have got the request before.
    ///   - asksForLater: whether that response has `Retry-After`.
    package init(
        error: SessionError, statusCode status: Int?, fillsSecrets: Bool = false, isSecure: Bool = false,
        isRepeated: Bool = false, asksForLater: Bool = false
    ) {
        let message = error.message
        let judged = status.map {
            DeliveryVerdict(
                statusCode: $0, fillsSecrets: fillsSecrets, isSecure: isSecure, isRepeated: isRepeated,
                asksForLater: asksForLater)
        }
        switch error.code {
        case .cancelled, .invalidated: self = .untried
        // The server has said that it has the request, and only the content of its answer is of no use here.
        case .dataLengthExceedsMaximum, .cannotDecodeRawData:
            self = judged ?? .retry(OutboxFailure(.server, message))
        // The same where the end of that content is in doubt because TLS was not closed (RFC 9112 §9.8).
        case .networkConnectionLost where error.domain == .security && judged != nil:
            self = judged ?? .retry(OutboxFailure(.network, message))
        // A redirect that leads nowhere says no more about the request than one that is not followed.
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
