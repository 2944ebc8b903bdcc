// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability
import ServiceCore

extension WaitCondition.Goal: ExpressibleByArgument {}

/// `reach wait`: returns when a condition holds.
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until the network can be reached.",
        discussion: """
            Any one usable path is enough; links that are not needed are never waited for. On time-out it prints a line \
            for each link with what it lacks, on standard error.

            Exit codes: 0 the condition holds; 2 timed out; 3 the kernel cannot be asked; 130 interrupted.
            """)

    @OptionGroup var subject: SubjectOptions

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("What to wait for.", valueName: "condition"))
    var goal: WaitCondition.Goal = .reachable

    @Option(
        name: .customLong("interface"),
        help: ArgumentHelp(
            "Only through this interface, preferred by the kernel or not.", valueName: "name"),
        transform: Value.interface)
    var interface: String?

    @Option(
        name: .customLong("stable"),
        help: ArgumentHelp("The condition has to hold so long without interruption.", valueName: "seconds"),
        transform: Value.seconds)
    var stable: Duration = .zero

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("Give up after so long; 0 for never. (default: 30)", valueName: "seconds"),
        transform: Value.seconds)
    var timeout: Duration = .seconds(30)

    @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Print nothing; only the exit code counts.")
    var isQuiet = false

    func run() throws {
        let waiter = try MainThreadWaiter.begin(orExit: .cannotMonitor)
        let watch = ConditionWatcher(
            condition: WaitCondition(goal: goal, interface: interface), stable: stable, waiter: waiter)
        let configuration = subject.configuration()
        let host = subject.host?.text
        // Observers hear of changes of the path in use only; a link's own path may come and go without one.
        var recorder: (@Sendable (RecordedItem) -> Void)?
        if interface != nil { recorder = { watch.linksMayHaveChanged(after: $0) } }
        let manager = subject.manager(configuration, recorder: recorder)
        let limit = timeout == .zero ? nil : Clock.monotonic + timeout
        let observation = manager.observeReachability { watch.observe($0) }
        try beginMonitoring(manager)
        let end = withExtendedLifetime((manager, observation)) {
            waiter.wait(watchesOutput: false) { () -> MonotonicInstant? in
                if watch.consumeChange() { lookAgain(watch, host, configuration) }
                return [watch.deadline, limit].compactMap { $0 }.min()
            }
        }
        switch end {
        case .interrupted: throw ExitCode.interrupted
        case .finished, .readerLeft, .timedOut:
            guard watch.isMet(at: Clock.monotonic) else {
                if !isQuiet { reportUnmet(report(watch, host)) }
                throw ExitCode.timedOut
            }
            if !isQuiet { reportMet(report(watch, host)) }
        }
    }

    private func report(_ watch: ConditionWatcher, _ host: String?) -> Report {
        if let (status, path, links) = watch.latest {
            return Report(status: status, path: path, links: links, host: host)
        }
        // The name servers have not answered although there is a route.
        let reason = ReachabilityReason(.unresolved, sentence: "the name servers have not answered yet")
        let general = try? ReachabilityManager.check(configuration: subject.configuration())
        return Report(status: .unknown, path: .unknown(reason), links: general?.links ?? [], host: host)
    }

    private func lookAgain(
        _ watch: ConditionWatcher, _ host: String?, _ configuration: ReachabilityConfiguration
    ) {
        guard let report = try? ReachabilityManager.check(host: host, configuration: configuration)
        else { return }
        // Links are read at this instant; the status comes from the manager, which delays a loss.
        let known = watch.latest
        watch.observe(
            status: known?.status ?? report.status, path: known?.path ?? report.path, links: report.links)
    }

    private func reportMet(_ report: Report) {
        let style = Terminal(descriptor: StandardStream.output.descriptor).style(.auto)
        guard
            let link = report.links.first(where: { $0.name == interface && $0.name != report.path.interface })
        else { return print(Headline(report).line(style)) }
        // The condition is about the link and not about the path in use.
        print(style.text(link.reason.sentence))
    }

    /// Prints a line; a failure is ignored, since the exit code has the result.
    private func print(_ line: String) { try? StandardStream.output.write(line + "\n").check() }

    private func reportUnmet(_ report: Report) {
        let style = Terminal(descriptor: StandardStream.error.descriptor).style(.auto)
        let condition = WaitCondition(goal: goal, interface: interface)
        StandardStream.error.write(UnmetView.text(report, condition, stable: stable, waited: timeout, style))
    }
}
