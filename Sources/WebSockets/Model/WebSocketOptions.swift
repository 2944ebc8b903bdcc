// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
public import SessionCore

/// How a WebSocket behaves.
public struct WebSocketOptions: Sendable, Equatable {
    /// Whether it connects again after a loss; it does not.
    ///
    /// What was under way at a loss may be gone, and the server knows nothing of what the former connection
    /// had subscribed to: a program has to handle ``WebSocketEvent/opened(_:)`` before it asks for this.
    public var reconnects: WebSocketReconnection
    /// After how long without a byte from the server it is pinged; 30 s, nil for never.
    ///
    /// A line that is dead behind the router shows in nothing else. Each ping wakes the processor, and costs
    /// about 200 bytes both ways; what the server sends takes the place of pings.
    public var keepAlive: Duration?
    /// How long the answer to a ping may take before the connection counts as lost; 20 s.
    public var pongTimeout: Duration
    /// How long the other side may take to close; 5 s.
    public var closeTimeout: Duration
    /// The longest message that is accepted, in bytes; 1 MiB.
    ///
    /// A longer one ends the WebSocket with ``WebSocketCloseCode/messageTooBig`` before it is stored.
    public var maximumMessageSize: Int
    /// How many bytes of messages wait for the program before nothing more is read; 256 KiB.
    ///
    /// Then the server can send only what the kernel's buffers hold, and pings are not answered.
    public var receiveBufferSize: Int
    /// How many bytes wait for the network before `send` waits; 256 KiB.
    public var sendBufferSize: Int
    /// The size of the frames in which a longer message leaves, in bytes; 64 KiB.
    ///
    /// Answers to pings, and a close frame after an error, go between them.
    public var fragmentSize: Int

    /// Options; the defaults are those of the members.
    public init(
        reconnects: WebSocketReconnection = .never, keepAlive: Duration? = .seconds(30),
        pongTimeout: Duration = .seconds(20), closeTimeout: Duration = .seconds(5),
        maximumMessageSize: Int = 1 << 20, receiveBufferSize: Int = 256 << 10,
        sendBufferSize: Int = 256 << 10,
        fragmentSize: Int = 64 << 10
    ) {
        self.reconnects = reconnects
        self.keepAlive = keepAlive
        self.pongTimeout = pongTimeout
        self.closeTimeout = closeTimeout
        self.maximumMessageSize = maximumMessageSize
        self.receiveBufferSize = receiveBufferSize
        self.sendBufferSize = sendBufferSize
        self.fragmentSize = fragmentSize
    }
}

extension WebSocketOptions: Configurable {
    /// The defaults.
    public init() { self.init(reconnects: .never) }
}

/// When a WebSocket connects again by itself.
public struct WebSocketReconnection: Sendable, Equatable {
    /// Never: each loss is the end.
    public static let never = WebSocketReconnection(firstDelay: .zero, longestDelay: .zero, attempts: 0)
    /// As soon as the path is back, and after every other loss with growing pauses: 1 s, doubled up to 60 s.
    public static let whenPathIsBack = WebSocketReconnection(
        firstDelay: .seconds(1), longestDelay: .seconds(60), attempts: nil)

    /// The pause before the first attempt; doubled with each further one.
    ///
    /// Between half of it and the whole is waited, by chance, so that not all clients of a server come back
    /// at once.
    public var firstDelay: Duration
    /// The longest pause.
    public var longestDelay: Duration
    /// How many attempts in a row may fail; nil for any number.
    ///
    /// Time without a network counts as none: the attempt waits for the path as every request does.
    public var attempts: Int?

    /// Connects again with these pauses.
    public init(firstDelay: Duration, longestDelay: Duration, attempts: Int?) {
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.attempts = attempts
    }
}

extension Duration {
    /// Whole nanoseconds, bounded to 146 years either way, so that an instant can be added to them.
    var boundedNanoseconds: Int64 { min(max(inNanoseconds, .min / 2), .max / 2) }
}
