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
        try uplinks(to: destination, among: candidates(besides: excluded, &context), &context)
    }

    private func uplinks(
        to destination: IPAddress, among candidates: [LinkState], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> [Uplink] {
        try context.require(questions(about: candidates, to: destination))
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
        if found.count > 1 {
            found.sort { ($0.uplink.metric, $0.offset) < ($1.uplink.metric, $1.offset) }
        }
        return found.map(\.uplink)
    }

    private func candidates(
        besides excluded: Int32, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> [LinkState] {
        try context.links().filter { link in
            guard link.index != excluded, link.hasUsableState, !link.isLoopback, link.master == nil else {
                return false
            }
            if case .tunnel = link.role { return false }
            return true
        }
    }

    private func questions(about candidates: [LinkState], to destination: IPAddress) -> [KernelQuestion] {
        var questions: [KernelQuestion] = []
        for link in candidates {
            let bound = lookup(destination, interface: link.index)
            questions.append(.route(bound.entry))
            if !decidesByEntry(destination.family) { questions.append(.route(bound)) }
        }
        return questions
    }

    /// Whether a link without an entry has no path: the next hop is asked for only where there is an entry.
    ///
    /// IPv4 has no entry for several destinations at once, such as the multicast group that a host may be.
    /// IPv6 and rules by source need the next hop to find out the source.
    func decidesByEntry(_ family: IPAddress.Family) -> Bool {
        family == .ipv4 && !isHost && !selects(.ipv4, by: .source)
    }

    private func uplink(
        _ link: LinkState, to destination: IPAddress, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Uplink? {
        let bound = lookup(destination, interface: link.index)
        if decidesByEntry(destination.family), case .failure = try context.route(bound.entry) { return nil }
        let plain = try context.resolvingSource(bound)
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

    private static let fewCandidates = 4

    /// The uplink that can replace the kernel's dead choice.
    package func alternative(
        for failures: [PathFailure], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Uplink? {
        // A refusing route in one family forbids an alternative in both.
        guard let failure = failures.max(by: { $0.rank < $1.rank }) else { return nil }
        let bySource = failure.isMissingRoute
        guard failure.allowsAlternative || bySource else { return nil }
        var asked: [IPAddress] = []
        for destination in destinations where destination.zone == nil {
            let family = destination.address.family
            guard configuration.family ?? family == family else { continue }
            // Only rules by source hide a route from programs that choose no address.
            if bySource, !selects(family, by: .source) { continue }
            // Without an address of the family there is no path of it.
            if context.known(.addresses) != nil, try !context.hasSource(for: destination.address) { continue }
            asked.append(destination.address)
        }
        let excluded = failure.link?.index ?? 0
        let candidates = asked.isEmpty ? [] : try candidates(besides: excluded, &context)
        // Beside few links the questions about all addresses are one: most often no other link has a path.
        if candidates.count <= Self.fewCandidates {
            try context.require(asked.flatMap { questions(about: candidates, to: $0) })
        }
        for destination in asked {
            if let best = try uplinks(to: destination, among: candidates, &context).first { return best }
        }
        return nil
    }
}
