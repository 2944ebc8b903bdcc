// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
package import SessionCore

/// Limits how long a running transfer may be silent: one timer for all, which looks at every transfer, but
/// rarely; on the loop's thread.
final class IdleTimeouts {
    private let turn: EngineTurn
    private let pools: ConnectionPools
    private var timer: TimerID?
    private var deadline = Int64.max
    /// The last limit as a count: mostly the next transfer has the same.
    private var last = (limit: Duration.zero, nanoseconds: Int64(0))

    private var reactor: Reactor { turn.reactor }
    private var clock: LoopClock { turn.clock }

    init(turn: EngineTurn, pools: ConnectionPools) {
        self.turn = turn
        self.pools = pools
    }

    /// Counts the silence of a transfer from now on.
    func begin(_ transfer: Transfer) {
        clock.update()
        transfer.recordActivity(at: clock.now)
        let limit = transfer.options.longestSilence
        if limit != last.limit { last = (limit, limit.nanoseconds) }
        arm(at: clock.now &+ last.nanoseconds)
    }

    func cancel() {
        if let timer { _ = reactor.cancel(timer) }
        timer = nil
    }

    private func arm(at deadline: Int64) {
        guard deadline < self.deadline else { return }
        self.deadline = deadline
        if let timer, reactor.reschedule(timer, at: deadline) { return }
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            self.deadline = .max
            expireSilent()
        }
    }

    private func expireSilent() {
        clock.update()
        var next = Int64.max
        var silent: [Transfer] = []
        pools.forEachTransfer { transfer in
            guard transfer.hasSlot else { return }
            // Waiting for a sink or a source is not silence of the network.
            if transfer.isWaiting { transfer.recordActivity(at: clock.now) }
            if let easy = transfer.easy {
                transfer.recordActivity(at: max(transfer.lastActivity, ccurl_head_last(easy.head)))
            }
            let deadline = transfer.lastActivity &+ transfer.options.longestSilence.nanoseconds
            if deadline <= clock.now { silent.append(transfer) } else { next = min(next, deadline) }
        }
        if next < .max { arm(at: next) }
        for transfer in silent { turn.fail(transfer, transfer.silenceError) }
    }
}

extension Transfer {
    /// Its failure where it was silent for too long.
    package var silenceError: SessionError {
        let fault = lineFault.map { "; \($0)" } ?? ""
        return SessionError(
            .timedOut, "nothing came from the server for \(options.timeoutInterval)\(fault)",
            remedy: .longerSilence, failingURL: request.url, response: response)
    }
}
