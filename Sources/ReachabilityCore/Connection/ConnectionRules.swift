// SPDX-License-Identifier: Apache-2.0

/// Decides from the kernel's answers whether a connection still works.
///
/// Pure, like ``PathEvaluator``. TCP itself needs minutes to detect a pulled cable, a removed address or a
/// route that leads elsewhere: all of them look like a slow server.
package struct ConnectionRules: Sendable {
    private let path: ConnectionPath
    /// The selectors of the policy rules of the connection's family.
    private var selectors: PolicyRules.Selectors = []

    package init(_ path: ConnectionPath) { self.path = path }

    /// The lookup of the peer with the selectors of the policy rules.
    private func lookup(interface: Int32 = 0, wantsEntry: Bool = false) -> RouteLookup {
        RouteLookup(
            destination: path.peer, interface: interface, wantsEntry: wantsEntry,
            port: selectors.contains(.transport) ? path.port : 0)
    }

    /// The lookup without the connection's binding: the kernel's own choice.
    private var choice: RouteLookup {
        var choice = lookup()
        choice.source = knownSource
        return choice
    }
    /// The lookup for an entry to the peer through the connection's own interface.
    ///
    /// It asks for the FIB entry, because IPv4 otherwise assumes that the peer is on the link of any
    /// interface. It names no source, because IPv6 then treats the interface as a hint and may answer with a
    /// route through another one.
    private var own: RouteLookup { lookup(interface: path.interface, wantsEntry: true) }

    /// The connection's own address, if the path can depend on it: through IPv6 routes for one prefix of
    /// sources, rules that select by source, and multipath routes that hash it.
    private var knownSource: IPAddress? {
        guard let local = path.local, local.family == path.peer.family else { return nil }
        return path.peer.isLinkLocal || local.isLinkLocal || local.isLoopback ? nil : local
    }

    /// The questions of every verdict; together they cost one system call.
    private var questions: [KernelQuestion] {
        var questions: [KernelQuestion] = [.link(path.interface), .route(path.isBound ? own : choice)]
        if let local = path.local { questions.append(.route(RouteLookup(destination: local))) }
        return questions
    }

    /// The state of the connection's path.
    package func verdict(_ context: inout EvaluationContext) throws(MissingAnswers) -> ConnectionVerdict {
        var rules = self
        rules.selectors = (try? context.selectors(path.peer.family)) ?? []
        return try rules.conclude(&context)
    }

    private func conclude(_ context: inout EvaluationContext) throws(MissingAnswers) -> ConnectionVerdict {
        try context.require(questions)
        try context.require(.rules)
        guard let link = try context.link(path.interface) else { return .dead("\(path.name) is gone") }
        // Checks flags and operational state: a radio that lost its network and a bridge that lost its ports
        // have no carrier.
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
            // Another leg of the same route: the hash may include the ports.
            if case .success(let entry) = try context.route(fresh.entry),
                entry.legs.contains(where: { $0.interface == path.interface })
            {
                return .fine
            }
            // The peer is now this machine, or is refused; the next packet reports it.
            guard route.kind == .unicast, let other = route.interface else { return .fine }
            return try leadsToPeer(&context) ? .moved(to: other) : noRoute(link)
        }
    }

    /// A stand-in ends as soon as the kernel's own choice is usable again.
    private func standIn(_ context: inout EvaluationContext) throws(MissingAnswers) -> ConnectionVerdict {
        // Without a source, as for a new connection.
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
        // Linux before 4.13 does not say; an unanswered question must not end a connection.
        case .failure(let refusal) where refusal.errno == KernelErrno.unsupported: return true
        case .failure: return try leadsToPeerFromSource(&context)
        }
    }

    /// Whether a route for one prefix of sources leads to the peer.
    private func leadsToPeerFromSource(_ context: inout EvaluationContext) throws(MissingAnswers) -> Bool {
        guard path.peer.family == .ipv6 || selectors.contains(.source) else { return false }
        var lookup = own
        if let knownSource {
            lookup = own.from(knownSource)
        } else {
            // Not connected yet: with the source that the kernel would choose.
            let bound = self.lookup(interface: path.interface)
            lookup = try context.resolvingSource(bound).entry
        }
        guard lookup.source != nil, case .success(let route) = try context.route(lookup) else { return false }
        return route.kind == .unicast
    }
}

extension NetworkEvent {
    /// Whether the event may have changed the path of one of these connections.
    package func mayConcern(_ paths: some Sequence<ConnectionPath>) -> Bool {
        switch self {
        case .linkChanged(_, isWirelessNoise: true), .wirelessChanged: return false
        case .linkChanged(let link, _):
            // Another usable link may have restored a route.
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

    /// Whether the set of paths may have changed, or is about to: the kernel adds and removes links,
    /// addresses and routes one after the other, and a lookup in between may find none.
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
