// SPDX-License-Identifier: Apache-2.0

/// Decides from the kernel's answers whether a connection still works.
///
/// Pure, as ``PathEvaluator``. TCP itself finds out after minutes: a cable that was pulled, an address that went away and a route
/// that leads elsewhere all look like a slow server.
package struct ConnectionRules: Sendable {
    private let path: ConnectionPath
    /// What the policy rules of the connection's family look at.
    private var selectors: PolicyRules.Selectors = []

    package init(_ path: ConnectionPath) { self.path = path }

    /// The lookup of the peer, with what policy rules look at.
    private func lookup(interface: Int32 = 0, wantsEntry: Bool = false) -> RouteLookup {
        RouteLookup(
            destination: path.peer, interface: interface, wantsEntry: wantsEntry,
            port: selectors.contains(.transport) ? path.port : 0)
    }

    /// How the kernel would send to the peer now, left alone.
    private var choice: RouteLookup {
        var choice = lookup()
        choice.source = knownSource
        return choice
    }
    /// Whether there is an entry for the peer through the connection's own interface.
    ///
    /// With the FIB entry: otherwise IPv4 takes every interface for one with the peer on the link. Without a source: with one, IPv6 takes
    /// the interface for a wish, and answers with a better route through another.
    private var own: RouteLookup { lookup(interface: path.interface, wantsEntry: true) }

    /// The connection's own address, on which the way can depend: there are IPv6 routes for one prefix of sources alone, rules that
    /// look at it, and multipath routes in whose hash it is.
    private var knownSource: IPAddress? {
        guard let local = path.local, local.family == path.peer.family else { return nil }
        return path.peer.isLinkLocal || local.isLinkLocal || local.isLoopback ? nil : local
    }

    /// What is asked in any case: together it costs one system call.
    private var questions: [KernelQuestion] {
        var questions: [KernelQuestion] = [.link(path.interface), .route(path.isBound ? own : choice)]
        if let local = path.local { questions.append(.route(RouteLookup(destination: local))) }
        return questions
    }

    /// What became of it.
    package func verdict(_ context: inout EvaluationContext) throws(MissingAnswers) -> ConnectionVerdict {
        var rules = self
        rules.selectors = (try? context.selectors(path.peer.family)) ?? []
        return try rules.conclude(&context)
    }

    private func conclude(_ context: inout EvaluationContext) throws(MissingAnswers) -> ConnectionVerdict {
        try context.require(questions)
        try context.require(.rules)
        guard let link = try context.link(path.interface) else { return .dead("\(path.name) is gone") }
        // Flags and operational state: a radio that lost its network and a bridge that lost its ports have no carrier.
        let state = link.stateUsability
        guard state == .usable else { return .dead(state.sentence(link.name)) }
        if let local = path.local, try !owns(local, &context) {
            return .dead("\(link.name) has no longer the address \(local)")
        }
        if path.isBound {
            guard try leadsToPeer(&context) else { return noRoute(link) }
            return path.isStandIn ? try standIn(&context) : .fine
        }
        let fresh = try context.resolvingSource(choice)
        switch try context.route(fresh) {
        case .failure:
            return try leadsToPeer(&context) ? .moved(to: 0) : .dead("no route to \(path.peer)")
        case .success(let route):
            if route.interface == path.interface { return .fine }
            // Another leg of the same route: the ports may be in the hash, too.
            if case .success(let entry) = try context.route(fresh.entry),
                entry.legs.contains(where: { $0.interface == path.interface })
            {
                return .fine
            }
            // The peer has become this machine itself, or is refused: the next packet will tell.
            guard route.kind == .unicast, let other = route.interface else { return .fine }
            return try leadsToPeer(&context) ? .moved(to: other) : noRoute(link)
        }
    }

    /// A stand-in is wanted no more when what the kernel chooses is usable again.
    private func standIn(_ context: inout EvaluationContext) throws(MissingAnswers) -> ConnectionVerdict {
        // As for a new connection, whose source is still to be chosen.
        let fresh = try context.resolvingSource(lookup())
        guard case .success(let route) = try context.route(fresh), route.kind == .unicast,
            let index = route.interface, index != path.interface, let link = try context.link(index),
            link.hasUsableState
        else { return .fine }
        return .moved(to: index)
    }

    private func noRoute(_ link: LinkState) -> ConnectionVerdict {
        .dead("no route to \(path.peer) through \(link.name)")
    }

    /// Whether the machine still has the address.
    private func owns(_ local: IPAddress, _ context: inout EvaluationContext) throws(MissingAnswers) -> Bool {
        if case .success(let route) = try context.route(RouteLookup(destination: local)), route.kind == .local
        {
            return true
        }
        // The addresses of a VRF are in a table of its own.
        return try context.addresses().contains { $0.address == local && $0.isUsable }
    }

    private func leadsToPeer(_ context: inout EvaluationContext) throws(MissingAnswers) -> Bool {
        switch try context.route(own) {
        case .success(let route): return route.kind == .unicast
        // Linux before 4.13 does not tell: an open question must not end a connection.
        case .failure(let refusal) where refusal.errno == KernelErrno.unsupported: return true
        case .failure: return try leadsToPeerFromSource(&context)
        }
    }

    /// Whether a route for one prefix of sources alone leads there.
    private func leadsToPeerFromSource(_ context: inout EvaluationContext) throws(MissingAnswers) -> Bool {
        guard path.peer.family == .ipv6 || selectors.contains(.source) else { return false }
        var lookup = own
        if let knownSource {
            lookup = own.from(knownSource)
        } else {
            // Not connected yet: from whatever address the kernel would choose.
            let bound = self.lookup(interface: path.interface)
            lookup = try context.resolvingSource(bound).entry
        }
        guard lookup.source != nil, case .success(let route) = try context.route(lookup) else { return false }
        return route.kind == .unicast
    }
}

extension NetworkEvent {
    /// Whether it may have changed the way of one of these connections.
    package func mayConcern(_ paths: some Sequence<ConnectionPath>) -> Bool {
        switch self {
        case .linkChanged(_, isWirelessNoise: true), .wirelessChanged: return false
        case .linkChanged(let link, _):
            // Another link that is usable may have brought a route back.
            return link.hasUsableState || paths.contains { $0.interface == link.index }
        case .linkRemoved(let index): return paths.contains { $0.interface == index }
        case .addressAdded: return false
        case .addressRemoved(let address):
            return paths.contains { $0.interface == address.interface || $0.local == address.address }
        case .routeAdded(let prefix, _), .routeRemoved(let prefix, _):
            return paths.contains { prefix.contains($0.peer) }
        case .ruleChanged(let family), .settingChanged(let family):
            return paths.contains { $0.peer.family == family }
        case .nexthopChanged, .overrun, .reopened, .resumed, .requested: return true
        case .routerChanged: return paths.contains { $0.peer.family == .ipv6 }
        case .destinationsChanged: return false
        }
    }

    /// Whether the ways out may be others since, or in a moment: with a link, an address or a route the others come and go one after
    /// the other, and who asks in between is told that there is none.
    package var mayChangePaths: Bool {
        switch self {
        case .linkChanged(_, let isWirelessNoise): !isWirelessNoise
        case .linkRemoved, .addressAdded, .addressRemoved, .routeAdded, .routeRemoved, .ruleChanged,
            .settingChanged, .nexthopChanged, .routerChanged, .overrun, .reopened, .resumed:
            true
        case .wirelessChanged, .requested, .destinationsChanged: false
        }
    }
}
