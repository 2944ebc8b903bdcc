// SPDX-License-Identifier: Apache-2.0

/// Reports on every interface: whether it is online, and if not, the first thing it lacks.
package struct LinkReporter: Sendable {
    let evaluator: PathEvaluator
    // Beside so many links the answers that are missing are asked for one after the other: to collect them
    // means to report on each link twice, 25,000 instructions for two of them.
    private static let askingLimit = 8
    private let former: FormerReports

    /// - Parameter former: the reports of the evaluation before, which are returned again where they hold.
    package init(evaluator: PathEvaluator, former: FormerReports = FormerReports()) {
        self.evaluator = evaluator
        self.former = former
    }

    /// The reports that one evaluation has finished while others wait for answers, by the order of the links.
    package struct Finished: Sendable {
        fileprivate var reports: [LinkReport?] = []

        package init() {}
    }

    /// The result of a step.
    package enum Outcome: Sendable {
        case needs([KernelQuestion])
        case reports([LinkReport])
    }

    /// The reports on all interfaces but loopback, in the order of their indexes.
    package func report(_ snapshot: Snapshot) -> Outcome {
        var context = EvaluationContext(snapshot)
        var finished = Finished()
        return report(&context, &finished, keepsObstacles: false)
    }

    /// The same with cached answers, and those of `asking`; what was used is in the snapshot afterwards.
    ///
    /// - Parameter finished: what earlier calls of the same evaluation, with fewer answers, have finished.
    package func report(
        _ snapshot: inout Snapshot, cache: KernelCache, finished: inout Finished,
        asking: EvaluationContext.Asking? = nil
    ) -> Outcome {
        var context = EvaluationContext(snapshot.moveOut(), cache: cache, asking: asking)
        defer { snapshot = context.snapshot }
        return report(
            &context, &finished, keepsObstacles: former.differOnlyByRoutes(cache, evaluator.costs))
    }

    private func report(
        _ context: inout EvaluationContext, _ finished: inout Finished, keepsObstacles: Bool
    ) -> Outcome {
        let rules = (try? context.rules()) ?? PolicyRules()
        if !rules.hasSelectors { return reports(&context, &finished, keepsObstacles) }
        return LinkReporter(evaluator: evaluator.applying(rules), former: former)
            .reports(&context, &finished, keepsObstacles)
    }

    /// - Parameter keepsObstacles: whether former reports that name an obstacle still hold.
    private func reports(
        _ context: inout EvaluationContext, _ finished: inout Finished, _ keepsObstacles: Bool
    ) -> Outcome {
        guard (try? context.require(.links, .addresses)) != nil, let links = try? context.links() else {
            return .needs(context.missing)
        }
        // The former reports that have to be made anew; nil for all of them.
        let open = keepsObstacles ? former.reports.indices.filter { !former.reports[$0].namesObstacle } : nil
        if open?.count ?? links.count > Self.askingLimit { context.collect() }
        let all = (try? context.addresses()) ?? []
        // Grouping pays for its hashing only with many addresses.
        let isLong = all.count > 32
        let grouped = isLong ? Dictionary(grouping: all, by: \.interface) : [:]
        func addresses(of index: Int32) -> [InterfaceAddress] {
            if isLong { return grouped[index] ?? [] }
            var own: [InterfaceAddress] = []
            for position in all.indices where all[position].interface == index { own.append(all[position]) }
            return own
        }
        if let open { return renewed(open, Self.inOrder(links), &context) { addresses(of: $0) } }
        if finished.reports.count != links.count {
            finished.reports = Array(repeating: nil, count: links.count)
        }
        var rest = former.reports[...]
        for (position, link) in Self.inOrder(links).enumerated()
        where !link.isLoopback && finished.reports[position] == nil {
            rest = rest.drop { $0.index < link.index }
            let last = rest.first.flatMap { $0.index == link.index ? $0 : nil }
            let unanswered = context.unanswered
            // Visits all links even if answers are missing, so that all questions are requested together.
            let report = try? report(on: link, addresses(of: link.index), last, &context)
            if context.unanswered == unanswered { finished.reports[position] = report }
        }
        return context.missing.isEmpty
            ? .reports(finished.reports.compactMap { $0 }) : .needs(context.missing)
    }

    /// The former reports, with those at `positions` made anew.
    private func renewed(
        _ positions: [Int], _ links: [LinkState], _ context: inout EvaluationContext,
        addresses: (Int32) -> [InterfaceAddress]
    ) -> Outcome {
        var renewed: [(position: Int, report: LinkReport)] = []
        var rest = links.indices[...]
        for position in positions {
            let last = former.reports[position]
            rest = rest.drop { links[$0].index < last.index }
            guard let offset = rest.first else { break }
            let own = addresses(last.index)
            if let report = try? report(on: links[offset], own, last, &context) {
                renewed.append((position, report))
            }
        }
        guard context.missing.isEmpty else { return .needs(context.missing) }
        var reports = former.reports
        for (position, report) in renewed { reports[position] = report }
        return .reports(reports)
    }

    /// By index; the kernel lists a small number of links in that order.
    private static func inOrder(_ links: [LinkState]) -> [LinkState] {
        var last = Int32.min
        for link in links {
            if link.index < last { return links.sorted { $0.index < $1.index } }
            last = link.index
        }
        return links
    }

    private func report(
        on link: LinkState, _ addresses: [InterfaceAddress], _ last: LinkReport?,
        _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> LinkReport {
        let physical = try context.physicalMedium(of: link, costs: evaluator.costs)
        let text = addresses.map { $0.text }
        if let obstacle = try context.obstacle(of: link) {
            if let last, last.says(obstacle, link.name, physical, addresses: text) { return last }
            return LinkReport(
                name: link.name, index: link.index, medium: physical.medium, isOnline: false,
                reason: ReachabilityReason(obstacle, of: link.name), addresses: text,
                isWiFi: physical.isWiFi, cost: physical.cost)
        }
        var failure: PathFailure?
        if try context.egressUsability(of: link) == .usable {
            switch try ownPath(of: link, addresses, &context) {
            case .success(let own)?:
                return LinkReport(
                    name: link.name, index: link.index, medium: physical.medium, isOnline: true,
                    reason: ReachabilityReason(own.code, interface: link.name, sentence: own.sentence),
                    addresses: text, gateway: own.gateway, metric: own.metric, isWiFi: physical.isWiFi,
                    cost: physical.cost)
            case .failure(let found)?: failure = found
            case nil: break
            }
        }
        let reason =
            if let failure {
                ReachabilityReason(failure.code, interface: link.name, sentence: failure.conclusion)
            } else {
                try missingRequirement(of: link, addresses, &context)
            }
        return LinkReport(
            name: link.name, index: link.index, medium: physical.medium, isOnline: false, reason: reason,
            addresses: text, isWiFi: physical.isWiFi, cost: physical.cost)
    }

    /// The link's own path to the first destination that it has one to.
    private func ownPath(
        of link: LinkState, _ addresses: [InterfaceAddress], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Result<FamilyPath, PathFailure>? {
        var failure: PathFailure?
        for address in evaluator.probedAddresses {
            switch try ownPath(of: link, to: address, addresses, &context) {
            case .success(let path)?: return .success(path)
            case .failure(let other)?: failure = other
            case nil: break
            }
        }
        // Where the first address has no path and another has one, so may the link.
        for address in evaluator.furtherAddresses {
            guard case .route? = context.known(.route(evaluator.lookup(address))),
                case .success(let path)? = try ownPath(of: link, to: address, addresses, &context)
            else { continue }
            return .success(path)
        }
        return failure.map { .failure($0) }
    }

    /// The link's own path to one destination, or the reason why the tunnel it leads into carries nothing;
    /// nil if there is none.
    ///
    /// - Parameter addresses: The link's addresses.
    func ownPath(
        of link: LinkState, to address: IPAddress, _ addresses: [InterfaceAddress],
        _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Result<FamilyPath, PathFailure>? {
        guard let source = try source(to: address, addresses, &context),
            let lookup = try lookup(address, link, by: source, &context)
        else { return nil }
        if try !context.returnsEntry(lookup.entry) {
            guard let path = try chosenPath(of: link, to: address, &context) else { return nil }
            return try evaluator.resolvingUnderlay(path, by: lookup, entry: nil, &context)
        }
        // IPv4 has no entry for several destinations at once (ip_route_output_key_hash_rcu()).
        let entry = try? context.route(lookup.entry).get()
        guard let plain = try? context.route(lookup).get(),
            entry?.kind == .unicast || plain.kind.isForSeveral, let source = plain.sender,
            !source.isLinkOnlySource(for: address, gateway: plain.gateway ?? entry?.gateway)
        else { return nil }
        let path = FamilyPath(
            destination: address, link: link, source: source, gateway: plain.gateway ?? entry?.gateway,
            metric: entry?.metric, prefixLength: entry?.prefixLength, expires: entry?.expires)
        path.code = entry.map { $0.prefixLength <= 1 } == true ? .defaultRoute : .hostRoute
        return try evaluator.resolvingUnderlay(path, by: lookup, entry: entry, &context)
    }

    /// The path if this link is the kernel's own choice; an old kernel says nothing about other links.
    private func chosenPath(
        of link: LinkState, to address: IPAddress, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> FamilyPath? {
        guard let route = try? context.route(evaluator.lookup(address)).get(), route.interface == link.index,
            let source = route.sender, !source.isLinkOnlySource(for: address, gateway: route.gateway)
        else {
            try context.require(.route(evaluator.lookup(address)))
            return nil
        }
        let path = FamilyPath(
            destination: address, link: link, source: source, gateway: route.gateway, metric: nil,
            prefixLength: nil, expires: nil)
        if case .host = evaluator.target { path.code = .hostRoute }
        return path
    }

    /// The lookup that decides whether the link has a path to the address; nil if there certainly is none.
    private func lookup(
        _ address: IPAddress, _ link: LinkState, by source: Source, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> RouteLookup? {
        // If this link is the kernel's own choice, its answers serve for the link too.
        var unbound = evaluator.lookup(address)
        if address.family == .ipv4 { unbound = try context.resolvingSource(unbound) }
        if context.chosenInterface(by: unbound) == link.index { return unbound }
        let bound = evaluator.lookup(address, interface: link.index)
        // Asked for by the path already, when it looked for another link.
        if evaluator.decidesByEntry(address.family),
            case .failure(let errno)? = context.known(.route(bound.entry)),
            errno != KernelErrno.unsupported
        {
            return nil
        }
        if source == .own {
            try context.require(.route(bound.entry), .route(bound))
        } else {
            // Hundreds of links may have neither address nor route: without a route for lookups without a
            // source, only the kernel's own choice with a source counts.
            if case .failure(let refusal) = try context.route(bound.entry),
                refusal.errno != KernelErrno.unsupported
            {
                let chosen = try context.resolvingSource(evaluator.lookup(address))
                guard chosen.source != nil, case .success(let route) = try context.route(chosen),
                    route.interface == link.index
                else { return nil }
                try context.require(.route(chosen.entry))
                return chosen
            }
            try context.require(.route(bound))
        }
        let plain = try context.resolvingSource(bound)
        try context.require(.route(plain.entry), .route(plain))
        return plain
    }

    /// The owner of the address that the kernel would send from.
    private enum Source {
        case own, another
    }

    /// The owner of an address that can be the source for this link; nil if there is none.
    ///
    /// The link's own addresses come first, then those of any other interface: inet_select_addr()
    /// (net/ipv4/devinet.c) and ipv6_dev_get_saddr() (net/ipv6/addrconf.c) try all of them.
    private func source(
        to address: IPAddress, _ addresses: [InterfaceAddress], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Source? {
        // By index, since an element by itself is a copy.
        if addresses.indices.contains(where: { addresses[$0].address.isSource(for: address) }) { return .own }
        return try context.hasSource(for: address) ? .another : nil
    }
}
