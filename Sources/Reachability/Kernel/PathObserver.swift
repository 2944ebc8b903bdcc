// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import ReachabilityCore

/// Observes the paths of open connections: events trigger lookups, which decide which ones are dead.
///
/// Used on the loop's thread. Without netlink it observes nothing, and connections end by TCP's time-outs.
package final class PathObserver {
    private let reactor: Reactor
    private let environment: MonitorEnvironment
    private let configuration = ReachabilityConfiguration()
    /// Called with each batch of events, after the cache is invalidated, and again with `requested` as
    /// ``confirm(_:)`` says.
    private let concerned: ([NetworkEvent]) -> Void
    private var source: (any EventSource)?
    private var kernel: (any KernelQuerying)?
    private var peers: [IPAddress] = []
    private var confirmations = ConfirmationSchedule()
    private var timer: TimerID?

    package init(
        reactor: Reactor, environment: MonitorEnvironment = .connections,
        concerned: @escaping ([NetworkEvent]) -> Void
    ) {
        self.reactor = reactor
        self.environment = environment
        self.concerned = concerned
    }

    /// Whether it receives events.
    package var isOpen: Bool { source != nil }

    /// Starts to receive events; false if the kernel refuses.
    package func open() -> Bool {
        if source != nil { return true }
        do throws(ReachabilityError) {
            let source = try environment.makeSource(reactor, configuration)
            try source.start { [weak self] events in self?.handle(events) }
            kernel = try environment.makeKernel(configuration)
            self.source = source
            let now = MonotonicInstant(nanoseconds: Reactor.now)
            confirmations.started(at: now)
            scheduleConfirmation(after: now)
            return true
        } catch {
            return false
        }
    }

    package func close() {
        source?.stop()
        source = nil
        kernel = nil
        peers = []
        confirmations = ConfirmationSchedule()
        if let timer { reactor.cancel(timer) }
        timer = nil
    }

    /// Lets events about routes to this peer pass, besides those about default routes.
    package func follow(_ peer: IPAddress) {
        guard !peers.contains(peer) else { return }
        // Peers are only removed on `close()`; tracking removals is not worth it for so few.
        peers.append(peer)
        source?.setHosts(peers)
    }

    /// Asks for further looks: some of these events may have come before their changes.
    package func confirm(_ events: [NetworkEvent]) {
        let now = MonotonicInstant(nanoseconds: Reactor.now)
        for event in events { confirmations.observed(event, at: now) }
        scheduleConfirmation(after: now)
    }

    private func scheduleConfirmation(after now: MonotonicInstant) {
        if let timer { reactor.cancel(timer) }
        timer = confirmations.next(after: now).map { due in
            reactor.schedule(at: due.nanoseconds) { [weak self] in
                guard let self else { return }
                timer = nil
                scheduleConfirmation(after: MonotonicInstant(nanoseconds: Reactor.now))
                concerned([.requested])
            }
        }
    }

    /// The egress for a peer at this instant; nil for no route and for this machine.
    ///
    /// Never cached, because an event may be on its way.
    package func egress(to peer: IPAddress, port: UInt16 = 0) -> Egress? {
        conclusion { context throws(MissingAnswers) in
            try context.egress(to: peer, port: port)
        } ?? nil
    }

    /// The source address for a socket bound to this link; nil if the kernel chooses right or has none.
    package func source(through link: LinkState, to peer: IPAddress, port: UInt16) -> IPAddress? {
        conclusion { context throws(MissingAnswers) in
            let looksAtPorts = (try? context.selectors(peer.family))?.contains(.transport) == true
            let bound = RouteLookup(destination: peer, interface: link.index, port: looksAtPorts ? port : 0)
            let lookup = try context.resolvingSource(bound)
            guard lookup.source != nil, case .success = try context.route(lookup.entry) else { return nil }
            return lookup.source
        } ?? nil
    }

    /// The interface of this name; nil if it does not exist.
    package func link(named name: String) -> LinkState? {
        guard let kernel, let name = LinkName(exactly: name),
            case .link(let link)? = try? kernel.answers(to: [.linkNamed(name)]).first
        else { return nil }
        return link
    }

    /// The verdicts on these paths; `fine` if the kernel does not answer.
    package func verdicts(_ paths: [ConnectionPath]) -> [ConnectionVerdict] {
        conclusion { context throws(MissingAnswers) in
            var verdicts: [ConnectionVerdict] = []
            for path in paths {
                // Visits all paths even if answers are missing, so that all questions are requested together.
                guard let verdict = try? ConnectionRules(path).verdict(&context) else { continue }
                verdicts.append(verdict)
            }
            return verdicts
        } ?? paths.map { _ in .fine }
    }

    /// The conclusion from new lookups of routes; nil if the kernel does not answer.
    ///
    /// Repeated with more answers until it is complete: a thousand connections are asked about together.
    private func conclusion<Value>(
        _ conclude: (inout EvaluationContext) throws(MissingAnswers) -> Value
    ) -> Value? {
        guard let kernel else { return nil }
        kernel.forgetRoutes()
        var snapshot = Snapshot()
        var value: Value?
        let isComplete = try? kernel.complete(&snapshot) { snapshot in
            var context = EvaluationContext(snapshot.moveOut(), cache: kernel.cache)
            value = try? conclude(&context)
            snapshot = context.snapshot
            return context.missing
        }
        return isComplete == true ? value : nil
    }

    /// The other interfaces with a path of their own to a peer at this instant, the best one first.
    package func uplinks(to peer: IPAddress, port: UInt16, besides index: Int32) -> [Uplink] {
        var configuration = configuration
        configuration.port = port
        let evaluator = PathEvaluator(
            target: .host([ReachabilityDestination(peer)]), configuration: configuration)
        return conclusion { context throws(MissingAnswers) in
            try evaluator.uplinks(to: peer, besides: index, &context)
        } ?? []
    }

    /// The path to a peer at this instant, with its alternative; nil if the kernel does not answer.
    ///
    /// - Parameter port: The TCP port there; used if policy rules look at ports.
    package func path(to peers: [IPAddress], port: UInt16 = 0) -> ReachabilityPath? {
        guard let kernel else { return nil }
        var configuration = configuration
        configuration.port = port
        let evaluator = PathEvaluator(
            target: .host(peers.map { ReachabilityDestination($0) }), configuration: configuration)
        return try? KernelEvaluation(evaluator, kernel).path
    }

    private func handle(_ events: [NetworkEvent]) {
        kernel?.handle(events)
        if kernel?.leasesHaveChanged() == true { kernel?.handle([.requested]) }
        concerned(events)
    }
}

extension MonitorEnvironment {
    /// The kernel for connections: without nl80211, since a radio that loses its network loses its carrier.
    package static let connections: MonitorEnvironment = {
        var environment = MonitorEnvironment.kernel
        environment.makeSource = { reactor, configuration throws(ReachabilityError) in
            KernelEventSource(
                reactor: reactor, receiveBufferSize: configuration.receiveBufferSize, includesWireless: false)
        }
        return environment
    }()
}
