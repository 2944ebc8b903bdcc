// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A message of a WebSocket (RFC 6455 §5.6).
public enum WebSocketMessage: Sendable, Equatable {
    /// Text, which is valid UTF-8.
    case text(String)
    /// Bytes.
    case data(Data)

    /// The length of its content in bytes.
    package var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        }
    }
}

/// Why a WebSocket was closed (RFC 6455 §7.4): 1000 to 2999 are the protocol's, 3000 to 4999 a program's own.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt16
    /// The code with this number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose of the connection is fulfilled.
    public static let normal = WebSocketCloseCode(rawValue: 1000)
    /// A server stops, or a page is left.
    public static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// The other side broke the protocol.
    public static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// A kind of data came that cannot be taken.
    public static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// The other side gave no code; never sent.
    public static let noStatus = WebSocketCloseCode(rawValue: 1005)
    /// The connection ended without a close frame; never sent.
    public static let abnormal = WebSocketCloseCode(rawValue: 1006)
    /// Data does not fit its type, such as text that is not UTF-8.
    public static let invalidData = WebSocketCloseCode(rawValue: 1007)
    /// A message breaks the other side's rules.
    public static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// A message is too long.
    public static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// The server lacks an extension that the client needs.
    public static let missingExtension = WebSocketCloseCode(rawValue: 1010)
    /// The server cannot go on.
    public static let internalError = WebSocketCloseCode(rawValue: 1011)
    /// The server starts again: come back later.
    public static let serviceRestart = WebSocketCloseCode(rawValue: 1012)
    /// The server is overloaded: come back later.
    public static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)
    /// A gateway got a bad answer.
    public static let badGateway = WebSocketCloseCode(rawValue: 1014)

    /// Whether it may stand in a close frame (RFC 6455 §7.4.1, and IANA's registry).
    public var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The number, with the meaning of those of the protocol: `1001 (going away)`.
    public var description: String {
        let words =
            switch rawValue {
            case 1000: "normal"
            case 1001: "going away"
            case 1002: "protocol error"
            case 1003: "unsupported data"
            case 1005: "no status"
            case 1006: "no close frame"
            case 1007: "invalid data"
            case 1008: "policy violation"
            case 1009: "message too big"
            case 1010: "missing extension"
            case 1011: "internal error"
            case 1012: "service restart"
            case 1013: "try again later"
            case 1014: "bad gateway"
            default: ""
            }
        return words.isEmpty ? "\(rawValue)" : "\(rawValue) (\(words))"
    }
}

/// What a close frame says.
package struct WebSocketClosing: Sendable, Equatable {
    /// ``WebSocketCloseCode/noStatus`` where it has no code.
    package var code: WebSocketCloseCode
    package var reason: String

    package init(_ code: WebSocketCloseCode, _ reason: String = "") {
        self.code = code
        self.reason = reason
    }
}
