// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import Glibc
package import SessionCore

/// How long a server may take to begin its answer once it has the whole request; on the loop's thread.
final class FirstByteLimit {
    private let limit: Duration
    private unowned let transfer: Transfer
    private let turn: EngineTurn
    private var timer: TimerID?
    /// When the head's last line had come as the waiting began.
    private var lastLine: Int64 = 0
    /// Bytes that the kernel still had to bring to the server, when that was looked at last.
    private var unsent: Int32 = 0

    init(_ limit: Duration, _ transfer: Transfer, turn: EngineTurn) {
        self.limit = limit
        self.transfer = transfer
        self.turn = turn
    }

    /// The request is in the kernel's hands: from now on, or anew.
    func begin() {
        guard let easy = transfer.easy else { return }
        lastLine = ccurl_head_last(easy.head)
        unsent = queued(easy)
        arm()
    }

    /// The answer has begun, or is not waited for now.
    func end() {
        guard let timer = timer.take() else { return }
        _ = turn.reactor.cancel(timer)
    }

    private func arm() {
        end()
        timer = turn.reactor.schedule(at: Reactor.now &+ limit.nanoseconds) { [weak self] in
            self?.timer = nil
            self?.expired()
        }
    }

    private func expired() {
        guard let easy = transfer.easy, ccurl_head_last(easy.head) == lastLine else { return }
        // On a slow way the request may still lie here; one that gets on is not the server's fault.
        let left = queued(easy)
        if left > 0, left < unsent {
            unsent = left
            return arm()
        }
        turn.fail(transfer, transfer.lateAnswerError(limit))
    }

    /// Bytes of the connection that its other end has not confirmed (TIOCOUTQ, tcp(7)).
    private func queued(_ easy: EasyHandle) -> Int32 {
        let socket = easy.activeSocket
        var count: Int32 = 0
        guard socket >= 0, ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return 0 }
        return count
    }
}

extension Transfer {
    /// Its failure where the server has not begun to answer in time.
    package func lateAnswerError(_ limit: Duration) -> SessionError {
        SessionError(
            .timedOut, "the server has not begun to answer \(limit) after it got the request",
            remedy: .longerFirstByte, failingURL: request.url)
    }
}
