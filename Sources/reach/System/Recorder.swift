// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityRecording
import Synchronization

/// Writes a monitor's input to a file at once, so that a crash loses nothing that came before.
final class Recorder: Sendable {
    private struct State: ~Copyable {
        var writer: RecordingWriter
        var line = TextLine()
        /// The wall clock minus the monotonic clock.
        var wallOffset: Int64
        var left: Int
        var problem: String?
        var hasEnded = false
    }

    private let state: Mutex<State>
    private let file: OutputFile
    private let waiter: MainThreadWaiter

    // Two clocks read one after the other differ by some microseconds; more means that a clock was set.
    private static let clockSlack: Int64 = 1_000_000

    init(_ header: RecordingHeader, _ file: OutputFile, count: Int?, waiter: MainThreadWaiter) {
        self.file = file
        self.waiter = waiter
        state = Mutex(
            State(
                writer: RecordingWriter(header),
                wallOffset: header.wall.nanoseconds - header.start.nanoseconds,
                left: count ?? .max))
        state.withLock { state in
            RecordingWriter.write(header, to: &state.line)
            flush(&state)
        }
    }

    /// Why writing failed; nil if it did not, or the reader closed the pipe.
    var problem: String? { state.withLock { $0.problem == "" ? nil : $0.problem } }

    func record(_ item: RecordedItem) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            let (monotonic, wall) = (Clock.monotonic, Clock.wall)
            let offset = wall.nanoseconds - monotonic.nanoseconds
            if abs(offset - state.wallOffset) > Self.clockSlack {
                state.wallOffset = offset
                state.writer.write(.clockSet(wall, at: monotonic), to: &state.line)
            }
            state.writer.write(item, to: &state.line)
            flush(&state)
        }
    }

    /// Counts an update; after the last one the evaluation that led to it is still written.
    func countUpdate() { state.withLock { $0.left -= 1 } }

    private func flush(_ state: inout State) {
        if let problem = file.write(state.line.bytes) {
            state.problem = problem
            state.hasEnded = true
        }
        state.line.removeAll()
        if state.left <= 0 { state.hasEnded = true }
        if state.hasEnded { waiter.finish() }
    }
}
