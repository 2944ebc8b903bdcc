// SPDX-License-Identifier: Apache-2.0

extension PathEvaluator {
    /// The interface other than `excluded` with the best usable path of its own to `destination`.
    ///
    /// The lookups use RTA_OIF and RTM_F_FIB_MATCH: without the latter IPv4 assumes that everything is on the
    /// link. Tunnels and ports do not count; ports send through their master.
    package func ownPath(
        to destination: IPAddress, besides excluded: LinkState, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> LinkState? {
        try standIn(to: destination, besides: excluded, &context)?.link
    }

    /// The same with the source address; nil for the kernel's own choice.
    private func standIn(
        to destination: IPAddress, besides excluded: LinkState, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> (link: LinkState, source: IPAddress?)? {
        try context.require(.links)
        let candidates = try context.links().filter { link in
            guard link.index != excluded.index, link.hasUsableState, !link.isLoopback, link.master == nil
            else { return false }
            if case .tunnel = link.role { return false }
            return true
        }
        let bound = candidates.map { lookup(destination, interface: $0.index) }
        try context.require(bound.flatMap { [.route($0.entry), .route($0)] })
        var best: (link: LinkState, source: IPAddress?, metric: UInt32)?
        var isComplete = true
        for link in candidates {
            // Visits all of them even if answers are missing, so that all questions are requested together.
            guard let plain = try? context.resolvingSource(lookup(destination, interface: link.index)),
                (try? context.require(.route(plain), .route(plain.entry))) != nil
            else {
                isComplete = false
                continue
            }
            let entry = try? context.route(plain.entry).get()
            let metric = entry?.metric ?? 0
            guard let route = try? context.route(plain).get(),
                entry?.kind == .unicast || route.kind.isForSeveral,
                best.map({ metric < $0.metric }) ?? true, let source = route.sender,
                !source.isLinkOnlySource(for: destination, gateway: route.gateway ?? entry?.gateway),
                try context.usability(of: link) == .usable
            else { continue }
            best = (link, plain.source, metric)
        }
        guard isComplete else { throw MissingAnswers() }
        return best.map { ($0.link, $0.source) }
    }

    /// The interface that can replace the kernel's dead choice.
    package func alternative(
        for failures: [PathFailure], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> (link: LinkState, source: IPAddress?)? {
        // A refusing route in one family forbids an alternative in both.
        guard let failure = failures.max(by: { $0.rank < $1.rank }), failure.allowsAlternative,
            let dead = failure.link
        else { return nil }
        for destination in destinations where destination.zone == nil {
            let family = destination.address.family
            guard configuration.family ?? family == family else { continue }
            if let found = try standIn(to: destination.address, besides: dead, &context) { return found }
        }
        return nil
    }
}
