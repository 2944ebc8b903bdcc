// SPDX-License-Identifier: Apache-2.0

package import SessionCore

/// Decides what one connection of a WebSocket does next: one method for each event, one action for each
/// answer (RFC 6455 §4, §5.5, §7).
///
/// | event           | connecting | open                   | closing                | closed |
/// |-----------------|------------|------------------------|------------------------|--------|
/// | opened          | open       | -                      | -                      | -      |
/// | message         | -          | deliver                | deliver 1              | -      |
/// | ping            | -          | answer                 | answer 1               | -      |
/// | pong            | -          | answers pings          | answers pings          | -      |
/// | close           | -          | answer, closing        | closing 2              | -      |
/// | violation       | -          | close, closing 3       | end                    | -      |
/// | close requested | end        | close, closing         | -                      | -      |
/// | close sent      | -          | -                      | end 3                  | -      |
/// | connection lost | end        | end                    | end                    | end    |
/// | time            | -          | ping, or end: silent   | end                    | -      |
///
/// 1. Until the other side's close frame has come.
/// 2. The server ends the connection first (§7.1.1); it has until the limit.
/// 3. The client ends the connection where it fails it (§7.1.7), as soon as the close frame has left.
package struct WebSocketStateMachine: ~Copyable, Sendable {
    package enum State: Sendable, Equatable {
        case connecting
        case open
        case closing
        case closed
    }

    /// What the connection does.
    package enum Action: Sendable, Equatable {
        case nothing
        case deliver(WebSocketMessage)
        case answerPing([UInt8])
        case ping(UInt64)
        /// This ping, and all before it, were answered after so many nanoseconds.
        case answered(UInt64, after: Int64)
        /// Send a close frame, before the messages that wait where it is urgent.
        case close(WebSocketClosing, isUrgent: Bool)
        /// End the connection.
        case end(WebSocketEnd)
    }

    /// How long things may take, in nanoseconds.
    package struct Timing: Sendable, Equatable {
        /// After so long without a byte a ping is sent; nil for never.
        package var keepAlive: Int64?
        /// How long the answer to a ping may take.
        package var pongLimit: Int64
        /// How long the other side may take to close.
        package var closeLimit: Int64

        package init(keepAlive: Int64?, pongLimit: Int64, closeLimit: Int64) {
            self.keepAlive = keepAlive
            self.pongLimit = pongLimit
            self.closeLimit = closeLimit
        }

        /// As a program has set it; a server is pinged after 1 ms at the earliest.
        package init(_ options: WebSocketOptions) {
            self.init(
                keepAlive: options.keepAlive.map { max(1_000_000, $0.boundedNanoseconds) },
                pongLimit: options.pongTimeout.boundedNanoseconds,
                closeLimit: options.closeTimeout.boundedNanoseconds)
        }
    }

    package private(set) var state = State.connecting
    /// What the other side's close frame has said; nil before it.
    package private(set) var peerClosing: WebSocketClosing?
    private let timing: Timing
    /// What was wrong with what came.
    private var violation: WebSocketViolation?
    /// Nothing is read while the program reads nothing, or holds the connection: silence means nothing then.
    private var isHeld = false
    private var lastByte: Int64 = 0
    /// When the ping was sent whose answer is awaited.
    private var keepAliveSent: Int64?
    private var closeDeadline: Int64?
    /// The pings without an answer, the oldest first.
    private var pings: [(number: UInt64, sent: Int64)] = []
    private var number: UInt64 = 0

    /// More pings wait for no answer at once: older ones count as lost.
    private static let mostPings = 64

    package init(_ timing: Timing) { self.timing = timing }

    /// When ``timeCame(at:)`` is to be called; nil for never.
    package var nextDeadline: Int64? {
        switch state {
        case .connecting, .closed: nil
        case .closing: closeDeadline
        case .open:
            if isHeld {
                nil
            } else if let keepAliveSent {
                keepAliveSent &+ timing.pongLimit
            } else {
                timing.keepAlive.map { lastByte &+ $0 }
            }
        }
    }

    // MARK: What comes

    /// The server has agreed to the handshake.
    package mutating func opened(at now: Int64) {
        guard state == .connecting else { return }
        state = .open
        lastByte = now
    }

    /// Bytes have come: the line works.
    package mutating func bytesCame(at now: Int64) {
        lastByte = now
        keepAliveSent = nil
    }

    package mutating func received(_ item: WebSocketDecoder.Item, at now: Int64) -> Action {
        guard state == .open || state == .closing, peerClosing == nil else { return .nothing }
        switch item {
        case .message(let message): return .deliver(message)
        case .ping(let content): return .answerPing(content)
        case .pong(let content): return pong(content, at: now)
        case .close(let closing):
            peerClosing = closing
            closeDeadline = now &+ timing.closeLimit
            guard state == .open else { return .nothing }
            state = .closing
            // The code comes back (§5.5.1).
            return .close(WebSocketClosing(closing.code), isUrgent: true)
        case .violation(let violation):
            self.violation = violation
            guard state == .open else { return end(.violated(violation)) }
            state = .closing
            closeDeadline = now &+ timing.closeLimit
            return .close(violation.closing, isUrgent: true)
        }
    }

    private mutating func pong(_ content: [UInt8], at now: Int64) -> Action {
        guard content.count == 8 else { return .nothing }
        let number = content.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let index = pings.firstIndex(where: { $0.number == number }) else { return .nothing }
        let sent = pings[index].sent
        pings.removeFirst(index + 1)
        return .answered(number, after: now &- sent)
    }

    /// The other side has ended the connection, or it broke; nil where nothing says why.
    package mutating func connectionLost(_ error: SessionError?) -> Action {
        if let violation { return end(.violated(violation)) }
        if let peerClosing { return end(.closed(peerClosing)) }
        return end(.lost(error))
    }

    // MARK: What is asked for

    /// The program closes the connection.
    package mutating func closeRequested(_ closing: WebSocketClosing, at now: Int64) -> Action {
        switch state {
        case .connecting: return end(.lost(nil))
        case .open:
            state = .closing
            closeDeadline = now &+ timing.closeLimit
            return .close(closing, isUrgent: false)
        case .closing, .closed: return .nothing
        }
    }

    /// The close frame has left.
    package mutating func closeSent() -> Action {
        guard state == .closing, let violation else { return .nothing }
        return end(.violated(violation))
    }

    /// The program pings; nil where the connection is not open.
    package mutating func pingRequested(at now: Int64) -> UInt64? {
        guard state == .open else { return nil }
        number += 1
        if pings.count == Self.mostPings { pings.removeFirst() }
        pings.append((number, now))
        return number
    }

    /// What comes is not read, or is read again.
    package mutating func setHeld(_ isHeld: Bool, at now: Int64) {
        guard isHeld != self.isHeld else { return }
        self.isHeld = isHeld
        // The answer may lie in the kernel.
        if !isHeld { bytesCame(at: now) }
    }

    // MARK: Time

    package mutating func timeCame(at now: Int64) -> Action {
        guard let deadline = nextDeadline, deadline <= now else { return .nothing }
        switch state {
        case .connecting, .closed: return .nothing
        case .closing:
            if let violation { return end(.violated(violation)) }
            return end(peerClosing.map { .closed($0) } ?? .unanswered)
        case .open:
            guard keepAliveSent == nil else { return end(.silent(now &- lastByte)) }
            keepAliveSent = now
            return pingRequested(at: now).map { .ping($0) } ?? .nothing
        }
    }

    private mutating func end(_ end: WebSocketEnd) -> Action {
        guard state != .closed else { return .nothing }
        state = .closed
        return .end(end)
    }
}

/// How a connection of a WebSocket ended.
package enum WebSocketEnd: Sendable, Equatable {
    /// The other side has closed it, or has answered a close frame.
    case closed(WebSocketClosing)
    /// A close frame was not answered within the limit.
    case unanswered
    /// What came broke the protocol.
    case violated(WebSocketViolation)
    /// Nothing came for so many nanoseconds, and a ping was not answered.
    case silent(Int64)
    /// The connection broke, or ended without a close frame.
    case lost(SessionError?)

    package static func == (one: WebSocketEnd, other: WebSocketEnd) -> Bool {
        switch (one, other) {
        case (.closed(let one), .closed(let other)): one == other
        case (.violated(let one), .violated(let other)): one == other
        case (.silent(let one), .silent(let other)): one == other
        case (.lost(let one), .lost(let other)): one?.code == other?.code && one?.message == other?.message
        case (.unanswered, .unanswered): true
        default: false
        }
    }
}
