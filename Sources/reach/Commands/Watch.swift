// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability
import ServiceCore
import SessionManager

/// `reach watch`: the current state, and then every change.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Print how things are, and then a line for each change.",
        discussion: """
            A loss of the path is printed at once, and as a change of the status when it has lasted for 500 ms. \
            SIGINT and SIGTERM end it with exit code 0.
            """)

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var probe: ProbeOptions
    @OptionGroup var output: OutputOptions

    @Flag(name: .customLong("status-only"), help: "Print changes of the status only, not of the path.")
    var statusOnly = false

    @Option(
        name: .customLong("count"), help: ArgumentHelp("End after so many lines.", valueName: "n"),
        transform: Value.count)
    var count: Int?

    @Option(
        name: .customLong("timeout"), help: ArgumentHelp("End after so many seconds.", valueName: "seconds"),
        transform: Value.seconds)
    var timeout: Duration?

    func validate() throws { try subject.validate(probe) }

    func run() throws {
        let waiter = try MainThreadWaiter.begin(orExit: .cannotMonitor)
        // Lines for people show the links once; evaluating them with every change would delay the lines.
        var configuration = subject.configuration(reportsLinks: output.json)
        let deadline = timeout.map { Clock.monotonic + $0 }
        var links: [LinkReport] = []
        if !output.json {
            guard let found = linksNow(until: deadline) else { return }
            links = found
        }
        let known = subject.state()
        let hints = subject.hints(&configuration, known)
        let printer = UpdatePrinter(
            lines: ReportLines(
                format: output.json ? .json : .text(output.style), host: subject.host?.text, via: subject.via,
                lossGrace: configuration.timing.lossGrace, statusOnly: statusOnly,
                firstLinks: links, isPresent: InterfaceName.exists,
                since: { [subject] in subject.since($0) }),
            count: count, waiter: waiter)
        let manager = subject.manager(configuration, hints: hints)
        let probe = try probe.make(manager)
        // Before the first update, whose line includes the result.
        let question = probe?.observeFindings { printer.print($0) }
        if probe == nil { printer.print(service: known) }
        let observation = manager.observeReachability { printer.print($0) }
        // A line about the internet has the links as they are then.
        let hasInternet = output.json && (probe != nil || known != nil)
        let linkObservation = hasInternet ? manager.observeLinks { printer.remember($0) } : nil
        manager.setLimitationBlock { complain($0) }
        try beginMonitoring(manager)
        probe?.start()
        let service = probe == nil ? subject.followService { printer.print(service: $0) } : nil
        // Exits directly: stopping would wait for the loop, which may be blocked in a write without a reader.
        withExtendedLifetime((manager, observation, linkObservation, probe, question, service)) {
            _ = waiter.wait(watchesOutput: true, until: { deadline })
            do throws(ExitCode) { try printer.outcome.check() } catch { Self.exit(withError: error) }
            Self.exit(withError: nil)
        }
    }

    /// The links at the start; nil if a signal or the limit came first.
    private func linksNow(until limit: MonotonicInstant?) -> [LinkReport]? {
        let found: NetworkReport
        switch HostCheck.run(subject.host?.text, subject.configuration(), until: limit) {
        case .found(let report): found = report
        case .failed: return []
        case .interrupted, .timedOut: return nil
        }
        var report = Report(status: found.status, path: found.path, links: found.links)
        subject.complete(&report, since: false, internet: false)
        return report.links
    }
}
