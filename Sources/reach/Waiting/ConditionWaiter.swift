// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore
import SessionManager
import Synchronization

/// Shares the latest state between the loop's thread, which observes, and the main thread, which waits.
final class ConditionWaiter: Sendable {
    private struct State {
        var machine: WaitStateMachine
        var report: Report?
        var findings: InternetFindings?
        var mayHaveChanged = false

        mutating func observe(_ new: Report) {
            var report = new
            report.add(findings)
            machine.observe(report, at: Clock.monotonic)
            self.report = report
        }
    }

    /// What a name or address is asked for; nil for anywhere.
    private let host: String?
    private let via: NetworkRequirement?
    private let state: Mutex<State>
    private let waiter: MainThreadWaiter

    init(
        _ condition: WaitCondition, _ limits: WaitLimits, _ subject: SubjectOptions, waiter: MainThreadWaiter
    ) {
        host = subject.host?.text
        via = subject.via
        self.waiter = waiter
        state = Mutex(State(machine: WaitStateMachine(condition, limits, at: Clock.monotonic)))
    }

    func observe(_ update: ReachabilityUpdate) {
        observe(status: update.status, path: update.path, links: update.links)
        waiter.ring()
    }

    func observe(status: ReachabilityStatus, path: ReachabilityPath, links: [LinkReport]) {
        var report = Report(status: status, path: path, links: links, host: host)
        report.via = via
        state.withLock { $0.observe(report) }
    }

    /// Records what the probe has found.
    func observe(_ findings: InternetFindings) {
        state.withLock { state in
            state.findings = findings
            if let report = state.report { state.observe(report) }
        }
        waiter.ring()
    }

    /// Records an event after which links may have changed without an update.
    func linksMayHaveChanged(after item: RecordedItem) {
        guard case .events = item else { return }
        state.withLock { $0.mayHaveChanged = true }
        waiter.ring()
    }

    /// Whether links may have changed since the last call.
    func consumeChange() -> Bool {
        state.withLock { state in
            defer { state.mayHaveChanged = false }
            return state.mayHaveChanged
        }
    }

    /// When ``end`` has to be asked again, unless something changes before; nil for never.
    var deadline: MonotonicInstant? { state.withLock { $0.machine.deadline } }

    /// How the wait has ended; nil while it goes on.
    var end: WaitStateMachine.End? { state.withLock { $0.machine.end(at: Clock.monotonic) } }

    /// The interfaces through which the condition holds.
    var interfaces: [String] { state.withLock { $0.machine.interfaces } }

    /// The latest state; nil before the first report.
    var latest: Report? { state.withLock { $0.report } }
}
