// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityRecording

/// Converts the bytes of a recording to the lines of `reach watch`.
struct ReplaySession: ~Copyable {
    private let format: ReportLines.Format
    private let statusOnly: Bool
    private var splitter = LineSplitter()
    private var reader = RecordingReader()
    private var player: RecordingPlayer?
    private var lines: ReportLines?

    init(format: ReportLines.Format, statusOnly: Bool) {
        self.format = format
        self.statusOnly = statusOnly
    }

    /// The steps of the last evaluation.
    private(set) var steps: [EvaluationStep] = []
    /// Evaluations in which an answer was missing.
    private(set) var incomplete = 0

    /// Replays a piece of the file; `print` gets the bytes and returns whether the output is still read.
    mutating func read(_ piece: [UInt8], _ print: ([UInt8]) -> Bool) throws(RecordingError) {
        var complete: [[UInt8]] = []
        splitter.split(piece) { complete.append($0) }
        for line in complete {
            if let item = try reader.read(bytes: line) { play(item, print) }
        }
    }

    /// Handles the end of the file.
    mutating func finish(_ print: ([UInt8]) -> Bool) throws(RecordingError) {
        if let line = splitter.finish(), let item = try reader.read(bytes: line) { play(item, print) }
        if let item = try reader.finish() { play(item, print) }
        if let explained = player?.explained() { steps = explained }
        if let count = player?.incomplete { incomplete = count }
    }

    private mutating func play(_ item: RecordedItem, _ print: ([UInt8]) -> Bool) {
        guard let header = reader.header else { return }
        if player == nil { player = RecordingPlayer(header) }
        guard let moment = player?.play(item) else { return }
        var lines = lines.take() ?? lines(of: header)
        lines.write(moment.update) { moment.wall }
        if lines.line.count > 0 { _ = print(lines.line.bytes) }
        self.lines = consume lines
    }

    private func lines(of header: RecordingHeader) -> ReportLines {
        // Without links a recording does not show which exist.
        let anyInterface: @Sendable (String) -> Bool = { _ in true }
        return ReportLines(
            format: format, host: header.host, via: header.configuration.requirement,
            lossGrace: header.configuration.timing.lossGrace,
            statusOnly: statusOnly, isPresent: header.configuration.reportsLinks ? nil : anyInterface)
    }
}
