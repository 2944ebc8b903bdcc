// SPDX-License-Identifier: Apache-2.0

/// What is wrong with what came: the connection is failed with its code (RFC 6455 §7.1.7).
package enum WebSocketViolation: Sendable, Equatable {
    case reservedBits
    case unknownOpcode(UInt8)
    case maskedFrame
    /// A length in more bytes than it needs, or beyond 63 bits.
    case badLength
    case fragmentedControl
    case longControl(Int)
    /// A continuation without a beginning.
    case strayContinuation
    /// A new message in the middle of another one.
    case interruptedMessage
    case badClose
    case badCloseCode(UInt16)
    case badText
    case tooLong(limit: Int)

    package var code: WebSocketCloseCode {
        switch self {
        case .badText: .invalidData
        case .tooLong: .messageTooBig
        default: .protocolError
        }
    }

    /// For people, and short enough for the reason of a close frame.
    package var sentence: String {
        switch self {
        case .reservedBits: "a frame has reserved bits, and no extension was agreed on"
        case .unknownOpcode(let number): "a frame has the unknown opcode \(number)"
        case .maskedFrame: "a frame of the server is masked"
        case .badLength: "a frame's length is not written in the shortest way"
        case .fragmentedControl: "a control frame is fragmented"
        case .longControl(let length): "a control frame has \(length) bytes, and at most 125 are allowed"
        case .strayContinuation: "a continuation came without a beginning"
        case .interruptedMessage: "a message began in the middle of another one"
        case .badClose: "a close frame has one byte"
        case .badCloseCode(let code): "a close frame has the code \(code), which is never sent"
        case .badText: "a text is not valid UTF-8"
        case .tooLong(let limit): "a message has more than \(limit) bytes"
        }
    }

    /// What the close frame says.
    package var closing: WebSocketClosing { WebSocketClosing(code, sentence) }
}
