// SPDX-License-Identifier: Apache-2.0

// Where a tunnel's own packets go: nothing but their way tells whether the tunnel leads anywhere.
extension PathEvaluator {
    /// What a way besides the tunnel comes to.
    enum Way {
        case usable(LinkState)
        /// The kernel prefers a default route through an interface that carries nothing.
        case dead
        /// A route or rule refuses it.
        case refused
        case none
    }

    /// Where the tunnel's own packets may go: to the destination as such, or by the other family.
    static func outside(_ destination: IPAddress) -> [IPAddress] {
        let other = ReachabilityConfiguration.defaultSentinels.first { $0.family != destination.family }
        return [destination] + (other.map { [$0] } ?? [])
    }

    /// What the interfaces besides `tunnel` come to, each asked for its own way.
    ///
    /// The kernel goes by the metric of default routes and not by carriers, so a dead link whose default comes first is what the
    /// tunnel's packets get, whatever else is up. Another prefix counts where there is no default at all.
    func ownWay(
        to destination: IPAddress, besides tunnel: LinkState, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Way {
        try inquiry.require(.links)
        let candidates = try inquiry.links().filter { link in
            if case .tunnel = link.role { return false }
            return link.index != tunnel.index && link.flags.contains(.up) && link.isUnbridged
                && link.role != .sink
        }
        try inquiry.require(
            candidates.flatMap { link -> [KernelQuestion] in
                let bound = lookup(destination, interface: link.index)
                return [.route(bound.entry), .route(bound)]
            })
        var best: (link: LinkState, isDefault: Bool, metric: UInt32, isUsable: Bool)?
        var isComplete = true
        for link in candidates {
            // All links are visited even where answers are missing: then all can ask at once.
            guard let plain = try? inquiry.sending(lookup(destination, interface: link.index)),
                (try? inquiry.require(.route(plain), .route(plain.entry))) != nil,
                let usability = try? inquiry.usability(of: link)
            else {
                isComplete = false
                continue
            }
            guard let entry = try? inquiry.route(plain.entry).get(), entry.kind == .unicast,
                let route = try? inquiry.route(plain).get(), let source = route.sender,
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
        guard isComplete else { throw Inquiry.Incomplete() }
        guard let best else { return .none }
        return best.isUsable ? .usable(best.link) : .dead
    }

    /// The way of what policy rules set apart: the mark, user or destination of the tunnel's own packets, most likely.
    ///
    /// Asked where a kill switch may be what answers plain lookups: bound to a link, an IPv4 lookup is answered with EHOSTUNREACH whether
    /// something refuses or there is no route (ip_route_output_key_hash_rcu(), net/ipv4/route.c).
    func exemptWay(
        to destination: IPAddress, besides tunnel: LinkState, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Way {
        let exemptions = try inquiry.rules().exemptions
        var lookups = exemptions.destinations.map { RouteLookup(destination: $0) }
        for address in Self.outside(destination) {
            lookups += exemptions.marks.map { RouteLookup(destination: address, mark: $0) }
            lookups += exemptions.users.map { RouteLookup(destination: address, user: $0) }
        }
        try inquiry.require(lookups.flatMap { [.route($0), .route($0.entry)] })
        // Where nothing is set apart, a rule that refuses is all there is to know.
        let isRefused = lookups.isEmpty && exemptions.refusing.contains(destination.family)
        var result: Way = isRefused ? .refused : .none
        var isComplete = true
        for lookup in lookups {
            // All are followed even where answers are missing: then all can ask at once.
            guard let way = try? way(by: lookup, besides: tunnel, &inquiry) else {
                isComplete = false
                continue
            }
            switch way {
            case .usable: return way
            case .dead: result = .dead
            case .refused: if case .none = result { result = .refused }
            case .none: continue
            }
        }
        guard isComplete else { throw Inquiry.Incomplete() }
        return result
    }

    private func way(
        by lookup: RouteLookup, besides tunnel: LinkState, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Way {
        let plain = try inquiry.sending(lookup)
        try inquiry.require(.route(plain), .route(plain.entry))
        switch try inquiry.route(plain) {
        case .failure(let refusal): return PathFailure(refusal: refusal).code == .noRoute ? .none : .refused
        case .success(let route):
            guard route.kind == .unicast, let index = route.interface, let link = try inquiry.link(index),
                !link.isLoopback, link.role != .tunnel, let source = route.sender,
                !source.isLinkOnlySource(for: plain.destination, gateway: route.gateway)
            else { return .none }
            if try inquiry.egressUsability(of: link) == .usable { return .usable(link) }
            let entry = try? inquiry.route(plain.entry).get()
            return try usableLeg(of: entry, &inquiry).map { .usable($0.link) } ?? .dead
        }
    }
}

extension LinkState {
    /// Whether the link sends for itself: neither loopback nor the port of another one.
    var isUnbridged: Bool { !isLoopback && master == nil }
}
