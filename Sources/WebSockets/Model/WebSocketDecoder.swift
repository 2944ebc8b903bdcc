// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Makes messages of the bytes that a server sends, in whatever pieces they come (RFC 6455 §5).
///
/// What is wrong is found at its first byte: a message that is announced too long before any of it is stored,
/// text that is not UTF-8 in the middle of a frame. After a violation or a close frame nothing is read.
package struct WebSocketDecoder: ~Copyable, Sendable {
    package enum Item: Sendable, Equatable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong([UInt8])
        case close(WebSocketClosing)
        case violation(WebSocketViolation)
    }

    private enum Step {
        case start
        case length
        /// The number of bytes of a long length that are still to come.
        case longLength(Int)
        case content
        case ended
    }

    private let maximumMessageSize: Int
    private var step = Step.start
    private var opcode = WebSocketOpcode.continuation
    private var isFinal = false
    private var length: UInt64 = 0
    /// How much of the frame's content is still to come.
    private var rest = 0
    /// What a message in fragments is; nil between messages.
    private var kind: WebSocketOpcode?
    private var message = Data()
    private var text = UTF8Validation()
    private var control: [UInt8] = []

    package init(maximumMessageSize: Int) { self.maximumMessageSize = maximumMessageSize }

    /// Reads on, and returns what that completes; nil when all bytes are used.
    ///
    /// - Parameter position: moved behind the bytes that were used.
    package mutating func next(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Item? {
        while true {
            switch step {
            case .ended:
                position = bytes.count
                return nil
            case .start, .length, .longLength:
                guard position < bytes.count else { return nil }
                let byte = bytes[position]
                position += 1
                if let violation = read(head: byte) { return fail(violation) }
            case .content:
                let part = UnsafeRawBufferPointer(rebasing: bytes[position...].prefix(rest))
                position += part.count
                rest -= part.count
                if let item = consume(part) { return item }
                if rest > 0 { return nil }
                if case .content = step { step = .start }
            }
        }
    }

    private mutating func fail(_ violation: WebSocketViolation) -> Item {
        step = .ended
        message = Data()
        return .violation(violation)
    }

    // MARK: The head of a frame

    private mutating func read(head byte: UInt8) -> WebSocketViolation? {
        switch step {
        case .start: return begin(byte)
        case .length: return readLength(byte)
        case .longLength(let missing):
            length = length << 8 | UInt64(byte)
            guard missing == 1 else {
                step = .longLength(missing - 1)
                return nil
            }
            guard length <= UInt64(Int64.max), length > (rest == 2 ? 125 : 0xFFFF) else { return .badLength }
            return beginContent()
        case .content, .ended: return nil
        }
    }

    private mutating func begin(_ byte: UInt8) -> WebSocketViolation? {
        guard byte & 0x70 == 0 else { return .reservedBits }
        guard let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else { return .unknownOpcode(byte & 0x0F) }
        isFinal = byte & 0x80 != 0
        if opcode.isControl {
            guard isFinal else { return .fragmentedControl }
        } else if opcode == .continuation {
            guard kind != nil else { return .strayContinuation }
        } else {
            guard kind == nil else { return .interruptedMessage }
        }
        self.opcode = opcode
        step = .length
        return nil
    }

    private mutating func readLength(_ byte: UInt8) -> WebSocketViolation? {
        guard byte & 0x80 == 0 else { return .maskedFrame }
        length = UInt64(byte)
        guard length > 125 else { return beginContent() }
        if opcode.isControl { return .longControl(length == 126 ? 126 : 127) }
        // Kept until the length is known.
        rest = length == 126 ? 2 : 8
        step = .longLength(rest)
        length = 0
        return nil
    }

    private mutating func beginContent() -> WebSocketViolation? {
        if opcode.isControl {
            control.removeAll(keepingCapacity: true)
        } else {
            guard length <= UInt64(max(0, maximumMessageSize - message.count)) else {
                return .tooLong(limit: maximumMessageSize)
            }
            if opcode != .continuation {
                kind = opcode
                text = UTF8Validation()
            }
        }
        rest = Int(length)
        step = .content
        return nil
    }

    // MARK: Its content

    /// Takes a part of the content, which is empty where the frame has none.
    private mutating func consume(_ part: UnsafeRawBufferPointer) -> Item? {
        if opcode.isControl {
            control.append(contentsOf: part)
            return rest == 0 ? endControl() : nil
        }
        if kind == .text, !text.accepts(part) { return fail(.badText) }
        // Mostly a message is one frame, all of which has come.
        guard rest > 0 || !isFinal || !message.isEmpty else { return endMessage(Data(part)) }
        message.append(contentsOf: part)
        guard rest == 0, isFinal else { return nil }
        var whole = Data()
        swap(&whole, &message)
        return endMessage(whole)
    }

    private mutating func endMessage(_ content: Data) -> Item {
        let kind = kind.take()
        step = .start
        guard kind == .text else { return .message(.data(content)) }
        guard text.isComplete else { return fail(.badText) }
        return .message(.text(String(decoding: content, as: UTF8.self)))
    }

    private mutating func endControl() -> Item {
        step = .start
        switch opcode {
        case .ping: return .ping(control)
        case .pong: return .pong(control)
        default: break
        }
        step = .ended
        guard !control.isEmpty else { return .close(WebSocketClosing(.noStatus)) }
        guard control.count > 1 else { return fail(.badClose) }
        let code = WebSocketCloseCode(rawValue: UInt16(control[0]) << 8 | UInt16(control[1]))
        guard code.isSendable else { return fail(.badCloseCode(code.rawValue)) }
        guard let reason = String(validating: control.dropFirst(2), as: UTF8.self) else {
            return fail(.badText)
        }
        return .close(WebSocketClosing(code, reason))
    }
}
