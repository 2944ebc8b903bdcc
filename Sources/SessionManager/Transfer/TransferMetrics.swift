// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
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

extension TransferMetrics {
    /// What libcurl measured of the transfer that the handle has just carried out.
    init(_ easy: EasyHandle, version: HTTPVersion?) {
        self.init()
        let figures = ccurl_get_figures(easy.raw)
        steps = Steps(
            nameLookup: figures.name_lookup &* 1_000, connect: figures.connect &* 1_000,
            secureConnection: figures.tls &* 1_000, requestStart: figures.request_start &* 1_000,
            firstByte: Self.firstByte(easy, figures), total: figures.total &* 1_000)
        bytesSent = figures.uploaded
        bytesReceived = figures.downloaded
        headerBytesReceived = Int64(figures.header_bytes)
        self.version = version
        isReusedConnection = figures.connects == 0
        remote = Endpoint(figures.remote, figures.remote_port, &easy.remoteText)
        local = Endpoint(figures.local, figures.local_port, &easy.localText)
    }

    /// When the response began, in nanoseconds; zero where none did.
    ///
    /// For a body libcurl has the time when it began to send that (7.88): there the head's first line counts.
    private static func firstByte(_ easy: EasyHandle, _ figures: ccurl_figures) -> Int64 {
        guard easy.options?.hasBody == true else { return figures.first_byte &* 1_000 }
        let line = ccurl_head_first(easy.head)
        let sinceThen = easy.turn.clock.now &- line
        return line == 0 ? 0 : max(figures.request_start, figures.total &- sinceThen / 1_000) &* 1_000
    }
}

extension TransferMetrics.Endpoint {
    /// An end as libcurl has it, nil for none; `last` is the text of the one before, mostly the same.
    fileprivate init?(_ address: UnsafePointer<CChar>?, _ port: Int, _ last: inout String) {
        guard let address, address.pointee != 0 else { return nil }
        let length = strlen(address)
        let isLast = last.withUTF8 { text in
            guard text.count == length, let start = text.baseAddress else { return false }
            return memcmp(start, address, length) == 0
        }
        if !isLast { last = String(cString: address) }
        self.init(address: last, port: port)
    }
}
