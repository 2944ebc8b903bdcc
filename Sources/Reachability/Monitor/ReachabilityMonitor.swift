// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore

/// The thin shell around the machines: events and deadlines in, questions to the kernel and updates out.
///
/// Used on the loop's thread, so an event is seen before the next request; others use a ``MonitorHandle``.
final class ReachabilityMonitor {
    let reactor: Reactor
    let configuration: ReachabilityConfiguration
    let environment: MonitorEnvironment
    private let target: MonitorTarget
    private let delegate: MonitorDelegate

    private var machine: ReachabilityStateMachine
    private var source: (any EventSource)?
    private var kernel: (any KernelQuerying)?
    private var timer: TimerID?
    private var counters = MonitorCounters()
    private var failure: ReachabilityError?
    private var limitations: MonitorLimitations = []
    private var isRunning = false
    /// Whether ``end()`` was called, which prevents a later ``start()``; calls may arrive in either order.
    private var hasEnded = false
    private var settleWaiters: [@Sendable () -> Void] = []
    /// The last reports on links.
    private var links = FormerReports()
    /// The remote addresses of the tunnels on the path.
    private var tunnelEndpoints: [IPAddress] = []

    /// Evaluates the target; nil while its name has no address.
    var evaluator: PathEvaluator?
    /// The name to resolve, if the target is one.
    var lookup: NameLookup?

    init(
        target: MonitorTarget, configuration: ReachabilityConfiguration, environment: MonitorEnvironment,
        reactor: Reactor, delegate: MonitorDelegate
    ) {
        self.target = target
        self.configuration = configuration
        self.environment = environment
        self.reactor = reactor
        self.delegate = delegate
        machine = ReachabilityStateMachine(timing: configuration.timing)
    }

    /// Starts monitoring; when it returns, the first evaluation is done.
    func start() {
        guard !isRunning, !hasEnded else { return }
        isRunning = true
        // Open the event source first: a change during the evaluation leads to an event.
        openSource()
        updateLimitations()
        machine.started()
        switch target {
        case .general: evaluator = evaluator(for: .general(sentinels: configuration.sentinels))
        case .addresses(let destinations): follow(destinations)
        case .name(let name): startLookup(name)
        }
        conclude()
    }

    private func openSource() {
        do {
            let source = try environment.makeSource(reactor, configuration)
            try source.start { [weak self] events in self?.handle(events) }
            self.source = source
            updateHosts()
            failure = nil
        } catch {
            failure = error
        }
    }

    /// Lets events about routes to the destinations and tunnel endpoints pass.
    private func updateHosts() {
        source?.setHosts(
            (evaluator?.destinations.map(\.address) ?? configuration.sentinels) + tunnelEndpoints)
    }

    /// Replaces the tunnel endpoints with those in `snapshot`; true if they changed.
    private func updateTunnelEndpoints(_ snapshot: Snapshot) -> Bool {
        var ends: [IPAddress] = []
        for entry in snapshot.entries {
            guard case .link(let link) = entry.answer, let end = link.remote else { continue }
            if !ends.contains(end) { ends.append(end) }
        }
        guard ends != tunnelEndpoints else { return false }
        tunnelEndpoints = ends
        updateHosts()
        return true
    }

    /// Passes the limitations of the event source on: with fewer events the kernel is asked more often.
    private func updateLimitations() {
        let limitations = source?.limitations ?? .noEvents
        guard limitations != self.limitations else { return }
        self.limitations = limitations
        machine.limited(by: limitations)
    }

    /// Ends for good; when it returns, the sockets are closed.
    func end() {
        hasEnded = true
        guard isRunning else { return }
        isRunning = false
        environment.recorder?(.stopped(at: now))
        machine.stopped()
        source?.stop()
        source = nil
        kernel = nil
        lookup = nil
        evaluator = nil
        if let timer { reactor.cancel(timer) }
        timer = nil
        release()
    }

    /// Evaluates, and calls back when everything that follows is published.
    func whenSettled(_ body: @escaping @Sendable () -> Void) {
        settleWaiters.append(body)
        if isRunning { handle([.requested]) } else { release() }
    }

    private func release() {
        let waiting = settleWaiters
        settleWaiters = []
        for body in waiting { body() }
    }

    func handle(_ events: [NetworkEvent]) {
        guard isRunning else { return }
        let now = now
        environment.recorder?(.events(events, at: now))
        var evaluates = false
        kernel?.handle(events)
        for event in events {
            if case .linkRemoved(let index) = event { environment.hints?.remove(index) }
            count(event)
            if machine.observed(event, at: now) == .evaluate { evaluates = true }
        }
        if evaluates { conclude() } else { settle() }
    }

    private func count(_ event: NetworkEvent) {
        counters.events += 1
        switch event {
        case .overrun: counters.overruns += 1
        case .reopened: counters.reopenings += 1
        default: break
        }
    }

    private func deadlineReached() {
        guard isRunning else { return }
        resumeLookup()
        let now = now
        switch machine.deadlineReached(at: now) {
        case .nothing: break
        case .evaluate(let afresh):
            environment.recorder?(.elapsed(at: now))
            kernel?.forgetRoutes()
            if afresh {
                kernel?.handle([.requested])
                if source == nil { openSource() }
            }
            return conclude()
        }
        settle()
    }

    private func conclude() {
        evaluate()
        settle()
        // After the line, which it would delay by a tenth: a default route or a carrier may come with another
        // lease.
        if kernel?.leasesHaveChanged() == true { handle([.requested]) }
    }

    private func evaluate() {
        let began = now
        do {
            let kernel = try openKernel()
            counters.evaluations += 1
            evaluator?.costs.hints = environment.hints?.all ?? []
            guard let evaluator else { return try evaluateUnresolved(kernel, began) }
            var evaluation = try KernelEvaluation(evaluator, kernel)
            if updateTunnelEndpoints(evaluation.snapshot) {
                // As in `start()`: set the hosts first, then evaluate.
                kernel.forgetRoutes()
                evaluation = try KernelEvaluation(evaluator, kernel)
            }
            let now = now
            let took = now.nanoseconds(since: began)
            let action = machine.evaluated(evaluation.path, expires: evaluation.expires, took: took, at: now)
            publish(action) { try? linkReports(&evaluation, evaluator, kernel) }
            handleGeneration(in: action)
            // After publishing: the snapshot then includes the answers that the link reports depend on.
            environment.recorder?(.evaluated(evaluation.snapshot, at: now, took: .nanoseconds(took)))
            if let receive = delegate.linkReceiver(),
                let links = try? linkReports(&evaluation, evaluator, kernel)
            {
                receive(links)
            }
        } catch {
            environment.recorder?(.unanswered(error, at: now))
            publish(machine.evaluationFailed(error, at: now)) { nil }
        }
    }

    private func linkReports(
        _ evaluation: inout KernelEvaluation, _ evaluator: PathEvaluator, _ kernel: any KernelQuerying
    ) throws(ReachabilityError) -> [LinkReport] {
        if environment.recorder != nil { links.requireAnswers() }
        return try evaluation.linkReports(evaluator, kernel, former: &links)
    }

    private func openKernel() throws(ReachabilityError) -> any KernelQuerying {
        if let kernel { return kernel }
        let opened = try environment.makeKernel(configuration)
        kernel = opened
        return opened
    }

    /// Evaluates while the name has no address: offline without a general path, else only pending.
    private func evaluateUnresolved(_ kernel: any KernelQuerying, _ began: MonotonicInstant)
        throws(ReachabilityError)
    {
        let general = evaluator(for: .general(sentinels: configuration.sentinels))
        var evaluation = try KernelEvaluation(general, kernel)
        let took = now.nanoseconds(since: began)
        handleGeneralPath(exists: evaluation.path.isOnline)
        guard let name = lookup?.name, let failure = lookup?.failure,
            let path = ReachabilityPath.unresolved(name, failure, general: evaluation.path)
        else {
            machine.evaluationPostponed(took: took, at: now)
            return
        }
        let now = now
        let action = machine.evaluated(path, expires: evaluation.expires, took: took, at: now)
        publish(action) { try? linkReports(&evaluation, general, kernel) }
        environment.recorder?(.evaluated(evaluation.snapshot, at: now, took: .nanoseconds(took)))
    }

    private func publish(_ action: ReachabilityStateMachine.EvaluationAction, links: () -> [LinkReport]?) {
        switch action {
        case .ignore: break
        case .refresh(let path): delegate.refresh(path)
        case .publish(var update):
            if configuration.reportsLinks { update.links = links() ?? [] }
            delegate.publish(update)
        }
    }

    /// A path of another generation may lead to another network with another name server.
    private func handleGeneration(in action: ReachabilityStateMachine.EvaluationAction) {
        switch action {
        case .ignore: break
        case .refresh(let path): handleGeneration(path.generation)
        case .publish(let update): handleGeneration(update.generation)
        }
    }

    /// Arms the timer for the next deadline and passes the counters on.
    private func settle() {
        guard isRunning else { return }
        updateLimitations()
        let next = [machine.nextDeadline, lookup?.machine.nextDeadline].compactMap { $0 }.min()
        if let next {
            if let timer, reactor.reschedule(timer, at: next.nanoseconds) {
                // Moved.
            } else {
                timer = reactor.schedule(at: next.nanoseconds) { [weak self] in
                    self?.timer = nil
                    self?.deadlineReached()
                }
            }
        } else if let timer {
            reactor.cancel(timer)
            self.timer = nil
        }
        counters.discarded = source?.discarded ?? 0
        counters.resyncs = machine.resyncs
        delegate.record(counters, failure, limitations)
        if machine.isSettled { release() }
    }

    /// Evaluates these addresses from now on.
    func follow(_ destinations: [ReachabilityDestination]) {
        environment.recorder?(.resolved(destinations, at: now))
        evaluator = evaluator(for: .host(destinations))
        updateHosts()
    }

    private func evaluator(for target: ReachabilityTarget) -> PathEvaluator {
        var evaluator = PathEvaluator(target: target, configuration: configuration)
        evaluator.costs.hints = environment.hints?.all ?? []
        return evaluator
    }

    var now: MonotonicInstant { MonotonicInstant(nanoseconds: Reactor.now) }
}
