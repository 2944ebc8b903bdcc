// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import Glibc
import SessionCore
import SessionManager
import TestSupport

/// Transfers by the smallest engine there can be: what security policies do is seen without the session
/// manager's own.
///
/// One multi handle, as one session has; used by one test, which it holds up for as long as a handshake on
/// loopback takes.
final class TLSProbe {
    struct Result {
        let code: CURLcode
        let error: SessionError?
        /// Nil where libcurl verifies by itself.
        let evaluator: TrustEvaluator?
        let isReused: Bool
        /// What came: of `/connection`, what the server knows of the connection.
        let body: String
        var isResumed: Bool { body.contains(#""resumed": true"#) }
        var isAccepted: Bool { code == CURLE_OK }
    }

    let origin: TestSupport.Origin
    /// What transfers share, to be freed after `close`.
    var share: UnsafeMutableRawPointer?
    private var multi: UnsafeMutableRawPointer?
    private var body: [UInt8] = []
    private var handle: UnsafeMutableRawPointer?
    private var sockets: [Int32: Int32] = [:]
    private var timeout = -1

    init(_ origin: TestSupport.Origin) throws {
        self.origin = origin
        _ = try CurlLibrary.load()
        guard let multi = ccurl_multi_init() else { throw LabError("no multi handle") }
        self.multi = multi
        ccurl_multi_set_callbacks(
            multi, Self.onSocket, Self.onTimer, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { close() }

    /// Ends all connections.
    func close() {
        if let handle { ccurl_easy_cleanup(handle) }
        if let multi { ccurl_multi_cleanup(multi) }
        (handle, multi) = (nil, nil)
    }

    /// One GET under a policy; a host is resolved to loopback unless it is an address.
    ///
    /// - Parameter prepare: Sets more of the easy handle, after the policy.
    func get(
        _ listener: OriginListener, host: String = "origin.test", path: String = "/status/200",
        scheme: String? = nil,
        _ settings: TLSSettings, judge: TrustEvaluator.Judge = .policy, freshConnection: Bool = true,
        begins: Bool = true, prepare: (UnsafeMutableRawPointer) -> Void = { _ in }
    ) throws -> Result {
        if let handle { ccurl_easy_cleanup(handle) }
        guard let easy = ccurl_easy_init() else { throw LabError("no easy handle") }
        handle = easy
        body = []
        let address = scheme.map { "\($0)://\(host):\(origin.port(listener))\(path)" }
        let url = try SessionRequest(address ?? origin.url(path, at: listener, host: host)).url
        let names = ccurl_list_append(nil, origin.resolveEntry(listener, host: host))
        defer { ccurl_list_free(names) }
        var text = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        return try text.withUnsafeMutableBufferPointer { text in
            ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, text.baseAddress)
            ccurl_set_pointer(easy, CURLOPT_RESOLVE, names)
            ccurl_set_string(easy, CURLOPT_URL, url.absoluteString)
            ccurl_set_string(easy, CURLOPT_NOPROXY, "*")
            ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
            ccurl_set_data_function(easy, CURLOPT_WRITEFUNCTION, Self.onContent)
            ccurl_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
            ccurl_set_pointer(easy, CURLOPT_SHARE, share)
            ccurl_set_long(easy, CURLOPT_TIMEOUT, 20)
            ccurl_set_long(easy, CURLOPT_FORBID_REUSE, freshConnection ? 1 : 0)
            try settings.configure(easy)
            prepare(easy)
            let evaluator = begins ? settings.begin(easy, host: url.host() ?? "", judge: judge) : nil
            let code = withExtendedLifetime(evaluator) { transfer(easy) }
            settings.end(easy)
            let message = text.baseAddress.map { String(cString: $0) } ?? ""
            let failure = TransportFailure(curlCode: Int32(code.rawValue), message: message)
            var connections = 0
            ccurl_get_long(easy, CURLINFO_NUM_CONNECTS, &connections)
            return Result(
                code: code,
                error: code == CURLE_OK ? nil : settings.error(failure, easy, url: url, evaluator: evaluator),
                evaluator: evaluator, isReused: connections == 0, body: String(decoding: body, as: UTF8.self))
        }
    }

    private func transfer(_ easy: UnsafeMutableRawPointer) -> CURLcode {
        guard let multi else { return CURLE_FAILED_INIT }
        ccurl_multi_add(multi, easy)
        defer { ccurl_multi_remove(multi, easy) }
        var running: Int32 = 1
        ccurl_multi_action(multi, Int32(CCURL_SOCKET_TIMEOUT), 0, &running)
        while true {
            var code = CURLE_OK
            if ccurl_multi_next_done(multi, &code) != nil { return code }
            var waiting = sockets.map { pollfd(fd: $0.key, events: Int16($0.value), revents: 0) }
            let count = poll(&waiting, UInt(waiting.count), Int32(timeout))
            if count == 0 { ccurl_multi_action(multi, Int32(CCURL_SOCKET_TIMEOUT), 0, &running) }
            for one in waiting where one.revents != 0 {
                var events = 0
                if Int32(one.revents) & POLLIN != 0 { events |= CCURL_SELECT_IN }
                if Int32(one.revents) & POLLOUT != 0 { events |= CCURL_SELECT_OUT }
                if Int32(one.revents) & (POLLERR | POLLHUP) != 0 { events |= CCURL_SELECT_ERR }
                ccurl_multi_action(multi, one.fd, Int32(events), &running)
            }
        }
    }

    private static let onContent: ccurl_data_function = { bytes, size, count, user in
        guard let user else { return 0 }
        let probe = Unmanaged<TLSProbe>.fromOpaque(user).takeUnretainedValue()
        probe.body += UnsafeRawBufferPointer(start: bytes, count: size * count)
        return size * count
    }

    private static let onSocket: ccurl_socket_function = { _, socket, what, user, _ in
        guard let user else { return 0 }
        let probe = Unmanaged<TLSProbe>.fromOpaque(user).takeUnretainedValue()
        let what = Int(what)
        var events: Int32 = 0
        if what == CCURL_POLL_IN || what == CCURL_POLL_INOUT { events |= POLLIN }
        if what == CCURL_POLL_OUT || what == CCURL_POLL_INOUT { events |= POLLOUT }
        probe.sockets[socket] = what == CCURL_POLL_REMOVE ? nil : events
        return 0
    }

    private static let onTimer: ccurl_timer_function = { _, milliseconds, user in
        guard let user else { return 0 }
        Unmanaged<TLSProbe>.fromOpaque(user).takeUnretainedValue().timeout = milliseconds
        return 0
    }
}
