// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import ReachabilityCore

/// Watches the ways of open connections: events tell when to look, lookups tell what became of them.
///
/// On the loop's thread. Without netlink it watches nothing, and connections live by TCP's time-outs.
package final class PathObserver {
    private let reactor: Reactor
    private let environment: MonitorEnvironment
    private let configuration = ReachabilityConfiguration()
    /// Told of each batch of events that may concern a connection, once the kernel is asked anew.
    private let concerned: ([NetworkEvent]) -> Void
    private var source: (any EventSource)?
    private var kernel: (any KernelQuerying)?
    private var peers: [IPAddress] = []

    package init(
        reactor: Reactor, environment: MonitorEnvironment = .connections,
        concerned: @escaping ([NetworkEvent]) -> Void
    ) {
        self.reactor = reactor
        self.environment = environment
        self.concerned = concerned
    }

    /// Whether it listens.
    package var isOpen: Bool { source != nil }

    /// Begins to listen, unless it does; false where the kernel refuses.
    package func open() -> Bool {
        if source != nil { return true }
        do throws(ReachabilityError) {
            let source = try environment.makeSource(reactor, configuration)
            try source.start { [weak self] events in self?.noticed(events) }
            kernel = try environment.makeKernel(configuration)
            self.source = source
            return true
        } catch {
            return false
        }
    }

    /// Closes the sockets.
    package func close() {
        source?.stop()
        source = nil
        kernel = nil
        peers = []
    }

    /// Has the routes to this peer let through as well as the default routes.
    package func follow(_ peer: IPAddress) {
        guard !peers.contains(peer) else { return }
        // Peers that are no longer wanted go when it is closed; so many are simpler asked about than told apart.
        peers.append(peer)
        source?.watch(peers)
    }

    /// The interface through which the kernel sends to a peer at this instant; nil where that is nowhere, or this machine.
    ///
    /// Asked afresh: an event may be on its way.
    package func egress(to peer: IPAddress, port: UInt16 = 0) -> LinkState? {
        conclusion { inquiry throws(Inquiry.Incomplete) in
            try inquiry.egress(to: peer, port: port)
        } ?? nil
    }

    /// The address that a socket bound to this interface has to send from to get to a peer; nil where the kernel's own choice
    /// is right, or nothing leads there.
    package func source(through link: LinkState, to peer: IPAddress, port: UInt16) -> IPAddress? {
        conclusion { inquiry throws(Inquiry.Incomplete) in
            let looksAtPorts = (try? inquiry.selectors(peer.family))?.contains(.transport) == true
            let bound = RouteLookup(
                destination: peer, interface: link.index, port: looksAtPorts ? port : 0)
            let lookup = try inquiry.sending(bound)
            guard lookup.source != nil, case .success = try inquiry.route(lookup.entry) else { return nil }
            return lookup.source
        } ?? nil
    }

    /// The interface of this name; nil where there is none.
    package func link(named name: String) -> LinkState? {
        guard let kernel, let name = LinkName(exactly: name),
            case .link(let link)? = try? kernel.answers(to: [.linkNamed(name)]).first
        else { return nil }
        return link
    }

    /// What became of these ways; fine where the kernel does not answer.
    package func verdicts(_ paths: [ConnectionPath]) -> [ConnectionVerdict] {
        conclusion { inquiry throws(Inquiry.Incomplete) in
            var verdicts: [ConnectionVerdict] = []
            for path in paths {
                // All are gone through even where answers are missing: then all can ask at once.
                guard let verdict = try? ConnectionRules(path).verdict(&inquiry) else { continue }
                verdicts.append(verdict)
            }
            return verdicts
        } ?? paths.map { _ in .fine }
    }

    /// What follows from the kernel's answers, routes asked afresh; nil where it does not answer.
    private func conclusion<Value>(
        _ conclude: (inout Inquiry) throws(Inquiry.Incomplete) -> Value
    ) -> Value? {
        guard let kernel else { return nil }
        kernel.forgetRoutes()
        var snapshot = Snapshot()
        // Link, choice, address; the addresses; the sources; the entry: hardly more rounds than that.
        for _ in 0..<10 {
            var inquiry = Inquiry(snapshot.take(), recalling: kernel.memory)
            let value = try? conclude(&inquiry)
            let missing = inquiry.missing
            snapshot = inquiry.snapshot
            if missing.isEmpty { return value }
            guard let answers = try? kernel.answers(to: missing) else { return nil }
            for (question, answer) in zip(missing, answers) { snapshot.add(question, answer) }
        }
        return nil
    }

    /// The path to a peer at this instant, with the interface that could stand in; nil where the kernel does not answer.
    ///
    /// - Parameter port: The TCP port there; it counts where rules look at ports.
    package func path(to peers: [IPAddress], port: UInt16 = 0) -> ReachabilityPath? {
        guard let kernel else { return nil }
        var configuration = configuration
        configuration.port = port
        let evaluator = PathEvaluator(
            target: .host(peers.map { ReachabilityDestination($0) }), configuration: configuration)
        return try? KernelEvaluation(evaluator, kernel).path
    }

    private func noticed(_ events: [NetworkEvent]) {
        for event in events { kernel?.noticed(event) }
        concerned(events)
    }
}

extension MonitorEnvironment {
    /// The real kernel for connections: without nl80211, since a radio that loses its network loses its carrier.
    package static let connections: MonitorEnvironment = {
        var environment = MonitorEnvironment.kernel
        environment.makeSource = { reactor, configuration throws(ReachabilityError) in
            NetlinkSource(
                reactor: reactor, receiveBufferSize: configuration.receiveBufferSize, watchesWireless: false)
        }
        return environment
    }()
}
