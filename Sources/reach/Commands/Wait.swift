// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability
import ServiceCore
import SessionManager

extension WaitCondition.Goal: OptionWord {}

/// `reach wait`: returns when a condition holds.
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Wait until the network can be reached.",
        discussion: """
            Any one usable path is enough; links that are not needed are never waited for. On time-out it prints a line \
            for each link with what it lacks, on standard error.

            Exit codes: 0 the condition holds; 2 timed out; 3 the kernel cannot be asked; 9 no carrier for \
            --no-carrier-timeout; 69 libcurl is missing (--probe); 130 interrupted.
            """)

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var probe: ProbeOptions

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "What to wait for; 'internet' is what the server of --probe says.", valueName: "condition"))
    var goal: WaitCondition.Goal = .reachable

    @Option(
        name: [.customShort("i"), .customLong("interface")],
        help: ArgumentHelp(
            "Only through this interface, preferred by the kernel or not; of several, through any one.",
            valueName: "name"),
        transform: Value.interface)
    var interfaces: [String] = []

    @Flag(name: .customLong("any"), help: "Wait for any one of the interfaces, as without it.")
    var needsAny = false

    @Flag(name: .customLong("all"), help: "Wait for all of the interfaces.")
    var needsAll = false

    @Option(
        name: .customLong("ignore"),
        help: ArgumentHelp(
            "Interfaces that do not count, as a shell pattern: 'docker*'; may be repeated.",
            valueName: "pattern"),
        transform: Value.interfacePattern)
    var ignored: [InterfacePattern] = []

    @Option(
        name: .customLong("stable"),
        help: ArgumentHelp("The condition has to hold so long without interruption.", valueName: "seconds"),
        transform: Value.seconds)
    var stable: Duration = .zero

    @Option(
        name: [.customShort("t"), .customLong("timeout")],
        help: ArgumentHelp("Give up after so long; 0 for never. (default: 30)", valueName: "seconds"),
        transform: Value.seconds)
    var timeout: Duration = .seconds(30)

    @Option(
        name: .customLong("no-carrier-timeout"),
        help: ArgumentHelp(
            "Give up when none of these interfaces has had a carrier for so long; 0 for never. (default: 0)",
            valueName: "seconds"),
        transform: Value.seconds)
    var noCarrierTimeout: Duration = .zero

    @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Print nothing; only the exit code counts.")
    var isQuiet = false

    private var condition: WaitCondition {
        WaitCondition(goal: goal, interfaces: interfaces, needsAll: needsAll, ignored: ignored)
    }

    var limits: WaitLimits {
        WaitLimits(
            stable: stable, timeout: timeout == .zero ? nil : timeout,
            noCarrier: noCarrierTimeout == .zero ? nil : noCarrierTimeout)
    }

    func validate() throws {
        try subject.validate(probe)
        if subject.via != nil, !interfaces.isEmpty {
            throw ValidationError("--via and --interface exclude each other.")
        }
        if needsAny, needsAll { throw ValidationError("--any and --all exclude each other.") }
        if let conflict = condition.conflict(limits) { throw ValidationError(conflict.sentence) }
        if (goal == .internet) != (probe.url != nil) {
            throw ValidationError("--for internet and --probe need each other.")
        }
        if let timeout = limits.timeout, let carrier = limits.noCarrier, timeout <= carrier {
            throw ValidationError(
                "--no-carrier-timeout has no effect unless --timeout is longer: it is "
                    + "\(DurationText.people(timeout)).")
        }
    }

    func run() throws {
        let waiter = try MainThreadWaiter.begin(orExit: .cannotMonitor)
        let waiting = ConditionWaiter(condition, limits, subject, waiter: waiter)
        var configuration = subject.configuration()
        // Only a probe asks what costs.
        let hints = goal == .internet ? subject.hints(&configuration, subject.state()) : nil
        // Observers hear of changes of the path in use only; a link's own path may come and go without one.
        var recorder: (@Sendable (RecordedItem) -> Void)?
        if condition.readsLinks || limits.noCarrier != nil {
            recorder = { waiting.linksMayHaveChanged(after: $0) }
        }
        let manager = subject.manager(configuration, hints: hints, recorder: recorder)
        // The caller waits for the answer.
        let internet = try probe.make(manager, longestPause: .seconds(5))
        let question = internet?.observeFindings { waiting.observe($0) }
        let observation = manager.observeReachability { waiting.observe($0) }
        try beginMonitoring(manager)
        internet?.ask(expensive: Set(condition.asked))
        internet?.start()
        try withExtendedLifetime((manager, observation, internet, question)) {
            while true {
                var isInterrupted = false
                let end = waiter.wait(watchesOutput: false) { () -> MonotonicInstant? in
                    if waiting.consumeChange(), !lookAgain(waiting, configuration) {
                        isInterrupted = true
                        return Clock.monotonic
                    }
                    return waiting.deadline
                }
                if end == .interrupted || isInterrupted { throw ExitCode.interrupted }
                // A change may have come after the deadline was read.
                if let end = waiting.end { return try finish(end, waiting) }
            }
        }
    }

    private func report(_ waiting: ConditionWaiter) -> Report {
        if let latest = waiting.latest { return latest }
        // The name servers have not answered although there is a route.
        let reason = ReachabilityReason(.unresolved, sentence: "the name servers have not answered yet")
        let general = try? ReachabilityManager.check(configuration: subject.configuration())
        return Report(
            status: .unknown, path: .unknown(reason), links: general?.links ?? [], host: subject.host?.text)
    }

    /// False if a signal came first.
    private func lookAgain(_ waiting: ConditionWaiter, _ configuration: ReachabilityConfiguration) -> Bool {
        let report: NetworkReport
        switch HostCheck.run(subject.host?.text, configuration, until: waiting.deadline) {
        case .found(let found): report = found
        case .failed, .timedOut: return true
        case .interrupted: return false
        }
        // Links are read at this instant; the status comes from the manager, which delays a loss for a
        // moment.
        let known = waiting.latest
        waiting.observe(
            status: known?.status ?? report.status, path: known?.path ?? report.path, links: report.links)
        return true
    }

    private func finish(_ end: WaitStateMachine.End, _ waiting: ConditionWaiter) throws(ExitCode) {
        if !isQuiet {
            let report = report(waiting)
            if end == .met {
                reportMet(report, through: waiting.interfaces)
            } else {
                reportUnmet(end, report)
            }
        }
        switch end {
        case .met: return
        case .noCarrier: throw .noCarrier
        case .timedOut: throw .timedOut
        }
    }

    private func reportMet(_ report: Report, through names: [String]) {
        let style = Terminal(descriptor: StandardStream.output.descriptor).style(.auto)
        let others = report.links.filter { names.contains($0.name) && $0.name != report.path.interface }
        // The condition may be about other links than that of the path in use.
        if others.isEmpty || others.count < names.count { print(Headline(report).line(style)) }
        for link in others { print(style.text(link.reason.sentence)) }
    }

    /// Prints a line; a failure is ignored, since the exit code has the result.
    private func print(_ line: String) { try? StandardStream.output.write(line + "\n").check() }

    private func reportUnmet(_ end: WaitStateMachine.End, _ report: Report) {
        let style = Terminal(descriptor: StandardStream.error.descriptor).style(.auto)
        StandardStream.error.write(
            end == .noCarrier
                ? UnmetView.text(report, condition, withoutCarrier: limits, style)
                : UnmetView.text(report, condition, stable: stable, waited: timeout, style))
    }
}

extension WaitConflict {
    /// The sentence of wrong usage.
    fileprivate var sentence: String {
        switch self {
        case .allOfNone: "--all needs --interface: name the interfaces to wait for."
        case .ignoresNamed(let name, let pattern):
            "--ignore \(pattern) leaves out \(name), which --interface names."
        case .carrierForUnreachable:
            "--no-carrier-timeout and --for unreachable exclude each other: without a carrier it holds."
        }
    }
}
