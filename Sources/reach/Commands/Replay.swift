// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability

/// `reach replay`: runs a recording through the same state machine.
struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Print what 'reach watch' would have printed while a recording was made.",
        discussion: """
            The recording goes through the same decisions at its own instants; nothing of this machine's network is \
            looked at. Exit code 0; 64 where the file cannot be opened or is damaged (the lines before are printed).
            """)

    @Argument(help: ArgumentHelp("A file of 'reach record'; - for standard input.", valueName: "file"))
    var file: String

    @OptionGroup var output: OutputOptions

    @Flag(name: .customLong("status-only"), help: "Print changes of the status only, not of the path.")
    var statusOnly = false

    @Flag(name: .customLong("explain"), help: "After the last line, print how the last answer was found out.")
    var explains = false

    func run() throws {
        let input = try InputFile(file)
        var session = ReplaySession(format: output.json ? .json : .text(output.style), statusOnly: statusOnly)
        var outcome = StandardStream.Outcome.written
        func print(_ bytes: [UInt8]) -> Bool {
            if outcome == .written { outcome = StandardStream.output.write(bytes) }
            return outcome == .written
        }
        do throws(RecordingError) {
            while outcome == .written {
                let piece: [UInt8]
                do { piece = try input.next() } catch { throw RecordingError(line: 0, problem: "") }
                if piece.isEmpty { break }
                try session.read(piece, print)
            }
            if outcome == .written { try session.finish(print) }
        } catch {
            guard error.line > 0 else { throw ExitCode.inputOutput }
            complain("\(file): \(error)")
            throw ExitCode.usage
        }
        try outcome.check()
        guard outcome == .written else { return }
        if session.incomplete > 0 {
            complain(
                "\(file): \(session.incomplete) evaluations lack answers and were left out; "
                    + "another version of reach made this recording")
        }
        if explains, !output.json {
            try StandardStream.output.write("\n" + StatusView.explanation(session.steps, output.style))
                .check()
        }
    }
}
