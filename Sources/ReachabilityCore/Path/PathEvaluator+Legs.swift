// SPDX-License-Identifier: Apache-2.0

// Multipath routes: the kernel spreads traffic over their legs, dead or not, and each connection keeps to one.
extension PathEvaluator {
    /// The legs that the traffic in question takes; none of a route without legs.
    ///
    /// To anywhere it takes all. To one host it takes the leg that the kernel's hash of the addresses names, or, where the ports are
    /// in the hash too (fib_multipath_hash_policy, ip-sysctl in the kernel's documentation), one for each connection. Which it is
    /// shows in the answers for some source ports.
    func taken(
        of entry: RouteAnswer?, by lookup: RouteLookup, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> [RouteAnswer.Leg] {
        let legs = entry?.legs.filter { !$0.isDead } ?? []
        guard isHost, !legs.isEmpty else { return legs }
        var first = lookup
        first.port = configuration.port
        // IPv4 looks up once more with the source that the first lookup has chosen, which is in the hash too (ip_route_connect(),
        // include/net/route.h).
        var source = lookup.source
        if source == nil, lookup.destination.family == .ipv4,
            case .success(let route) = try inquiry.route(first)
        {
            source = route.sender
        }
        let lookups = Self.sourcePorts.map { sourcePort in
            var connection = first
            connection.source = source
            connection.sourcePort = sourcePort
            return connection
        }
        try inquiry.require(lookups.map { .route($0) })
        var interfaces: [Int32] = []
        for lookup in lookups {
            if case .success(let route) = try inquiry.route(lookup), let index = route.interface {
                interfaces.append(index)
            }
        }
        return legs.filter { interfaces.contains($0.interface) }
    }

    /// Some of those that connections get (ip_local_port_range, ip(7)): with two legs, one in 32,768 hosts is taken for another.
    private static let sourcePorts: [UInt16] = (0..<16).map { 32_768 + 1_777 * $0 }

    /// The first leg that works, and what is wrong with the others.
    func state(
        of legs: [RouteAnswer.Leg], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> (
        usable: (link: LinkState, gateway: IPAddress?)?, dead: [(link: LinkState, usability: LinkUsability)]
    ) {
        try inquiry.require(legs.map { .link($0.interface) })
        var usable: (link: LinkState, gateway: IPAddress?)?
        var dead: [(link: LinkState, usability: LinkUsability)] = []
        var isComplete = true
        for leg in legs {
            guard let link = try inquiry.link(leg.interface) else { continue }
            // All legs are visited even where answers are missing: then all can ask at once.
            guard let usability = try? inquiry.egressUsability(of: link) else {
                isComplete = false
                continue
            }
            inquiry.note(EvaluationStep("leg \(link.name)", link.stateText, usability.sentence(link.name)))
            if usability == .usable {
                usable = usable ?? (link, leg.gateway)
            } else if !dead.contains(where: { $0.link.index == link.index }) {
                dead.append((link, usability))
            }
        }
        guard isComplete else { throw Inquiry.Incomplete() }
        return (usable, dead)
    }

    /// The first leg of a multipath route that works.
    func usableLeg(
        of entry: RouteAnswer?, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> (link: LinkState, gateway: IPAddress?)? {
        try state(of: entry?.legs.filter { !$0.isDead } ?? [], &inquiry).usable
    }
}
