// SPDX-License-Identifier: Apache-2.0

public import SessionCore

/// How long the steps of one exchange took, and what was moved.
///
/// Times count from the start of the exchange; a step that did not happen, as on a connection that is used
/// again, takes no time. Source: curl_easy_getinfo(3), "TIMES".
public struct TransferMetrics: Sendable, Equatable {
    /// Until the name was looked up.
    public var nameLookup: Duration {
        get { .nanoseconds(steps.nameLookup) }
        set { steps.nameLookup = newValue.nanoseconds }
    }
    /// Until the connection stood.
    public var connect: Duration {
        get { .nanoseconds(steps.connect) }
        set { steps.connect = newValue.nanoseconds }
    }
    /// Until TLS was agreed on; zero without TLS.
    public var secureConnection: Duration {
        get { .nanoseconds(steps.secureConnection) }
        set { steps.secureConnection = newValue.nanoseconds }
    }
    /// Until the request was about to be sent.
    public var requestStart: Duration {
        get { .nanoseconds(steps.requestStart) }
        set { steps.requestStart = newValue.nanoseconds }
    }
    /// Until the first byte of the response.
    public var firstByte: Duration {
        get { .nanoseconds(steps.firstByte) }
        set { steps.firstByte = newValue.nanoseconds }
    }
    /// Until the end.
    public var total: Duration {
        get { .nanoseconds(steps.total) }
        set { steps.total = newValue.nanoseconds }
    }
    /// Bytes of the body sent.
    public var bytesSent: Int64 = 0
    /// Bytes of the content received, before decoding.
    public var bytesReceived: Int64 = 0
    /// Bytes of the header fields received.
    public var headerBytesReceived: Int64 = 0
    /// Whether a connection was used again.
    public var isReusedConnection = false
    /// The version that was spoken.
    public var version: HTTPVersion?
    /// The server's end of the connection; nil where none came about.
    public var remote: Endpoint?
    /// This machine's end of the connection.
    public var local: Endpoint?

    /// An address with a port.
    public struct Endpoint: Sendable, Equatable, CustomStringConvertible {
        /// The address in its usual form.
        public let address: String
        /// The port of TCP or UDP.
        public let port: Int

        /// As `192.0.2.1:443` or `[2001:db8::1]:443`.
        public var description: String {
            address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
        }
    }

    /// Nothing yet.
    public init() {}

    /// The times in nanoseconds: a ``Swift/Duration`` is made on demand, which is rare.
    struct Steps: Sendable, Equatable {
        var nameLookup: Int64 = 0
        var connect: Int64 = 0
        var secureConnection: Int64 = 0
        var requestStart: Int64 = 0
        var firstByte: Int64 = 0
        var total: Int64 = 0
    }

    var steps = Steps()
}
