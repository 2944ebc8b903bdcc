// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore

/// The thin shell around the machines: events and deadlines go in, questions to the kernel and updates come out.
///
/// It lives on the loop's thread; so an event is seen before the next request is started there. Other threads hold a
/// ``MonitorHandle``.
final class ReachabilityMonitor {
    let reactor: Reactor
    let configuration: ReachabilityConfiguration
    let environment: MonitorEnvironment
    private let subject: MonitorSubject
    private let outlet: MonitorOutlet

    private var machine: ReachabilityStateMachine
    private var source: (any EventSource)?
    private var kernel: (any KernelQuerying)?
    private var timer: TimerID?
    private var counters = MonitorCounters()
    private var failure: ReachabilityError?
    private var limitations: MonitorLimitations = []
    private var isRunning = false
    /// Whether it was ended: it does not start any more, whichever of the two calls arrived first.
    private var hasEnded = false
    private var awaitingSettlement: [@Sendable () -> Void] = []
    /// The other ends of the tunnels on the way.
    private var tunnelEnds: [IPAddress] = []

    /// Evaluates the watched target; nil while its name has no address.
    var evaluator: PathEvaluator?
    /// The name to resolve, where the subject is one.
    var lookup: NameLookup?

    init(
        subject: MonitorSubject, configuration: ReachabilityConfiguration, environment: MonitorEnvironment,
        reactor: Reactor, outlet: MonitorOutlet
    ) {
        self.subject = subject
        self.configuration = configuration
        self.environment = environment
        self.reactor = reactor
        self.outlet = outlet
        machine = ReachabilityStateMachine(timing: configuration.timing)
    }

    /// Begins to watch; when it returns, the first evaluation is done.
    func start() {
        guard !isRunning, !hasEnded else { return }
        isRunning = true
        // Listen first, then look: a change in between leads to an event.
        openSource()
        noticeLimitations()
        machine.started()
        switch subject {
        case .general: evaluator = evaluator(for: .general(sentinels: configuration.sentinels))
        case .addresses(let destinations): follow(destinations)
        case .name(let name): startLookup(name)
        }
        evaluate()
        settle()
    }

    private func openSource() {
        do {
            let source = try environment.makeSource(reactor, configuration)
            try source.start { [weak self] events in self?.handle(events) }
            self.source = source
            watch()
            failure = nil
        } catch {
            failure = error
        }
    }

    /// Routes that only one of these takes are let through as well as the default routes.
    private func watch() {
        source?.watch((evaluator?.destinations.map(\.address) ?? configuration.sentinels) + tunnelEnds)
    }

    /// Lets routes to the other ends of the tunnels through that an evaluation met; true where that is new.
    private func watchTunnelEnds(_ snapshot: Snapshot) -> Bool {
        var ends: [IPAddress] = []
        for entry in snapshot.entries {
            guard case .link(let link) = entry.answer, let end = link.remote, !ends.contains(end) else {
                continue
            }
            ends.append(end)
        }
        guard ends != tunnelEnds else { return false }
        tunnelEnds = ends
        watch()
        return true
    }

    /// Without events, or with some of them missing, the kernel is asked now and then.
    private func noticeLimitations() {
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

    /// Has the kernel asked, and calls back when everything that follows has been told.
    func whenSettled(_ body: @escaping @Sendable () -> Void) {
        awaitingSettlement.append(body)
        if isRunning { handle([.requested]) } else { release() }
    }

    private func release() {
        let waiting = awaitingSettlement
        awaitingSettlement = []
        for body in waiting { body() }
    }

    /// Takes what happened into account.
    func handle(_ events: [NetworkEvent]) {
        guard isRunning else { return }
        let now = now
        environment.recorder?(.events(events, at: now))
        var evaluates = false
        for event in events {
            kernel?.noticed(event)
            count(event)
            if machine.observed(event, at: now) == .evaluate { evaluates = true }
        }
        if evaluates { evaluate() }
        settle()
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
                kernel?.noticed(.requested)
                if source == nil { openSource() }
            }
            evaluate()
        }
        settle()
    }

    private func evaluate() {
        let began = now
        do {
            let kernel = try openKernel()
            counters.evaluations += 1
            guard let evaluator else {
                try evaluateUnresolved(kernel, began)
                return
            }
            var evaluation = try KernelEvaluation(evaluator, kernel)
            if watchTunnelEnds(evaluation.snapshot) {
                // Listen first, then look.
                kernel.forgetRoutes()
                evaluation = try KernelEvaluation(evaluator, kernel)
            }
            let now = now
            let took = now.nanoseconds(since: began)
            let verdict = machine.evaluated(evaluation.path, expires: evaluation.expires, took: took, at: now)
            tell(verdict) { try? evaluation.survey(evaluator, kernel) }
            noticeGeneration(in: verdict)
            // After the telling: then the snapshot holds what the reports on the links rest upon.
            environment.recorder?(.evaluated(evaluation.snapshot, at: now, took: .nanoseconds(took)))
        } catch {
            environment.recorder?(.unanswered(error, at: now))
            tell(machine.evaluationFailed(error, at: now)) { nil }
        }
    }

    private func openKernel() throws(ReachabilityError) -> any KernelQuerying {
        if let kernel { return kernel }
        let opened = try environment.makeKernel(configuration)
        kernel = opened
        return opened
    }

    /// The name has no address yet: without a way out that is a fact, with one it is only a matter of time.
    private func evaluateUnresolved(_ kernel: any KernelQuerying, _ began: MonotonicInstant)
        throws(ReachabilityError)
    {
        let general = evaluator(for: .general(sentinels: configuration.sentinels))
        var evaluation = try KernelEvaluation(general, kernel)
        let took = now.nanoseconds(since: began)
        noticeWayOut(evaluation.path.isOnline)
        guard let name = lookup?.name, let failure = lookup?.failure,
            let path = ReachabilityPath.unresolved(name, failure, general: evaluation.path)
        else {
            machine.evaluationPostponed(took: took, at: now)
            return
        }
        let now = now
        let verdict = machine.evaluated(path, expires: evaluation.expires, took: took, at: now)
        tell(verdict) { try? evaluation.survey(general, kernel) }
        environment.recorder?(.evaluated(evaluation.snapshot, at: now, took: .nanoseconds(took)))
    }

    private func tell(_ verdict: ReachabilityStateMachine.Verdict, links: () -> [LinkReport]?) {
        switch verdict {
        case .ignore: break
        case .refresh(let path): outlet.refresh(path)
        case .publish(var update):
            if configuration.reportsLinks { update.links = links() ?? [] }
            outlet.publish(update)
        }
    }

    /// A path of another generation leads to another network, maybe, and so to another name server.
    private func noticeGeneration(in verdict: ReachabilityStateMachine.Verdict) {
        switch verdict {
        case .ignore: break
        case .refresh(let path): noticeGeneration(path.generation)
        case .publish(let update): noticeGeneration(update.path.generation)
        }
    }

    /// Arms the timer for the next deadline and passes the counters on.
    private func settle() {
        guard isRunning else { return }
        noticeLimitations()
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
        outlet.note(counters, failure, limitations)
        if machine.isSettled { release() }
    }

    /// Watches these addresses from now on.
    func follow(_ destinations: [ReachabilityDestination]) {
        environment.recorder?(.resolved(destinations, at: now))
        evaluator = evaluator(for: .host(destinations))
        watch()
    }

    private func evaluator(for target: ReachabilityTarget) -> PathEvaluator {
        PathEvaluator(target: target, configuration: configuration)
    }

    var now: MonotonicInstant { MonotonicInstant(nanoseconds: Reactor.now) }
}
