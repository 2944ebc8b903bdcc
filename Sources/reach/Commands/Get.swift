// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EventLoop
import FoundationEssentials
import Reachability
import SessionManager
import Synchronization

/// `reach get`: fetches one URL completely, or leaves no file; libcurl is loaded when the request starts.
struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch a URL to a file, whole or not at all, or to standard output.",
        discussion: """
            A file is written as FILE.part and renamed when it is complete and its checksum is right; until then an older \
            FILE stays as it is, and FILE keeps its owner and mode. Content that was cut off is resumed at once, or kept with a \
            record in FILE.part.resume, and --resume goes on from there if the server's file is still the same, or if \
            --sha256 tells. When the network goes while it runs, or the line behind its router dies, it goes on over another \
            path, or waits for one; with --via INTERFACE it stays, and --network notExpensive keeps it from paths that cost; so it does for the clock, where nothing but a clock that was not set makes the server's certificate \
            invalid. That time does not count for --max-time. Redirects are followed, without credentials to other hosts.

            One sentence on standard error tells what happened. With --json it is an object, on standard output, or on \
            standard error where the content goes to standard output. With --sha256 nothing reaches standard output \
            before all of it was checked.

            Exit codes: 0 fetched; 2 timed out; 4 the server refuses with a status such as 404; 5 the server's fault: a \
            status such as 503, or no proper HTTP; 6 no connection, or it broke; 7 TLS fails, or no pin fits; 8 wrong \
            checksum; 64 wrong usage; 69 libcurl is missing; 74 a file cannot be read or written; 130 interrupted.

            Examples:
              reach get https://example.com/firmware.bin -O --resume
              reach get https://example.com/state -X PUT -d @state.json
              reach get https://192.0.2.7/ --cacert root.pem --pin sha256//…
            """)

    @Argument(
        help: ArgumentHelp("What to fetch: an http or https URL.", valueName: "url"), transform: Value.url)
    var url: URL

    @OptionGroup var content: GetContentOptions
    @OptionGroup var connection: GetConnectionOptions

    @Flag(name: .customLong("json"), help: "Tell what happened as JSON, one object on one line.")
    var json = false

    @Option(
        name: .customLong("progress"),
        help: ArgumentHelp(
            "Progress on standard error: auto (a bar on a terminal, else nothing), plain (lines) or none.",
            valueName: "how"))
    var progress: GetProgress.Choice = .auto

    @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Say nothing but what went wrong.")
    var isQuiet = false

    func validate() throws {
        try content.validate(url)
        try connection.validateProxy(for: url)
        if !connection.pins.isEmpty, url.scheme?.lowercased() != "https" {
            throw ValidationError("--pin protects nothing over plain http; use an https URL.")
        }
    }

    func run() throws {
        // Before any thread starts: threads inherit the handling of signals.
        let waiter: MainThreadWaiter
        do throws(ReactorError) { waiter = try MainThreadWaiter(forTask: true) } catch {
            var report = GetReport(url: url)
            report.fail(SessionError(.outOfResources, "nothing can be waited for: \(error)"))
            try notify(report)
            throw ExitCode.unavailable
        }
        let began = Clock.monotonic
        let limit = connection.maximumTime.flatMap { $0 == .zero ? nil : began + $0 }
        let target = try content.target(url, until: limit)
        var request = try content.request(url, connection, until: limit)
        // The time that its files have taken, in whole seconds, counts.
        request.options.timeouts.total? -= .seconds((Clock.monotonic - began).components.seconds)
        let manager = URLSessionManager(
            sockets: nil, configuration: connection.configuration, securityPolicy: connection.policy,
            responseSerializer: HTTPResponseSerializer())
        do throws(SessionError) {
            try GetNetwork.follow(request.url, manager.queue, connection)
        } catch {
            var report = GetReport(url: url)
            report.fail(error)
            try notify(report)
            throw report.failure?.exitCode ?? .unavailable
        }
        let meter = GetMeter()
        manager.interceptor = connection.retryCount == 0 ? nil : GetRetries(connection.retryCount, meter)
        let output: PacedOutput? =
            if case .stream(let stream, _) = target {
                PacedOutput(stream, limit: request.options.timeouts.total)
            } else { nil }
        let transfer = GetTransfer(
            manager: manager, request: request, condition: connection.condition, target: target,
            isResuming: content.isResuming, checksum: content.checksum, wantsChecksum: json, meter: meter,
            output: output)
        let box = Mutex<GetReport?>(nil)
        let progress = GetProgress(
            isQuiet ? .none : self.progress, showsContent: target.isStandardOutput, isJSON: json)
        let work = Task {
            let report = await transfer.run()
            box.withLock { $0 = report }
            waiter.finish()
        }
        let end = watch(waiter, meter, progress)
        if end == .interrupted {
            work.cancel()
            output?.interrupt()
            // Stored bytes are synced and recorded; a blocked reader, or a second signal, ends that.
            let limit = Clock.monotonic + .seconds(5)
            _ = waiter.wait(watchesOutput: false, until: { limit })
        }
        if progress.interval != nil, let sentence = meter.consumeRetry() { progress.notify(sentence) }
        progress.clear()
        guard var report = box.withLock({ $0 }) else {
            complain("interrupted")
            throw ExitCode.interrupted
        }
        if end == .interrupted, report.failure != nil { report.interrupt() }
        try notify(report)
        if let failure = report.failure { throw failure.exitCode }
    }

    /// Draws progress until the work is done or a signal comes.
    private func watch(_ waiter: MainThreadWaiter, _ meter: GetMeter, _ progress: GetProgress)
        -> MainThreadWaiter.End
    {
        guard let interval = progress.interval else {
            return waiter.wait(watchesOutput: false, until: { nil })
        }
        while true {
            let next = Clock.monotonic + interval
            let end = waiter.wait(watchesOutput: false, until: { next })
            guard end == .timedOut else { return end }
            if let sentence = meter.consumeRetry() { progress.notify(sentence) }
            if let reason = meter.waitingReason {
                progress.wait(reason, meter.moment?.progress)
            } else if let moment = meter.moment {
                progress.show(moment, elapsed: meter.elapsed)
            }
        }
    }

    private func notify(_ report: GetReport) throws(ExitCode) {
        if json {
            var line = TextLine()
            report.writeJSON(to: &line)
            let stream = report.isOnStandardOutput ? StandardStream.error : .output
            return try stream.write(line.bytes).check()
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
}
