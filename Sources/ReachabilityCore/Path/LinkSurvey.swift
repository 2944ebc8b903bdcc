// SPDX-License-Identifier: Apache-2.0

/// Looks at every interface for itself: whether it is online, and if not, the first thing it lacks.
package struct LinkSurvey: Sendable {
    let evaluator: PathEvaluator

    package init(evaluator: PathEvaluator) { self.evaluator = evaluator }

    /// What a survey comes to.
    package enum Outcome: Sendable {
        case needs([KernelQuestion])
        case reports([LinkReport])
    }

    /// The reports on all interfaces but loopback, in the order of their indexes.
    package func survey(_ snapshot: Snapshot) -> Outcome {
        var inquiry = Inquiry(snapshot)
        return survey(&inquiry)
    }

    /// The same with answers that are remembered; what is taken from `memory` is in the snapshot afterwards.
    package func survey(_ snapshot: inout Snapshot, recalling memory: AnswerMemory) -> Outcome {
        var inquiry = Inquiry(snapshot.take(), recalling: memory)
        defer { snapshot = inquiry.snapshot }
        return survey(&inquiry)
    }

    private func survey(_ inquiry: inout Inquiry) -> Outcome {
        let rules = (try? inquiry.rules()) ?? PolicyRules()
        if !rules.hasSelectors { return reports(&inquiry) }
        return LinkSurvey(evaluator: evaluator.considering(rules)).reports(&inquiry)
    }

    private func reports(_ inquiry: inout Inquiry) -> Outcome {
        var reports: [LinkReport] = []
        guard (try? inquiry.require(.links, .addresses)) != nil, let links = try? inquiry.links() else {
            return .needs(inquiry.missing)
        }
        let all = (try? inquiry.addresses()) ?? []
        // Few are found sooner by walking than by hashing.
        let grouped = all.count > 32 ? Dictionary(grouping: all, by: \.interface) : [:]
        func addresses(of index: Int32) -> [InterfaceAddress] {
            if all.count > 32 { return grouped[index] ?? [] }
            var own: [InterfaceAddress] = []
            own.reserveCapacity(4)
            for address in all where address.interface == index { own.append(address) }
            return own
        }
        reports.reserveCapacity(links.count)
        for link in Self.inOrder(links) where !link.isLoopback {
            // All links are visited even where answers are missing: then all can ask at once.
            guard let report = try? report(on: link, addresses(of: link.index), &inquiry) else { continue }
            reports.append(report)
        }
        return inquiry.missing.isEmpty ? .reports(reports) : .needs(inquiry.missing)
    }

    /// By index: the kernel lists them so as long as there are few.
    private static func inOrder(_ links: [LinkState]) -> [LinkState] {
        var last = Int32.min
        for link in links {
            if link.index < last { return links.sorted { $0.index < $1.index } }
            last = link.index
        }
        return links
    }

    private func report(
        on link: LinkState, _ addresses: [InterfaceAddress], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> LinkReport {
        let carrier = try inquiry.carrier(of: link, expensive: [])
        let text = addresses.map { $0.text }
        var failure: PathFailure?
        if try inquiry.egressUsability(of: link) == .usable {
            switch try ownPath(of: link, addresses, &inquiry) {
            case .success(let own):
                return LinkReport(
                    name: link.name, index: link.index, medium: carrier.medium, isOnline: true,
                    reason: ReachabilityReason(own.code, interface: link.name, sentence: own.sentence),
                    addresses: text, gateway: own.gateway, metric: own.metric, isWiFi: carrier.isWiFi)
            case .failure(let found): failure = found
            }
        }
        let reason =
            if let failure, failure.code == .tunnelWithoutUnderlay {
                ReachabilityReason(failure.code, interface: link.name, sentence: failure.conclusion)
            } else {
                try want(of: link, addresses, &inquiry)
            }
        return LinkReport(
            name: link.name, index: link.index, medium: carrier.medium, isOnline: false, reason: reason,
            addresses: text, isWiFi: carrier.isWiFi)
    }

    /// The link's own path to the first destination that it has one to.
    private func ownPath(
        of link: LinkState, _ addresses: [InterfaceAddress], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Result<FamilyPath, PathFailure> {
        var failure = PathFailure(.noRoute, link: link)
        for address in evaluator.surveyed {
            guard let source = try source(of: link, to: address, addresses, &inquiry) else { continue }
            guard let lookup = try lookup(address, link, by: source, &inquiry) else { continue }
            if try !inquiry.tellsEntry(lookup.entry) {
                guard let path = try chosenPath(of: link, to: address, &inquiry) else { continue }
                return .success(path)
            }
            // IPv4 has no entry for several destinations at once, and needs none (ip_route_output_key_hash_rcu()).
            let entry = try? inquiry.route(lookup.entry).get()
            guard let plain = try? inquiry.route(lookup).get(),
                entry?.kind == .unicast || plain.kind.isForSeveral, let source = plain.sender,
                !source.isLinkOnlySource(for: address, gateway: plain.gateway ?? entry?.gateway)
            else { continue }
            if case .tunnel = link.role,
                case .none = try evaluator.underlay(of: link, to: address, entry: entry, &inquiry)
            {
                failure = PathFailure(.tunnelWithoutUnderlay, link: link)
                continue
            }
            let path = FamilyPath(
                destination: address, link: link, source: source, gateway: plain.gateway ?? entry?.gateway,
                metric: entry?.metric, prefixLength: entry?.prefixLength, expires: nil)
            path.code = entry.map { $0.prefixLength <= 1 } == true ? .defaultRoute : .hostRoute
            return .success(path)
        }
        return .failure(failure)
    }

    /// The path where the kernel's own choice is this link: of the others an old kernel tells nothing.
    private func chosenPath(
        of link: LinkState, to address: IPAddress, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> FamilyPath? {
        guard let route = try? inquiry.route(evaluator.lookup(address)).get(), route.interface == link.index,
            let source = route.sender, !source.isLinkOnlySource(for: address, gateway: route.gateway)
        else {
            try inquiry.require(.route(evaluator.lookup(address)))
            return nil
        }
        let path = FamilyPath(
            destination: address, link: link, source: source, gateway: route.gateway, metric: nil,
            prefixLength: nil, expires: nil)
        if case .host = evaluator.target { path.code = .hostRoute }
        return path
    }

    /// The lookup that tells whether the link has a path to the address, with its entry; nil where it certainly has none.
    private func lookup(
        _ address: IPAddress, _ link: LinkState, by source: Source, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> RouteLookup? {
        // Where the kernel's own choice is this link, its answers serve: nothing needs to be asked again.
        var unbound = evaluator.lookup(address)
        if address.family == .ipv4 { unbound = try inquiry.sending(unbound) }
        if inquiry.known(unbound)?.interface == link.index,
            inquiry.known(unbound.entry)?.interface == link.index
        {
            try inquiry.require(.route(unbound.entry), .route(unbound))
            return unbound
        }
        let bound = evaluator.lookup(address, interface: link.index)
        if source == .own {
            try inquiry.require(.route(bound.entry), .route(bound))
        } else {
            // Most links without an address have no route either, and of these there may be hundreds: where none is found
            // without a source, only that counts which the kernel itself would take with one.
            if case .failure(let refusal) = try inquiry.route(bound.entry),
                refusal.errno != KernelRefusal.unsupported
            {
                let chosen = try inquiry.sending(evaluator.lookup(address))
                guard chosen.source != nil, case .success(let route) = try inquiry.route(chosen),
                    route.interface == link.index
                else {
                    return nil
                }
                try inquiry.require(.route(chosen.entry))
                return chosen
            }
            try inquiry.require(.route(bound))
        }
        let plain = try inquiry.sending(bound)
        try inquiry.require(.route(plain.entry), .route(plain))
        return plain
    }

    /// Whose address the kernel would send from.
    private enum Source {
        case own, another
    }

    /// Whose address the kernel could choose as the source for this link; nil where there is none.
    ///
    /// Its own come first, but any other interface's will do: inet_select_addr() (net/ipv4/devinet.c) and
    /// ipv6_dev_get_saddr() (net/ipv6/addrconf.c) go through all of them.
    private func source(
        of link: LinkState, to address: IPAddress, _ addresses: [InterfaceAddress], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Source? {
        func serves(_ own: InterfaceAddress) -> Bool {
            own.address.family == address.family && !own.address.isLoopback
                && (own.address.family == .ipv4 || !own.address.isLinkLocal || address.staysOnLink)
        }
        if addresses.contains(where: serves) { return .own }
        return try inquiry.addresses().contains(where: serves) ? .another : nil
    }
}
