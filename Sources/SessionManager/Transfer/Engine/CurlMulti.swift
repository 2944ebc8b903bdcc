// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import SessionCore

/// One of libcurl's multi handles: called when its timer or one of its sockets is due, asked for what it has
/// finished; on the loop's thread.
///
/// libcurl's timer is a deadline of the loop, and what is due at once runs before the loop waits.
final class CurlMulti {
    private let raw: UnsafeMutableRawPointer
    private let turn: EngineTurn
    private let sockets: CurlSockets
    /// When libcurl wants to be called.
    private var deadline = Int64.max
    /// Calls it at the deadline or before.
    private var timer: TimerID?
    private var timerDeadline = Int64.max
    private var isDue = false
    private var mayHaveFinished = false
    private var isClosed = false

    init(
        turn: EngineTurn, sockets: CurlSockets, maximumIdleConnections: Int
    ) throws(SessionError) {
        guard let raw = ccurl_multi_init() else {
            throw SessionError(.outOfResources, "libcurl has no memory for a session")
        }
        self.raw = raw
        self.turn = turn
        self.sockets = sockets
        _ = ccurl_multi_set_long(raw, CURLMOPT_PIPELINING, Int(CCURL_PIPELINING_MULTIPLEX))
        _ = ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, maximumIdleConnections)
        let address = Unmanaged.passUnretained(self).toOpaque()
        _ = ccurl_multi_set_callbacks(raw, Self.onSocket, Self.onTimer, address)
    }

    /// Begins a transfer.
    func add(_ easy: EasyHandle) throws(SessionError) {
        var code = CURLM_OK
        turn.callLibcurl { code = ccurl_multi_add(raw, easy.raw) }
        guard code == CURLM_OK else {
            throw SessionError(.outOfResources, "libcurl: \(String(cString: ccurl_multi_text(code)))")
        }
    }

    /// Ends a transfer.
    func remove(_ easy: EasyHandle) { turn.callLibcurl { _ = ccurl_multi_remove(raw, easy.raw) } }

    /// Calls libcurl for a socket, or with CURL_SOCKET_TIMEOUT for its timer.
    func act(_ socket: Int32, _ events: Int32) {
        var left: Int32 = 0
        turn.clock.update()
        turn.callLibcurl { _ = ccurl_multi_action(raw, socket, events, &left) }
        expectFinished()
    }

    /// Calls libcurl where it wants to be called at once; false where not.
    func actIfDue() -> Bool {
        guard isDue else { return false }
        isDue = false
        act(CURL_SOCKET_TIMEOUT, 0)
        return true
    }

    /// Has libcurl asked in this turn for what it has finished.
    func expectFinished() {
        mayHaveFinished = true
        turn.mayHaveFinished = true
    }

    /// Hands over the transfers that have ended; false where there can be none.
    func collectFinished(_ handle: (EasyHandle, CURLcode) -> Void) -> Bool {
        guard mayHaveFinished else { return false }
        collectAllFinished(handle)
        return true
    }

    /// The same, wherever libcurl was called last; `handle` may call it again.
    func collectAllFinished(_ handle: (EasyHandle, CURLcode) -> Void) {
        mayHaveFinished = false
        var code = CURLE_OK
        while let finished = ccurl_multi_next_done(raw, &code) {
            if let easy = EasyHandle.of(finished) { handle(easy, code) }
        }
    }

    /// Closes all connections.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let timer { _ = turn.reactor.cancel(timer) }
        timer = nil
        isDue = false
        mayHaveFinished = false
        turn.callLibcurl { _ = ccurl_multi_cleanup(raw) }
    }

    // MARK: The timer

    private func setTimer(_ milliseconds: Int) {
        setDue(milliseconds == 0)
        deadline = milliseconds > 0 ? turn.clock.now &+ Int64(milliseconds) &* 1_000_000 : .max
        arm()
    }

    private func setDue(_ new: Bool) {
        isDue = new
        if new { turn.isDue = true }
    }

    /// Sets the timer, unless it fires early enough: moving it with each request would cost more than a rare
    /// idle turn.
    private func arm() {
        let deadline = deadline
        guard deadline < .max, timer == nil || deadline < timerDeadline else { return }
        timerDeadline = deadline
        if let timer, turn.reactor.reschedule(timer, at: deadline) { return }
        timer = turn.reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            guard self.deadline <= Reactor.now else { return arm() }
            self.deadline = .max
            setDue(true)
        }
    }

    // MARK: libcurl's callbacks

    private static let onTimer: ccurl_timer_function = { _, milliseconds, user in
        with(user) { $0.setTimer(milliseconds) }
        return 0
    }

    private static let onSocket: ccurl_socket_function = { _, socket, what, user, _ in
        with(user) { $0.sockets.watch(socket, Int(what), for: $0) }
        return 0
    }

    /// The object behind libcurl's pointer; its pool holds it while libcurl runs.
    private static func with(_ user: UnsafeMutableRawPointer?, _ body: (CurlMulti) -> Void) {
        guard let user else { return }
        Unmanaged<CurlMulti>.fromOpaque(user)._withUnsafeGuaranteedRef { body($0) }
    }
}
