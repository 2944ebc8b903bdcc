// SPDX-License-Identifier: Apache-2.0

// Multipath routes: the kernel spreads connections over the legs, dead or not, and keeps each on one leg.
extension PathEvaluator {
    /// The legs that traffic to the target uses; empty for a route without legs.
    ///
    /// Traffic to anywhere uses all legs. Traffic to one host uses the leg selected by the kernel's hash of
    /// the addresses, or one leg for each connection if the ports are in the hash too
    /// (fib_multipath_hash_policy, ip-sysctl); lookups with a sample of source ports show which.
    func legsInUse(
        of entry: RouteAnswer?, by lookup: RouteLookup, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> [RouteAnswer.Leg] {
        let legs = entry?.legs.filter { !$0.isDead } ?? []
        guard isHost, !legs.isEmpty else { return legs }
        var first = lookup
        first.port = configuration.port
        // IPv4 looks up again with the source of the first lookup, which is hashed too (ip_route_connect()).
        var source = lookup.source
        if source == nil, lookup.destination.family == .ipv4,
            case .success(let route) = try context.route(first)
        {
            source = route.sender
        }
        let lookups = Self.sourcePorts.map { sourcePort in
            var connection = first
            connection.source = source
            connection.sourcePort = sourcePort
            return connection
        }
        try context.require(lookups.map { .route($0) })
        var interfaces: [Int32] = []
        for lookup in lookups {
            if case .success(let route) = try context.route(lookup), let index = route.interface {
                interfaces.append(index)
            }
        }
        return legs.filter { interfaces.contains($0.interface) }
    }

    /// A sample of the ephemeral ports (ip(7)): with two legs it misjudges one host in 32,768.
    private static let sourcePorts: [UInt16] = (0..<16).map { 32_768 + 1_777 * $0 }

    /// The first usable leg, and the states of the dead ones.
    func state(
        of legs: [RouteAnswer.Leg], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> (
        usable: (link: LinkState, gateway: IPAddress?)?, dead: [(link: LinkState, usability: LinkUsability)]
    ) {
        try context.require(legs.map { .link($0.interface) })
        var usable: (link: LinkState, gateway: IPAddress?)?
        var dead: [(link: LinkState, usability: LinkUsability)] = []
        var isComplete = true
        for leg in legs {
            guard let link = try context.link(leg.interface) else { continue }
            // Visits all of them even if answers are missing, so that all questions are requested together.
            guard let usability = try? context.egressUsability(of: link) else {
                isComplete = false
                continue
            }
            context.record(EvaluationStep("leg \(link.name)", link.stateText, usability.sentence(link.name)))
            if usability == .usable {
                usable = usable ?? (link, leg.gateway)
            } else if !dead.contains(where: { $0.link.index == link.index }) {
                dead.append((link, usability))
            }
        }
        guard isComplete else { throw MissingAnswers() }
        return (usable, dead)
    }

    /// The first usable leg of a multipath route.
    func usableLeg(
        of entry: RouteAnswer?, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> (link: LinkState, gateway: IPAddress?)? {
        try state(of: entry?.legs.filter { !$0.isDead } ?? [], &context).usable
    }
}
