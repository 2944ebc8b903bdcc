// SPDX-License-Identifier: Apache-2.0

extension PathEvaluator {
    /// The interface besides `excluded` that has the best usable path of its own to `destination`.
    ///
    /// Asked with RTA_OIF and RTM_F_FIB_MATCH: without the latter IPv4 assumes that everything is on the link.
    /// Tunnels and ports do not count; ports send through their master.
    package func ownPath(
        to destination: IPAddress, besides excluded: LinkState, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> LinkState? {
        try standIn(to: destination, besides: excluded, &inquiry)?.link
    }

    /// The same with the address that has to be sent from; nil where the kernel's own choice of one leads there.
    private func standIn(
        to destination: IPAddress, besides excluded: LinkState, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> (link: LinkState, source: IPAddress?)? {
        try inquiry.require(.links)
        let candidates = try inquiry.links().filter { link in
            guard link.index != excluded.index, link.hasUsableState, !link.isLoopback, link.master == nil
            else {
                return false
            }
            if case .tunnel = link.role { return false }
            return true
        }
        try inquiry.require(
            candidates.flatMap { link -> [KernelQuestion] in
                [
                    .route(lookup(destination, interface: link.index, wantsEntry: true)),
                    .route(lookup(destination, interface: link.index)),
                ]
            })
        var best: (link: LinkState, source: IPAddress?, metric: UInt32)?
        var isComplete = true
        for link in candidates {
            // All links are visited even where answers are missing: then all can ask at once.
            guard let plain = try? inquiry.sending(lookup(destination, interface: link.index)),
                (try? inquiry.require(.route(plain), .route(plain.entry))) != nil
            else {
                isComplete = false
                continue
            }
            let entry = try? inquiry.route(plain.entry).get()
            let metric = entry?.metric ?? 0
            guard let route = try? inquiry.route(plain).get(),
                entry?.kind == .unicast || route.kind.isForSeveral,
                best.map({ metric < $0.metric }) ?? true, let source = route.sender,
                !source.isLinkOnlySource(for: destination, gateway: route.gateway ?? entry?.gateway),
                try inquiry.usability(of: link) == .usable
            else { continue }
            best = (link, plain.source, metric)
        }
        guard isComplete else { throw Inquiry.Incomplete() }
        return best.map { ($0.link, $0.source) }
    }

    /// The interface that could stand in while the kernel's choice is dead.
    package func alternative(
        for failures: [PathFailure], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> (link: LinkState, source: IPAddress?)? {
        // One forbidding route forbids for good, whatever the other family says.
        guard let failure = failures.max(by: { $0.rank < $1.rank }), failure.allowsAlternative,
            let dead = failure.link
        else { return nil }
        for destination in destinations
        where destination.zone == nil
            && configuration.family ?? destination.address.family
                == destination.address.family
        {
            if let found = try standIn(to: destination.address, besides: dead, &inquiry) { return found }
        }
        return nil
    }
}
