// SPDX-License-Identifier: Apache-2.0

extension PathEvaluator {
    /// The interfaces other than `excluded` with a usable path of their own to `destination`, the best one
    /// first.
    ///
    /// The lookups use RTA_OIF and RTM_F_FIB_MATCH: without the latter IPv4 assumes that everything is on the
    /// link. Tunnels and ports do not count; ports send through their master.
    package func uplinks(
        to destination: IPAddress, besides excluded: Int32, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> [Uplink] {
        try context.require(.links)
        let candidates = try context.links().filter { link in
            guard link.index != excluded, link.hasUsableState, !link.isLoopback, link.master == nil else {
                return false
            }
            if case .tunnel = link.role { return false }
            return true
        }
        try context.require(
            candidates.flatMap { link -> [KernelQuestion] in
                [
                    .route(lookup(destination, interface: link.index, wantsEntry: true)),
                    .route(lookup(destination, interface: link.index)),
                ]
            })
        var found: [(offset: Int, uplink: Uplink)] = []
        var isComplete = true
        for (offset, link) in candidates.enumerated() {
            // Visits all of them even if answers are missing, so that all questions are requested together.
            do throws(MissingAnswers) {
                if let uplink = try uplink(link, to: destination, &context) { found.append((offset, uplink)) }
            } catch {
                isComplete = false
            }
        }
        guard isComplete else { throw MissingAnswers() }
        found.sort { ($0.uplink.metric, $0.offset) < ($1.uplink.metric, $1.offset) }
        return found.map(\.uplink)
    }

    private func uplink(
        _ link: LinkState, to destination: IPAddress, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Uplink? {
        let plain = try context.resolvingSource(lookup(destination, interface: link.index))
        try context.require(.route(plain), .route(plain.entry))
        let entry = try? context.route(plain.entry).get()
        guard let route = try? context.route(plain).get(),
            entry?.kind == .unicast || route.kind.isForSeveral, let source = route.sender,
            !source.isLinkOnlySource(for: destination, gateway: route.gateway ?? entry?.gateway),
            try context.usability(of: link) == .usable
        else { return nil }
        let physical = try context.physicalMedium(of: link, costs: costs)
        var uplink = Uplink(
            name: link.name, index: link.index, source: plain.source, metric: entry?.metric ?? 0,
            medium: physical.medium, isWiFi: physical.isWiFi, isExpensive: physical.cost.isExpensive)
        uplink.isConstrained = physical.cost.isConstrained
        uplink.ssid = try physical.station.flatMap { station throws(MissingAnswers) in
            try context.wireless(station)?.ssid
        }
        return uplink
    }

    /// The uplink that can replace the kernel's dead choice.
    package func alternative(
        for failures: [PathFailure], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Uplink? {
        // A refusing route in one family forbids an alternative in both.
        guard let failure = failures.max(by: { $0.rank < $1.rank }) else { return nil }
        let bySource = failure.isMissingRoute
        guard failure.allowsAlternative || bySource else { return nil }
        for destination in destinations
        where destination.zone == nil
            && configuration.family ?? destination.address.family
                == destination.address.family
        {
            // Only rules by source hide a route from programs that choose no address.
            if bySource, !selects(destination.address.family, by: .source) { continue }
            if let best = try uplinks(
                to: destination.address, besides: failure.link?.index ?? 0, &context
            ).first {
                return best
            }
        }
        return nil
    }
}
