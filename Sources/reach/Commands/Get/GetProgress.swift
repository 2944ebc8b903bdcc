// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ServiceCore
import SessionManager

extension GetProgress.Choice: OptionWord {}

/// Shows progress on standard error, on one thread: a bar that is redrawn, or lines.
final class GetProgress {
    /// The values of `--progress`.
    enum Choice: String, Sendable, CaseIterable { case auto, plain, none }

    private enum Way { case bar, lines, nothing }

    private let way: Way
    private let terminal: Terminal
    private var bar: TransferProgressBar?
    private var isDrawn = false
    /// When the last line was printed, since the start.
    private var lastPrinted: Duration?
    /// How many of how many have ended; nil for a single one.
    var count: (ended: Int, all: Int)?
    /// The last printed reason for waiting.
    private var waiting: WaitingText?

    /// The shortest interval between lines.
    private static let lineSpacing = Duration.seconds(5)

    init(_ choice: Choice, showsContent: Bool) {
        let terminal = Terminal(descriptor: StandardStream.error.descriptor)
        let output = Terminal(descriptor: StandardStream.output.descriptor)
        self.terminal = terminal
        // A bar would be mixed with content on the same terminal.
        let mayDraw = terminal.isTerminal && !(showsContent && output.isTerminal)
        way =
            switch choice {
            case .none: .nothing
            case .plain: .lines
            // A screen reader or a printer cannot redraw a line.
            case .auto: !mayDraw ? .nothing : terminal.isDumb ? .lines : .bar
            }
    }

    /// The interval between redraws; nil for never.
    var interval: Duration? { way == .nothing ? nil : .milliseconds(100) }

    /// Shows the reason for waiting.
    func wait(_ reason: HoldReason, _ progress: TransferProgress.Snapshot?) {
        let text = WaitingText(reason, progress, isUnicode: terminal.style(.never).isUnicode)
        guard text != waiting else { return }
        waiting = text
        switch way {
        case .nothing: break
        case .bar:
            let columns = Terminal(descriptor: StandardStream.error.descriptor).columns ?? 80
            draw(text.line(columns: columns - head.utf8.count))
        case .lines: StandardStream.error.write(terminal.style(.never).sentence(head + text.text) + "\n")
        }
    }

    /// Shows the reason for another attempt, on a line that stays.
    func notify(_ sentence: String) {
        guard interval != nil else { return }
        clear()
        StandardStream.error.write(terminal.style(.never).sentence(sentence) + "\n")
    }

    /// Shows the progress at a time since the start.
    func show(_ moment: GetMeter.Moment, elapsed: Duration) {
        waiting = nil
        var bar =
            self.bar
            ?? TransferProgressBar(resumedAt: moment.resumedAt, isUnicode: terminal.style(.never).isUnicode)
        bar.update(moment.progress, at: elapsed)
        self.bar = bar
        switch way {
        case .nothing: break
        case .bar:
            // The terminal's size may have changed since the last redraw.
            let columns = Terminal(descriptor: StandardStream.error.descriptor).columns ?? 80
            draw(bar.line(columns: columns - head.utf8.count))
        case .lines:
            if let lastPrinted, elapsed - lastPrinted < Self.lineSpacing { return }
            lastPrinted = elapsed
            StandardStream.error.write(terminal.style(.never).sentence(head + bar.plainLine) + "\n")
        }
    }

    /// `2/5 ` before what is about several.
    private var head: String { count.map { "\($0.ended)/\($0.all) " } ?? "" }

    private func draw(_ line: String) {
        StandardStream.error.write("\r\(head)\(line)\u{1B}[K")
        isDrawn = true
    }

    /// Clears the bar.
    func clear() {
        guard isDrawn else { return }
        StandardStream.error.write("\r\u{1B}[K")
        isDrawn = false
    }
}
