// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
public import SessionCore
public import SessionManager

extension URLSessionManager {
    /// A WebSocket, which connects at once, or as soon as the network and the queue permit.
    ///
    /// It goes as every request of the manager does: its interceptor's adapters, its delegate and handlers
    /// for challenges and redirects, its security policy, cookies, proxy and interface hold.
    ///
    /// - Parameters:
    ///   - address: `wss`, `ws`, `https` or `http`; absolute.
    ///   - protocols: the subprotocols that are offered, the best first.
    ///   - headers: sent with the handshake, beside its own.
    ///   - options: reconnecting, pings, limits.
    ///   - taskOptions: what it asks of the queue, its credential and handlers; progress, blocks and files
    ///     mean nothing.
    /// - Throws: where address, names or header fields cannot be used, and
    ///   ``SessionError/Code/invalidated`` after `invalidate(cancellingTasks:resettingSession:)`.
    public func webSocket(
        _ address: String, protocols: [String] = [], headers: any RequestHeaders = [String: String](),
        options: WebSocketOptions = WebSocketOptions(), taskOptions: TaskOptions? = nil
    ) throws(SessionError) -> WebSocket {
        var request = SessionRequest(
            url: try URL(carried: address.withoutWebSocketScheme), headerFields: DefaultHeaderFields.current)
        try request.replaceHeaders(headers)
        return try webSocket(with: request, protocols: protocols, options: options, taskOptions: taskOptions)
    }

    /// The same for a request that is made already: its header fields and options hold, its method is GET.
    public func webSocket(
        with request: SessionRequest, protocols: [String] = [],
        options: WebSocketOptions = WebSocketOptions(),
        taskOptions: TaskOptions? = nil
    ) throws(SessionError) -> WebSocket {
        try WebSocketHandshake.check(protocols)
        var request = request
        request.url = try URL(carried: request.url.absoluteString.withoutWebSocketScheme)
        request.method = .get
        request.body = nil
        // Upgrades are a matter of HTTP/1.1 (RFC 6455 §4.1).
        request.options.maximumHTTPVersion = .http1_1
        let reactor = try reactor.get()
        let channel = WebSocketChannel(options)
        let driver = LoopBound(
            WebSocketDriver(self, request, protocols: protocols, options, taskOptions, channel, on: reactor),
            to: reactor)
        let first = try task(request, taskOptions, upgradedBy: WebSocketUpgrade(driver))
        driver.perform { $0.connect(by: first) }
        return WebSocket(channel, driver)
    }
}

extension HTTPSessionManager {
    /// A WebSocket, which connects at once, or as soon as the network and the queue permit.
    ///
    /// - Parameters:
    ///   - address: as in other calls, or absolute with `wss` or `ws`.
    ///   - protocols: the subprotocols that are offered, the best first.
    ///   - headers: replace what the serializer puts in.
    ///   - options: reconnecting, pings, limits.
    ///   - taskOptions: what it asks of the queue, its credential and handlers; progress, blocks and files
    ///     mean nothing.
    /// - Throws: as the same function of `URLSessionManager`.
    public func webSocket(
        _ address: String, protocols: [String] = [], headers: any RequestHeaders = [String: String](),
        options: WebSocketOptions = WebSocketOptions(), taskOptions: TaskOptions? = nil
    ) throws(SessionError) -> WebSocket {
        try urlSessionManager.webSocket(
            with: request(.get, address.withoutWebSocketScheme, headers: headers), protocols: protocols,
            options: options, taskOptions: taskOptions)
    }
}

extension String {
    /// With the scheme of HTTP that a WebSocket's stands for (RFC 6455 §3).
    fileprivate var withoutWebSocketScheme: String {
        guard let colon = firstIndex(of: ":") else { return self }
        switch self[..<colon].lowercased() {
        case "ws": return "http" + self[colon...]
        case "wss": return "https" + self[colon...]
        case "ws+unix": return "http+unix" + self[colon...]
        case "wss+unix": return "https+unix" + self[colon...]
        default: return self
        }
    }
}
