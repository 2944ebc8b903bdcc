// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import SessionCore

// What a turn of the loop consists of, and the limits of time.
extension TransferEngine {
    /// What is to be done before the loop waits.
    func work() {
        while isDue || isDirty || !afterwards.isEmpty {
            if isDue {
                isDue = false
                for pool in pools where pool.isDue {
                    pool.isDue = false
                    action(pool, CURL_SOCKET_TIMEOUT, 0)
                }
            }
            if isDirty {
                isDirty = false
                for pool in pools where pool.isDirty {
                    pool.isDirty = false
                    reap(pool)
                }
            }
            if !afterwards.isEmpty { doWhatHadToWait() }
        }
        wakeWaiters()
    }

    private func doWhatHadToWait() {
        let actions = afterwards
        afterwards.removeAll(keepingCapacity: true)
        for action in actions { action(self) }
    }

    func wakeWaiters() {
        guard !waiters.isEmpty else { return }
        var woken: [UnsafeContinuation<Void, Never>] = []
        swap(&woken, &waiters)
        for waiter in woken { waiter.resume() }
        // One by one: they are few, and `removeAll(keepingCapacity:)` is much code for that.
        while !woken.isEmpty { woken.removeLast() }
        if waiters.isEmpty { waiters = woken }
    }

    func action(_ pool: ConnectionPool, _ socket: Int32, _ events: Int32) {
        var left: Int32 = 0
        clock.update()
        inside { _ = ccurl_multi_action(pool.multi, socket, events, &left) }
        pool.isDirty = true
        isDirty = true
    }

    /// Runs something that calls libcurl, which may call back.
    func inside(_ body: () -> Void) {
        let before = isInside
        isInside = true
        body()
        isInside = before
    }

    /// Does it now, or when libcurl has been left.
    func outside(_ body: @escaping (TransferEngine) -> Void) {
        if isInside { later(body) } else { body(self) }
    }

    func later(_ body: @escaping (TransferEngine) -> Void) { afterwards.append(body) }

    // MARK: Limits of time

    /// Counts the silence of a transfer from now on.
    func watchOver(_ transfer: Transfer) {
        clock.update()
        transfer.lastActivity = clock.now
        let interval = transfer.options.longestSilence
        if interval != lastInterval.value { lastInterval = (interval, interval.nanoseconds) }
        sweep(at: clock.now &+ lastInterval.nanoseconds)
    }

    /// One timer for all: it looks at every transfer, but seldom.
    func sweep(at deadline: Int64) {
        guard deadline < sweepDeadline else { return }
        sweepDeadline = deadline
        if let sweep, reactor.reschedule(sweep, at: deadline) { return }
        sweep = reactor.schedule(at: deadline) { [unowned self] in
            sweep = nil
            sweepDeadline = .max
            endSilentOnes()
        }
    }

    func endSilentOnes() {
        clock.update()
        var next = Int64.max
        var silent: [Transfer] = []
        for transfer in running where transfer.hasPlace {
            // A sink or a source that is waited for is not the network's silence.
            if transfer.isWaiting { transfer.lastActivity = clock.now }
            if let easy = transfer.easy {
                transfer.lastActivity = max(transfer.lastActivity, ccurl_head_last(easy.head))
            }
            let deadline = transfer.lastActivity &+ transfer.options.longestSilence.nanoseconds
            if deadline <= clock.now { silent.append(transfer) } else { next = min(next, deadline) }
        }
        if next < .max { sweep(at: next) }
        for transfer in silent {
            fail(
                transfer,
                SessionError(
                    .timedOut, "nothing came from the server for \(transfer.options.timeoutInterval)",
                    remedy: .longerSilence, failingURL: transfer.request.url, response: transfer.response))
        }
    }
}
