// SPDX-License-Identifier: Apache-2.0

import Reachability
import SessionCore
import SessionManager
import Synchronization

/// Prints updates on the loop's thread, with one write(2) for each line.
final class UpdatePrinter: Sendable {
    private struct State: ~Copyable {
        var lines: ReportLines
        var left: Int
    }

    private let state: Mutex<State>
    // Apart from the state, whose lock is held while a write waits for a reader.
    private let written = Mutex(StandardStream.Outcome.written)
    private let waiter: MainThreadWaiter

    init(lines: consuming ReportLines, count: Int?, waiter: MainThreadWaiter) {
        state = Mutex(State(lines: lines, left: count ?? .max))
        self.waiter = waiter
    }

    /// The outcome of the last line's write.
    var outcome: StandardStream.Outcome { written.withLock { $0 } }

    /// Prints an update; ends the program's wait after the last line, or when the pipe is closed.
    func print(_ update: ReachabilityUpdate) {
        print({ $0.write(update) { Clock.wall } }, then: { $0.remember(update) })
    }

    /// Stores links that have changed; prints nothing.
    func remember(_ links: [LinkReport]) { state.withLock { $0.lines.remember(links) } }

    /// Prints what was found of the internet.
    func print(_ findings: InternetFindings) {
        print({ $0.write(findings, boot: Clock.boot) { Clock.wall } }, then: { _ in })
    }

    /// Prints what a running service reports of the internet; nil when it is gone.
    func print(service reply: [UInt8]?) {
        print({ $0.write(service: reply) { Clock.wall } }, then: { _ in })
    }

    private func print(
        _ write: (inout ReportLines) -> Void, then finish: (inout ReportLines) -> Void
    ) {
        let isLast = state.withLock { state -> Bool in
            guard state.left > 0 else { return false }
            defer { finish(&state.lines) }
            write(&state.lines)
            if state.lines.line.count == 0 { return false }
            state.left -= 1
            let outcome = state.lines.line.withBytes { StandardStream.output.write($0) }
            if outcome != .written {
                written.withLock { $0 = outcome }
                state.left = 0
            }
            return state.left == 0
        }
        if isLast { waiter.finish() }
    }
}
