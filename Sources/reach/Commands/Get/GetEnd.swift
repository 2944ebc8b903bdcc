// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import SessionManager

/// Tells on the main thread how each transfer of a `reach get` has ended, and with which exit code it does.
struct GetEnd {
    private let urls: [URL]
    private let isJSON: Bool
    private let isQuiet: Bool
    private let writesContent: Bool
    /// The exit codes of those that have ended.
    private var ended: [Int: ExitCode] = [:]
    private var isSignalled = false

    init(_ urls: [URL], isJSON: Bool, isQuiet: Bool, writesContent: Bool) {
        self.urls = urls
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        self.writesContent = writesContent
    }

    /// The code of the first that was not fetched, in the order of the URLs; nil where all were.
    ///
    /// Those that the failure of another has ended do not count, unless a signal has ended all.
    var exitCode: ExitCode? {
        let codes = urls.indices.map { ended[$0] ?? .interrupted }.filter { $0 != .success }
        return isSignalled
            ? codes.first.map { _ in .interrupted } : codes.first { $0 != .interrupted } ?? codes.first
    }

    /// Draws progress and tells each end, until all have ended or a signal comes.
    mutating func follow(_ run: GetRun, _ waiter: MainThreadWaiter, _ progress: GetProgress) throws {
        let began = Clock.monotonic
        var isOver = false
        while !isOver {
            let next = progress.interval.map { Clock.monotonic + $0 }
            switch waiter.wait(watchesOutput: false, until: { run.hasNews ? Clock.monotonic : next }) {
            case .finished: isOver = true
            case .interrupted, .readerLeft:
                run.stop()
                // Stored bytes are synced and recorded; a blocked reader, or a second signal, ends that.
                let limit = Clock.monotonic + .seconds(5)
                _ = waiter.wait(watchesOutput: false, until: { limit })
                (isSignalled, isOver) = (true, true)
            case .timedOut: break
            }
            if progress.interval != nil { for sentence in run.consumeRetries() { progress.notify(sentence) } }
            let news = run.consumeNews()
            if isOver || !news.isEmpty { progress.clear() }
            for (number, report) in news { try notify(report, of: number) }
            if isOver { break }
            if urls.count > 1 { progress.count = (ended.count, urls.count) }
            if let reason = run.waitingReason {
                progress.wait(reason, run.moment?.progress)
            } else if let moment = run.moment {
                progress.show(moment, elapsed: Clock.monotonic - began)
            }
        }
        try notifyRest()
    }

    /// Tells how one has ended.
    mutating func notify(_ report: GetReport, of number: Int) throws(ExitCode) {
        var report = report
        if let failure = report.failure, isSignalled || failure.exitCode == .interrupted {
            report.interrupt()
        }
        ended[number] = report.failure?.exitCode ?? .success
        if isJSON {
            var line = TextLine()
            report.writeJSON(to: &line)
            return try (writesContent ? StandardStream.error : .output).write(line.bytes).check()
        }
        if let failure = report.failure { return complain(report.sentence(of: failure)) }
        guard !isQuiet else { return }
        let terminal = Terminal(descriptor: StandardStream.error.descriptor)
        // Ends the content's last line, if it has no line feed.
        let gap =
            report.leavesLineOpen && terminal.isTerminal
            && Terminal(descriptor: StandardStream.output.descriptor).isTerminal
        StandardStream.error.write(
            (gap ? "\n" : "") + terminal.style(.never).sentence(report.sentence) + "\n")
    }

    /// Tells of those that have not begun, or not ended, and of all.
    private mutating func notifyRest() throws(ExitCode) {
        let count = ended.count
        if count < urls.count, isJSON {
            for number in urls.indices where ended[number] == nil {
                var report = GetReport(url: urls[number])
                report.interrupt()
                try notify(report, of: number)
            }
        }
        if urls.count == 1, count == 0, !isJSON { complain("interrupted") }
        guard urls.count > 1, !isJSON, !isQuiet else { return }
        let fetched = ended.values.count { $0 == .success }
        let canResume = count < urls.count && !writesContent
        let way = canResume ? "; the same command with --resume goes on" : ""
        let terminal = Terminal(descriptor: StandardStream.error.descriptor)
        StandardStream.error.write(
            terminal.style(.never).sentence("\(fetched) of \(urls.count) fetched\(way)") + "\n")
    }
}
