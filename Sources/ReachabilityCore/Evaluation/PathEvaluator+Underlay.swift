// SPDX-License-Identifier: Apache-2.0

// The route of a tunnel's own packets, which decides whether the tunnel is usable.
extension PathEvaluator {
    /// The result of a route outside the tunnel.
    enum OuterRoute {
        case usable(LinkState)
        /// The kernel prefers a default route through a dead interface.
        case dead
        /// A route or rule refuses it.
        case refused
        case absent
    }

    /// Destinations for the tunnel's own packets: the destination itself, and one of the other family.
    static func outside(_ destination: IPAddress) -> [IPAddress] {
        let other = ReachabilityConfiguration.defaultSentinels.first { $0.family != destination.family }
        return [destination] + (other.map { [$0] } ?? [])
    }

    /// The best route through an interface other than `tunnel`, with one lookup for each interface.
    ///
    /// The kernel selects default routes by metric and ignores media, so a dead link with the best metric
    /// gets the tunnel's packets even if others are up. Other prefixes count only without a default route.
    func outerRoute(
        to destination: IPAddress, besides tunnel: LinkState, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> OuterRoute {
        try context.require(.links)
        let candidates = try context.links().filter { link in
            if case .tunnel = link.role { return false }
            return link.index != tunnel.index && link.flags.contains(.up) && link.isUnbridged
                && link.role != .sink
        }
        let bound = candidates.map { lookup(destination, interface: $0.index) }
        try context.require(bound.flatMap { [.route($0.entry), .route($0)] })
        var best: (link: LinkState, isDefault: Bool, metric: UInt32, isUsable: Bool)?
        var isComplete = true
        for link in candidates {
            // Visits all of them even if answers are missing, so that all questions are requested together.
            guard let plain = try? context.resolvingSource(lookup(destination, interface: link.index)),
                (try? context.require(.route(plain), .route(plain.entry))) != nil,
                let usability = try? context.usability(of: link)
            else {
                isComplete = false
                continue
            }
            guard let entry = try? context.route(plain.entry).get(), entry.kind == .unicast,
                let route = try? context.route(plain).get(), let source = route.sender,
                !source.isLinkOnlySource(for: destination, gateway: route.gateway ?? entry.gateway)
            else { continue }
            let isDefault = entry.prefixLength <= 1
            let isUsable = usability == .usable
            guard isDefault || isUsable else { continue }
            if let best {
                guard isDefault || !best.isDefault else { continue }
                if isDefault == best.isDefault {
                    guard
                        entry.metric < best.metric
                            || entry.metric == best.metric && isUsable && !best.isUsable
                    else { continue }
                }
            }
            best = (link, isDefault, entry.metric, isUsable)
        }
        guard isComplete else { throw MissingAnswers() }
        guard let best else { return .absent }
        return best.isUsable ? .usable(best.link) : .dead
    }

    /// The route for the mark, user or destination that policy rules exempt, probably for the tunnel itself;
    /// nil without such an exemption.
    ///
    /// A kill switch may answer plain lookups: an IPv4 lookup bound to a link is answered with EHOSTUNREACH
    /// for a refusal and for a missing route (ip_route_output_key_hash_rcu(), net/ipv4/route.c).
    func exemptRoute(
        to destination: IPAddress, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> OuterRoute? {
        let exemptions = try context.rules().exemptions
        var lookups = exemptions.destinations.map { RouteLookup(destination: $0) }
        for address in Self.outside(destination) {
            lookups += exemptions.marks.map { RouteLookup(destination: address, mark: $0) }
            lookups += exemptions.users.map { RouteLookup(destination: address, user: $0) }
        }
        try context.require(lookups.flatMap { [.route($0), .route($0.entry)] })
        // Without exemptions, a refusing rule is conclusive.
        let isRefused = lookups.isEmpty && exemptions.refusing.contains(destination.family)
        var result: OuterRoute? = isRefused ? .refused : nil
        var isComplete = true
        for lookup in lookups {
            // Visits all of them even if answers are missing, so that all questions are requested together.
            do throws(MissingAnswers) {
                guard let route = try outerRoute(by: lookup, &context) else { continue }
                switch (route, result) {
                case (.usable, _): return route
                case (.dead, _), (_, nil), (.refused, .absent): result = route
                default: continue
                }
            } catch {
                isComplete = false
            }
        }
        guard isComplete else { throw MissingAnswers() }
        return result
    }

    /// The route of one lookup; nil if it goes into a tunnel or stays here, and so exempts nothing.
    private func outerRoute(
        by lookup: RouteLookup, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> OuterRoute? {
        let plain = try context.resolvingSource(lookup)
        try context.require(.route(plain), .route(plain.entry))
        switch try context.route(plain) {
        case .failure(let refusal): return PathFailure.code(of: refusal) == .noRoute ? .absent : .refused
        case .success(let route):
            guard route.kind == .unicast, let index = route.interface, let link = try context.link(index),
                !link.isLoopback, link.role != .tunnel
            else { return nil }
            guard let source = route.sender,
                !source.isLinkOnlySource(for: plain.destination, gateway: route.gateway)
            else { return .absent }
            if try context.egressUsability(of: link) == .usable { return .usable(link) }
            let entry = try? context.route(plain.entry).get()
            return try usableLeg(of: entry, &context).map { .usable($0.link) } ?? .dead
        }
    }
}

extension LinkState {
    /// Whether the link is neither loopback nor a port of another link.
    var isUnbridged: Bool { !isLoopback && master == nil }
}
