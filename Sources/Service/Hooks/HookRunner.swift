// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Glibc
import ReachabilityCore
package import ServiceCore
import SessionCore

/// Runs the programs of the hooks directory at each change, one at a time.
package final class HookRunner: ServiceComponent {
    package let name = "hooks"
    private var settings: ServiceConfiguration.Hooks
    private let files: Reactor
    private let counters: ServiceCounters
    private var machine = HookQueueStateMachine()
    private var context: ServiceContext?
    private var directory: HookDirectory?
    private var process: HookProcess?
    private var current = ""
    /// The state of the internet in the last change.
    private var internet: InternetState?
    /// The directory's last refusals, which are reported once and not with each change.
    private var refusals: Set<String> = []
    private var end: (() -> Void)?

    /// The time limit for a running hook when the service ends.
    private static let stopPatience: Int64 = 1_000_000_000

    package init(_ settings: ServiceConfiguration.Hooks, files: Reactor, counters: ServiceCounters) {
        self.settings = settings
        self.files = files
        self.counters = counters
    }

    package func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }

    package func statusChanged(_ change: CommittedChange) {
        guard !settings.directory.isEmpty else { return }
        perform(machine.changed(change))
        counters.hooksSkipped = machine.skipped
    }

    package func internetChanged(_ change: CommittedChange) {
        let found = change.internetBehindPath
        defer { internet = found }
        // The first answer is news; `unknown` before it is none.
        let isNews = found != internet && (internet != nil || found != .unknown)
        if isNews || !change.changedUplinks.isEmpty { statusChanged(change) }
    }

    package func reload(_ configuration: ServiceConfiguration) {
        settings = configuration.hooks
        refusals = []
    }

    package var stateLine: String? {
        let what = process == nil ? "none runs" : "\(current) runs"
        return "\(what), \(machine.rounds) rounds, \(machine.skipped) changes left out"
    }

    private func perform(_ step: HookQueueStateMachine.Step) {
        var step = step
        while true {
            switch step {
            case .nothing: return finish()
            case .list: return list()
            case .run(let name, let event):
                guard !start(name, event) else { return }
                step = machine.ended()
            }
        }
    }

    private func list() {
        guard let context else { return }
        let (path, bound) = (settings.directory, LoopBound(self, to: context.reactor))
        files.perform {
            let listing = HookDirectory(path)
            bound.perform { $0.listed(listing) }
        }
    }

    private func listed(_ listing: HookDirectory) {
        for refusal in listing.refusals where refusals.insert(refusal).inserted {
            context?.log(.warning, "hooks: \(refusal)")
            counters.hookFailures += 1
        }
        refusals.formIntersection(listing.refusals)
        directory = listing
        perform(machine.found(listing.names))
    }

    private func start(_ name: String, _ event: HookEvent) -> Bool {
        guard let context, let directory = directory?.number else { return false }
        current = name
        counters.hookRuns += 1
        do throws(ReactorError) {
            process = try HookProcess(
                name, in: directory, event.input, limit: Int(settings.output), timeout: settings.timeout,
                reactor: context.reactor,
                line: { [weak self] line in self?.context?.log(.info, "hook \(name): \(line)") },
                ended: { [weak self] end in self?.ended(name, end) })
            return true
        } catch {
            fail("hook \(name) cannot be run: \(error)")
            return false
        }
    }

    private func ended(_ name: String, _ end: HookEnd) {
        process = nil
        if let sentence = end.fault(of: name, settings.timeout) { fail(sentence) }
        perform(machine.ended())
    }

    private func fail(_ sentence: String) {
        counters.hookFailures += 1
        context?.log(.warning, sentence)
    }

    package func stop(_ done: @escaping () -> Void) {
        machine.stop()
        end = done
        if let process { process.terminate(patience: Self.stopPatience) } else { finish() }
    }

    private func finish() {
        if machine.isIdle { directory = nil }
        guard let end, process == nil else { return }
        self.end = nil
        context = nil
        end()
    }
}
