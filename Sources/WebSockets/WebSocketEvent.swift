// SPDX-License-Identifier: Apache-2.0

public import SessionCore

/// What happens to a WebSocket.
public enum WebSocketEvent: Sendable {
    /// The server has agreed: what a program subscribes to, it asks for now.
    case opened(SessionResponse)
    /// A message has come.
    case message(WebSocketMessage)
    /// The connection is lost, and another one will be made.
    ///
    /// - `unsent`: how many messages `send` had accepted of which not all has left; they are gone. Of those
    ///   that have left, the last ones may be lost too.
    case interrupted(SessionError, unsent: Int)
    /// There is another connection: the server knows nothing of the former one.
    case reconnected(SessionResponse)
}

/// The events of a WebSocket, as they come; nil after it was closed.
///
/// Several readers share them: each event goes to one.
public struct WebSocketEvents: AsyncSequence, Sendable {
    let socket: WebSocket

    /// A pass over the events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let socket: WebSocket

        /// The next event; nil after a normal end.
        ///
        /// - Throws: what ended the WebSocket otherwise, and ``SessionError/Code/cancelled``.
        public mutating func next() async throws(SessionError) -> WebSocketEvent? {
            try await socket.nextEvent()
        }
    }

    /// A pass over the events.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }
}

/// The messages of a WebSocket, as they come; nil after it was closed.
///
/// Other events are left out: a program whose socket connects again reads ``WebSocket/events``.
public struct WebSocketMessages: AsyncSequence, Sendable {
    let socket: WebSocket

    /// A pass over the messages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let socket: WebSocket

        /// The next message; nil after a normal end.
        ///
        /// - Throws: what ended the WebSocket otherwise, and ``SessionError/Code/cancelled``.
        public mutating func next() async throws(SessionError) -> WebSocketMessage? {
            try await socket.nextMessage()
        }
    }

    /// A pass over the messages.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }
}
