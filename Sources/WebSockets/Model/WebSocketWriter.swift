// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Makes the frames of what a client sends, piece by piece, so that a long message needs no second copy.
///
/// Messages leave in their order, in frames of at most a fragment's size (RFC 6455 §5.4); control frames go
/// between those. Behind a close frame nothing leaves.
package struct WebSocketWriter: ~Copyable, Sendable {
    private struct Frame {
        var key: UInt32
        /// Where the frame's content begins and ends in the message.
        var start: Int
        var end: Int
        /// How much of it was written.
        var position: Int
    }

    /// The size of a fragment; a message that is not longer is one frame.
    private let fragmentSize: Int
    private var messages: [(opcode: WebSocketOpcode, content: Data)] = []
    private var first = 0
    /// The frame that is being written.
    private var frame: Frame?
    /// How much of the first message is in frames that were written.
    private var begun = 0
    /// The newest ping that is to be answered: earlier ones need no answer (§5.5.3).
    private var pong: [UInt8]?
    private var pings: [[UInt8]] = []
    private var closing: WebSocketClosing?
    /// Whether the close frame leaves before the messages that wait.
    private var isClosingUrgent = false
    /// Whether a close frame was written.
    package private(set) var hasClosed = false
    /// The content of the messages that were not wholly written, in bytes.
    package private(set) var waitingBytes = 0

    package init(fragmentSize: Int) { self.fragmentSize = max(1, fragmentSize) }

    /// How many messages were not wholly written.
    package var waitingMessages: Int { messages.count - first }

    /// Whether ``fill(_:key:)`` would write something.
    package var isEmpty: Bool {
        hasClosed || frame == nil && waitingMessages == 0 && pong == nil && pings.isEmpty && closing == nil
    }

    package mutating func send(_ message: WebSocketMessage) {
        switch message {
        case .text(let text): messages.append((.text, Data(text.utf8)))
        case .data(let data): messages.append((.binary, data))
        }
        waitingBytes += message.byteCount
    }

    /// Control frames: at most 125 bytes of content are sent.
    package mutating func ping(_ content: [UInt8]) { pings.append(content) }
    package mutating func answerPing(_ content: [UInt8]) { pong = content }

    /// Sends a close frame behind the messages that wait, or before them where it `isUrgent`.
    package mutating func close(_ closing: WebSocketClosing, isUrgent: Bool) {
        self.closing = closing
        isClosingUrgent = isUrgent
    }

    /// Writes as much as fits, and returns how much that is.
    ///
    /// - Parameters:
    ///   - buffer: has room for a control frame at least: 139 bytes.
    ///   - key: a new one for each frame.
    package mutating func fill(_ buffer: UnsafeMutableRawBufferPointer, key: () -> UInt32) -> Int {
        var count = 0
        while !hasClosed {
            if frame != nil {
                count += writeContent(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                if frame != nil { return count }
                continue
            }
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            guard room.count >= WebSocketFrameHead.longest + WebSocketFrameHead.controlLimit else {
                return count
            }
            if let content = pong.take() {
                count += write(.pong, content, room, key())
            } else if !pings.isEmpty {
                count += write(.ping, pings.removeFirst(), room, key())
            } else if let closing, isClosingUrgent || waitingMessages == 0 {
                count += write(.close, Self.content(of: closing), room, key())
                hasClosed = true
            } else if waitingMessages > 0 {
                count += beginFrame(room, key())
            } else {
                return count
            }
        }
        return count
    }

    private func write(
        _ opcode: WebSocketOpcode, _ content: [UInt8], _ room: UnsafeMutableRawBufferPointer, _ key: UInt32
    ) -> Int {
        let content = content.prefix(WebSocketFrameHead.controlLimit)
        let head = WebSocketFrameHead(opcode, isFinal: true, length: content.count, key: key)
        head.write(to: room)
        let target = UnsafeMutableRawBufferPointer(rebasing: room[head.size..<(head.size + content.count)])
        target.copyBytes(from: content)
        WebSocketFrameHead.mask(target, key: key, from: 0)
        return head.size + content.count
    }

    /// Code and reason, which is cut between two characters where it is too long (§5.5.1).
    private static func content(of closing: WebSocketClosing) -> [UInt8] {
        guard closing.code.isSendable else { return [] }
        var content = [UInt8(closing.code.rawValue >> 8), UInt8(truncatingIfNeeded: closing.code.rawValue)]
        for scalar in closing.reason.unicodeScalars {
            let bytes = UTF8.encode(scalar)
            guard let bytes, content.count + bytes.count <= WebSocketFrameHead.controlLimit else { break }
            content.append(contentsOf: bytes)
        }
        return content
    }

    // MARK: Messages

    private mutating func beginFrame(_ room: UnsafeMutableRawBufferPointer, _ key: UInt32) -> Int {
        let (opcode, content) = messages[first]
        let end = min(content.count, begun + fragmentSize)
        let head = WebSocketFrameHead(
            begun == 0 ? opcode : .continuation, isFinal: end == content.count, length: end - begun, key: key)
        head.write(to: room)
        frame = Frame(key: key, start: begun, end: end, position: begun)
        return head.size
    }

    private mutating func writeContent(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard var frame else { return 0 }
        let count = min(room.count, frame.end - frame.position)
        if count > 0 {
            let content = messages[first].content
            let start = content.startIndex + frame.position
            content.copyBytes(to: room, from: start..<(start + count))
            WebSocketFrameHead.mask(
                UnsafeMutableRawBufferPointer(rebasing: room[..<count]), key: frame.key,
                from: frame.position - frame.start)
            frame.position += count
        }
        self.frame = frame
        if frame.position == frame.end { endFrame(frame) }
        return count
    }

    private mutating func endFrame(_ ended: Frame) {
        frame = nil
        begun = ended.end
        let length = messages[first].content.count
        guard begun == length else { return }
        begun = 0
        waitingBytes -= length
        messages[first].content = Data()
        first += 1
        // Moves each message once at most.
        if first * 2 >= messages.count {
            messages.removeFirst(first)
            first = 0
        }
    }
}
