// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability
import ServiceCore
import SessionCore
import SessionManager

/// `reach status`: the current state.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Print whether the network can be reached, which way, and what each link lacks.",
        discussion: "Exit codes: 0 reachable; 1 unreachable or unknown; 3 the kernel cannot be asked.")

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var probe: ProbeOptions
    @OptionGroup var output: OutputOptions

    @Flag(
        name: .customLong("explain"), help: "Print each question to the kernel, its answer and what follows.")
    var explains = false

    @Flag(name: .customLong("all"), help: "Print the virtual links without a path also where they are many.")
    var showsAll = false

    func validate() throws { try subject.validate(probe) }

    func run() throws {
        // Before any thread starts: threads inherit the handling of signals.
        let waiter = probe.url == nil ? nil : try MainThreadWaiter.begin(forTask: true, orExit: .unavailable)
        var report: Report
        do {
            let found = try look(isBlocking: waiter != nil)
            report = Report(
                status: found.status, path: found.path, links: found.links, host: subject.host?.text,
                steps: explains ? found.steps : nil)
            report.via = subject.via
            subject.complete(&report, since: output.json, internet: waiter == nil)
        } catch let error as ReachabilityError {
            let code = complain(error)
            if output.json, code == .cannotMonitor { try print(unknown(error)) }
            throw code
        }
        if let waiter, let configuration = probe.configuration {
            report.add(try OneShotProbe(configuration).findings(report, waiter))
            report.boot = Clock.boot
        }
        try print(report)
        throw ExitCode(report.status)
    }

    /// Evaluates the network once; for a name after its lookup, which may take as long as resolv.conf(5)
    /// says.
    ///
    /// - Parameter isBlocking: whether signals are blocked.
    private func look(isBlocking: Bool) throws -> NetworkReport {
        let host = subject.host
        func check() throws(ReachabilityError) -> NetworkReport {
            try ReachabilityManager.check(host: host?.text, configuration: subject.configuration())
        }
        guard let host, host.family == nil else { return try check() }
        let message = WaitingMessage("looking up \(host.text)")
        guard isBlocking else {
            let found = try check()
            message.end()
            return found
        }
        let end = HostCheck.run(host.text, subject.configuration())
        message.end()
        switch end {
        case .found(let report): return report
        case .failed(let error): throw error
        case .interrupted, .timedOut: throw ExitCode.interrupted
        }
    }

    private func print(_ report: Report) throws(ExitCode) {
        if output.json {
            var line = TextLine()
            ReportJSON.write(report, to: &line)
            try StandardStream.output.write(line.bytes).check()
        } else {
            try StandardStream.output.write(StatusView.text(report, output.style, showsAll: showsAll)).check()
        }
    }

    /// Without access to the kernel, scripts that read JSON still get an object.
    private func unknown(_ error: ReachabilityError) -> Report {
        var path = ReachabilityPath()
        path.reason = ReachabilityReason(.kernelRefused, sentence: error.description)
        var report = Report(status: .unknown, path: path, links: [], host: subject.host?.text)
        report.via = subject.via
        return report
    }
}
