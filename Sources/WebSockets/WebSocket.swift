// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import FoundationEssentials
public import SessionCore
import SessionManager

/// A connection over which both sides send messages at any time (RFC 6455).
///
///     let socket = try api.webSocket("live", protocols: ["v1.telemetry"])
///     try await socket.send(.text("subscribe"))
///     for try await message in socket.messages { print(message) }
///
/// It is made, and held by the queue, as a request is: it waits for the network, for its turn and for what
/// the task's options ask for, with their hold reasons. Once it is open it takes no place among the requests.
/// It lasts until one side closes it, its path dies (see ``WebSocketOptions/reconnects``), or the
/// last reference is released. Every member may be used from any thread.
public final class WebSocket: Sendable {
    private let channel: WebSocketChannel
    private let driver: LoopBound<WebSocketDriver>

    init(_ channel: WebSocketChannel, _ driver: LoopBound<WebSocketDriver>) {
        self.channel = channel
        self.driver = driver
    }

    deinit { driver.perform { $0.cancel() } }

    // MARK: What comes

    /// What happens, messages among it; a program that does not read holds the server up.
    public var events: WebSocketEvents { WebSocketEvents(socket: self) }

    /// The messages that come; a program that does not read holds the server up.
    public var messages: WebSocketMessages { WebSocketMessages(socket: self) }

    /// The next message.
    ///
    /// - Throws: ``SessionError/Code/networkConnectionLost`` after the end, or what has ended it.
    public func receive() async throws(SessionError) -> WebSocketMessage {
        guard let message = try await nextMessage() else { throw channel.closedError }
        return message
    }

    func nextEvent() async throws(SessionError) -> WebSocketEvent? {
        try await channel.next { driver.perform { $0.readOn() } }
    }

    func nextMessage() async throws(SessionError) -> WebSocketMessage? {
        while let event = try await nextEvent() {
            if case .message(let message) = event { return message }
        }
        return nil
    }

    // MARK: What is sent

    /// Sends a message.
    ///
    /// Waits while there is no connection, and while ``WebSocketOptions/sendBufferSize`` bytes
    /// wait for the network. When it returns the message is on its way; only the other side can say that it
    /// has come.
    ///
    /// - Throws: why there will be no connection any more, and ``SessionError/Code/cancelled`` where the
    ///   Swift task is cancelled before the message was accepted.
    public func send(_ message: WebSocketMessage) async throws(SessionError) {
        if try await channel.accept(message) { driver.perform { $0.sendOutgoing() } }
    }

    /// Sends text, as the other `send` does a message.
    public func send(_ text: String) async throws(SessionError) { try await send(.text(text)) }

    /// Sends bytes, as the other `send` does a message.
    public func send(_ data: Data) async throws(SessionError) { try await send(.data(data)) }

    /// Sends a ping and waits for its answer.
    ///
    /// - Returns: how long the answer took.
    /// - Throws: why there is no connection, or that it ended before the answer; a cancelled Swift task's
    ///   ``SessionError/Code/cancelled``.
    public func ping() async throws(SessionError) -> Duration {
        _ = try await channel.opening()
        let number: UInt64? = await withUnsafeContinuation { continuation in
            driver.perform { continuation.resume(returning: $0.ping()) }
        }
        guard let sent = number else {
            throw SessionError(.networkConnectionLost, "the connection ended before the ping was sent")
        }
        return .nanoseconds(try await channel.pong(sent))
    }

    // MARK: Its end

    /// Closes it: what `send` has accepted leaves, then a close frame; returns when all is over.
    ///
    /// The other side has ``WebSocketOptions/closeTimeout`` to answer. What it sends meanwhile is
    /// still among ``messages``, as far as there is room. Where nothing is open, nothing is sent.
    ///
    /// - Parameters:
    ///   - code: 1000, or one from 3000 on that is the program's own; others that cannot be sent are left
    ///     out.
    ///   - reason: at most 123 bytes of UTF-8; the rest is cut off.
    public func close(code: WebSocketCloseCode = .normal, reason: String = "") async {
        let closing = WebSocketClosing(code, reason)
        channel.change(waking: [.room]) { $0.isClosing = true }
        driver.perform { $0.close(closing) }
        await channel.waitForEnd()
    }

    /// Ends it at once, without a close frame: ``messages`` throws ``SessionError/Code/cancelled``.
    public func cancel() { driver.perform { $0.cancel() } }

    // MARK: How it is

    /// Waits until it is open.
    ///
    /// - Returns: the server's answer to the handshake.
    /// - Throws: why it will not be open.
    @discardableResult
    public func opened() async throws(SessionError) -> SessionResponse { try await channel.opening() }

    /// Whether there is a connection on which the server has agreed to the handshake.
    public var isOpen: Bool { channel.read { $0.opening != nil } }
    /// The server's answer to the handshake, while there is a connection.
    public var response: SessionResponse? { channel.read { $0.opening } }
    /// The subprotocol that the server has chosen; nil for none.
    public var negotiatedProtocol: String? { channel.read { $0.negotiatedProtocol } }
    /// Why the other side has closed the last connection; nil where it has not.
    ///
    /// ``WebSocketCloseCode/noStatus`` for a close frame without a code.
    public var closeCode: WebSocketCloseCode? { channel.read { $0.closing?.code } }
    /// What the other side has said about it; nil where it has not closed.
    public var closeReason: String? { channel.read { $0.closing?.reason } }
    /// Why it waits instead of connecting; nil where it does not wait.
    public var waitingReason: HoldReason? { channel.read { $0.task }?.waitingReason }
}
