// SPDX-License-Identifier: Apache-2.0

import Reachability
import Synchronization

/// Prints updates where they come about: on the loop's thread, one write(2) for each line.
final class UpdatePrinter: Sendable {
    private struct State {
        var lines: ReportLines
        var left: Int
    }

    private let state: Mutex<State>
    private let vigil: Vigil

    init(lines: ReportLines, count: Int?, vigil: Vigil) {
        state = Mutex(State(lines: lines, left: count ?? .max))
        self.vigil = vigil
    }

    /// Prints; ends the program's wait after the last line, or when nobody reads any more.
    func print(_ update: ReachabilityUpdate) {
        let isLast = state.withLock { state -> Bool in
            guard state.left > 0 else { return false }
            let bytes = state.lines.bytes(update) { Clock.wall }
            if bytes.isEmpty { return false }
            state.left -= 1
            if !StandardStream.output.write(bytes) { state.left = 0 }
            return state.left == 0
        }
        if isLast { vigil.finish() }
    }
}
