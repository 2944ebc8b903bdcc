// SPDX-License-Identifier: Apache-2.0

/// Why a request was not delivered.
public struct OutboxFailure: Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public enum Kind: String, Sendable, Codable {
        /// No network, no such host, no connection, or a time limit: passes with a better network.
        case network
        /// A temporary failure by the server's status: 408, 421, 423, 425, 429, 5xx, 409 to a request that it
        /// may have received before, any refusal with `Retry-After`, a redirect that is not followed, or no
        /// valid HTTP; or an origin that refuses everything.
        case server
        /// Another status of refusal.
        case refused
        /// No trust in the server, or by it or a proxy in this device: people must correct it, or a clock.
        case security
        /// A secret could not be looked up.
        case secret
        /// A refusal with 401 or 403 of a secret that was filled in, which may be outdated.
        case credentials
        /// The request cannot be sent: its content is missing, or its URL is invalid.
        case unsendable
        /// This device lacks something: memory, a library.
        case local
    }

    /// The kind of failure.
    public let kind: Kind
    /// What happened, in a sentence.
    public let message: String
    /// The status, if a server answered.
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

    /// Whether a gateway that has lost its routes, keys or settings may have refused.
    ///
    /// Any status may be a gateway's but those that blame what this one request contains or requires
    /// (RFC 9110 §15.5, RFC 6585 §3 and §5).
    package var mayBeOfGateway: Bool {
        guard kind == .refused || kind == .credentials, let statusCode else { return false }
        return ![409, 412, 413, 414, 415, 416, 422, 428, 431].contains(statusCode)
    }

    /// Whether the server reports a conflict with another request, perhaps its own earlier attempt.
    package var isConflict: Bool { kind == .server && statusCode == 409 }
}
