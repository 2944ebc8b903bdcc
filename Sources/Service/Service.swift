// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
package import ServiceCore
import SessionCore

/// The service: a monitor, and the components that handle its changes; on the loop's thread.
package final class Service {
    private enum Phase { case idle, running, stopping, ended }

    package let context: ServiceContext
    /// In the order of changes.
    private let components: [any ServiceComponent]
    /// Those that have started and not ended.
    private var begun: [any ServiceComponent] = []
    private var phase = Phase.idle
    private var observations: [ReachabilityObservation] = []
    private var ends: [() -> Void] = []
    private var stopTimer: TimerID?
    /// The current values of the options that can change.
    private var configuration: ServiceConfiguration
    private let reread: (() -> ConfigurationReader)?

    /// The time limit for all components to write their data at the end; people wait no longer.
    package static let stopLimit: Duration = .milliseconds(1500)

    /// - Parameters:
    ///   - components: in the order of changes, which is that of their start but for those that start first.
    ///   - configuration: the configuration that they were made from.
    ///   - reread: reads the configuration again; nil without a source.
    package init(
        context: ServiceContext, components: [any ServiceComponent],
        configuration: ServiceConfiguration = ServiceConfiguration(),
        reread: (() -> ConfigurationReader)? = nil
    ) {
        self.context = context
        self.components = components
        self.configuration = configuration
        self.reread = reread
    }

    /// Starts the components in order, and then the monitor, whose first report reaches them in here.
    ///
    /// - Throws: the error of the first component that cannot start, after the ones before it were stopped.
    package func start() throws(ServiceError) {
        guard phase == .idle else { return }
        phase = .running
        context.internetFound = { [weak self] in self?.found($0) }
        for component in components.filter(\.startsFirst) + components.filter({ !$0.startsFirst }) {
            do throws(ServiceError) {
                try component.start(context)
                begun.append(component)
            } catch {
                stop()
                throw error
            }
        }
        let service = LoopBound(self, to: context.reactor)
        context.manager.setLimitationBlock { limitations in
            service.perform { service in
                for sentence in limitations.sentences { service.context.log(.notice, sentence) }
            }
        }
        observations = [
            context.manager.observeReachability { update in service.here { $0.handle(update) } },
            context.manager.observeLinks { links in service.perform { $0.linksChanged(links) } },
        ]
        context.manager.startMonitoring()
        if context.manager.status == .unknown, context.manager.path.reason.code == .kernelRefused {
            let reason = context.manager.failure?.description ?? context.manager.path.reason.sentence
            stop()
            throw ServiceError(.cannotMonitor, reason)
        }
    }

    private func handle(_ update: ReachabilityUpdate) {
        guard phase == .running else { return }
        let wall = context.wallClock()
        context.age.observe(update, at: wall, boot: context.bootClock())
        context.correctAge()
        var change = CommittedChange(
            update, since: context.age.since, wall: wall, instant: MonotonicInstant(nanoseconds: Reactor.now))
        change.internet = context.internet
        change.uplinks = context.uplinks
        change.portal = context.portal
        if change.event == .status { context.statusChanges += 1 }
        context.current = change
        for component in components { component.statusChanged(change) }
    }

    /// Other links come and go without a change of the path in use.
    private func linksChanged(_ links: [LinkReport]) {
        guard phase == .running, var change = context.current, change.links != links else { return }
        change.links = links
        context.current = change
        for component in components { component.linksChanged(change) }
    }

    private func found(_ findings: InternetFindings?) {
        guard phase == .running else { return }
        let former = context.internet.map {
            InternetFindings($0, uplinks: context.uplinks)
        }
        let changed = findings?.changes(since: former) ?? []
        let isSame =
            findings?.state == former?.state && findings?.portal == context.portal
            && changed.isEmpty && findings?.uplinks.count ?? 0 == former?.uplinks.count ?? 0
        context.internet = findings?.state
        context.uplinks = findings?.uplinks ?? []
        context.portal = findings?.portal
        guard var change = context.current else { return }
        change.internet = context.internet
        change.uplinks = context.uplinks
        change.portal = context.portal
        context.current = change
        guard !isSame else { return }
        change.isInternet = true
        change.changedUplinks = changed
        for component in components { component.internetChanged(change) }
    }

    /// SIGHUP.
    package func reload() {
        guard phase == .running else { return }
        readAgain()
        for component in components { component.reload(configuration) }
    }

    /// Applies a changed configuration; an invalid one changes nothing.
    private func readAgain() {
        guard let reader = reread?() else { return }
        guard reader.problems.isEmpty else {
            for problem in reader.problems { context.log(.error, "configuration: \(problem)") }
            return context.log(.warning, "configuration: what was in force before stays so")
        }
        let change = ConfigurationChange(from: configuration, to: reader.configuration)
        if !change.applied.isEmpty {
            context.log(.notice, "configuration: changed: \(change.applied.joined(separator: ", "))")
        }
        if !change.deferred.isEmpty {
            let keys = change.deferred.joined(separator: ", ")
            context.log(.warning, "configuration: changed, but in force only after a restart: \(keys)")
        }
        configuration = change.inForce
    }

    /// SIGUSR1: logs the state, with a line for each component that has one.
    package func logState() {
        guard phase == .running else { return }
        if let change = context.current { context.log(.notice, "state: \(StatusSentence(change))") }
        let counters = context.manager.counters
        context.log(
            .notice,
            "monitor: \(counters.events) events, \(counters.evaluations) evaluations, \(counters.overruns) overruns"
        )
        for component in components {
            if let line = component.stateLine { context.log(.notice, "\(component.name): \(line)") }
        }
    }

    /// Calls back when the service has ended.
    package func whenEnded(_ body: @escaping () -> Void) {
        if phase == .ended { body() } else { ends.append(body) }
    }

    /// Stops the monitor, then all components at once; the service has ended when each has called back, or
    /// after ``stopLimit``.
    package func stop() {
        guard phase == .idle || phase == .running else { return }
        phase = .stopping
        for observation in observations { observation.cancel() }
        context.internetFound = nil
        context.manager.setLimitationBlock(nil)
        context.manager.stopMonitoring()
        stopTimer = context.reactor.schedule(at: Reactor.now + Self.stopLimit.inNanoseconds) { [self] in
            let names = begun.map(\.name).joined(separator: ", ")
            context.log(.warning, "stopped without waiting any longer for: \(names)")
            finish()
        }
        // In reverse order, since a component may need those before it.
        for component in components.reversed() where begun.contains(where: { $0 === component }) {
            component.stop { [self] in
                begun.removeAll { $0 === component }
                if begun.isEmpty { finish() }
            }
        }
        if begun.isEmpty { finish() }
    }

    private func finish() {
        guard phase == .stopping else { return }
        phase = .ended
        if let stopTimer { context.reactor.cancel(stopTimer) }
        let ends = ends
        self.ends = []
        for end in ends { end() }
    }
}
