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
        _superCommandName: Reach.name,
        abstract: "Fetch URLs to files, whole or not at all, or to standard output.",
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

            Several URLs are fetched at once, and one that fails does not end the others; those to standard output follow \
            one another. -H, -d and -m are for each. The exit code is 0 when all were fetched, else that of the first that \
            was not, in the order of the URLs. With --resume the same command goes on where it was interrupted.

            Exit codes: 0 fetched; 2 timed out; 4 the server refuses with a status such as 404; 5 the server's fault: a \
            status such as 503, or no proper HTTP; 6 no connection, or it broke; 7 TLS fails, or no pin fits; 8 wrong \
            checksum; 64 wrong usage; 69 libcurl is missing; 74 a file cannot be read or written; 130 interrupted. \
            A reader of standard output that leaves early is no error.

            Examples:
              reach get https://example.com/firmware.bin -O --resume
              reach get https://example.com/state -X PUT -d @state.json
              reach get -i images.txt --output-dir images --resume
              reach get --unix-socket /run/snapd.socket http://localhost/v2/system-info
              reach get https://192.0.2.7/ --cacert root.pem --pin sha256//…
            """)

    @Argument(
        help: ArgumentHelp("What to fetch: http or https URLs.", valueName: "url"), transform: Value.url)
    var urls: [URL] = []

    @OptionGroup var content: GetContentOptions
    @OptionGroup var many: GetManyOptions
    @OptionGroup var connection: GetConnectionOptions

    @Flag(name: .customLong("json"), help: "Tell what happened as JSON, one object on one line for each URL.")
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
        if urls.isEmpty, many.list == nil { throw ValidationError("give a URL, or a file of URLs with -i.") }
        try content.validate(urls.count)
        for url in urls + many.mirrors { try check(url) }
        let jobs = try jobs()
        let hasStandardOutput = jobs.contains { $0.name == nil }
        if content.isResuming, hasStandardOutput {
            throw ValidationError("--resume needs a file (-o or -O).")
        }
        if hasStandardOutput, let parallel = many.parallel, parallel > 1 {
            throw ValidationError(
                "what goes to standard output is fetched one after the other; leave out -j.")
        }
        if content.checksum != nil, urls.count != 1 || many.list != nil {
            throw ValidationError("--sha256 is for one URL; of several, write sha256= into a file for -i.")
        }
        if many.list == "-", content.data.contains("@-") {
            throw ValidationError("standard input is either the list of URLs or the data.")
        }
        guard !many.mirrors.isEmpty else { return }
        guard content.checksum != nil else {
            throw ValidationError("--mirror needs --sha256, and is for one URL.")
        }
        if !content.data.isEmpty || content.method ?? .get != .get {
            throw ValidationError("only GET has mirrors.")
        }
    }

    /// Refuses what a URL makes useless or impossible.
    func check(_ url: URL) throws {
        try connection.validateProxy(for: url)
        if !connection.pins.isEmpty, url.scheme?.lowercased() != "https" {
            throw ValidationError("--pin protects nothing over plain http; use an https URL.")
        }
    }

    func run() throws {
        // Before any thread starts: threads inherit the handling of signals.
        let waiter: MainThreadWaiter
        do throws(ReactorError) { waiter = try MainThreadWaiter(forTask: true) } catch {
            let failure = SessionError(.outOfResources, "nothing can be waited for: \(error)")
            throw fail(urls, failure) ?? .unavailable
        }
        let began = Clock.monotonic
        let limit = connection.maximumTime.flatMap { $0 == .zero ? nil : began + $0 }
        var jobs = try jobs()
        if let list = many.list { jobs += try self.jobs(of: GetList.read(list), in: list) }
        guard let first = jobs.first else { return }
        if jobs.contains(where: { !$0.mirrors.isEmpty }) { try requireGet() }
        try many.checkFolder()
        var targets: [GetTarget] = []
        for job in jobs { targets.append(try job.target(until: limit)) }
        try GetJob.check(targets)
        var request = try content.request(first.url, connection, until: limit)
        // The time that its files have taken, in whole seconds, counts.
        request.options.timeouts.total? -= .seconds((Clock.monotonic - began).components.seconds)
        let manager = URLSessionManager(
            sockets: connection.socket == nil ? nil : .all, configuration: connection.configuration,
            securityPolicy: connection.policy,
            responseSerializer: HTTPResponseSerializer())
        do throws(SessionError) {
            try GetNetwork.follow(jobs.flatMap { [$0.url] + $0.mirrors }, manager.queue, connection)
        } catch {
            throw fail(jobs.map(\.url), error) ?? .unavailable
        }
        let transfers = transfers(jobs, targets, request, manager)
        let run = GetRun(transfers, failsEarly: many.failsEarly, waiter: waiter)
        let isOutput = targets.contains { $0.isStandardOutput }
        let progress = GetProgress(
            isQuiet ? .none : self.progress, showsContent: isOutput)
        var end = GetEnd(jobs.map(\.url), isJSON: json, isQuiet: isQuiet, writesContent: isOutput)
        run.start(isOutput ? 1 : many.parallel ?? GetManyOptions.usualParallel)
        try end.follow(run, waiter, progress)
        if let code = end.exitCode { throw code }
    }

    /// Has each URL reported as failed; the exit code.
    private func fail(_ urls: [URL], _ error: SessionError) -> ExitCode? {
        var end = GetEnd(urls, isJSON: json, isQuiet: isQuiet, writesContent: false)
        for (number, url) in urls.enumerated() {
            var report = GetReport(url: url)
            report.fail(error)
            try? end.notify(report, of: number)
        }
        return end.exitCode
    }

    /// One transfer for each content, by one manager.
    private func transfers(
        _ jobs: [GetJob], _ targets: [GetTarget], _ request: SessionRequest, _ manager: URLSessionManager
    ) -> [GetTransfer] {
        let records = GetRecords()
        if targets.contains(where: { if case .file = $0 { true } else { false } }) {
            manager.delegate = records
        }
        if jobs.contains(where: { !$0.mirrors.isEmpty }) { manager.eventMonitors = [records.monitor] }
        return zip(jobs, targets).map { job, target in
            var request = request
            request.url = job.url
            let meter = GetMeter(name: jobs.count > 1 ? job.name ?? job.url.host() ?? "" : nil)
            var output: PacedOutput?
            if case .stream(let stream, _) = target {
                output = PacedOutput(stream, limit: request.options.timeouts.total)
            }
            return GetTransfer(
                manager: manager, records: records, request: request, condition: connection.condition,
                target: target, isResuming: content.isResuming,
                isOneOfMany: jobs.count > 1 || many.list != nil,
                mirrors: job.mirrors,
                retries: connection.retryCount == 0 ? nil : GetRetries(connection.retryCount, meter),
                checksum: job.checksum, wantsChecksum: json, meter: meter, output: output)
        }
    }

    /// Refuses mirrors of anything but GET: a list may name some.
    private func requireGet() throws(ExitCode) {
        guard !content.data.isEmpty || content.method ?? .get != .get else { return }
        complain("only GET has mirrors.")
        throw .usage
    }
}
