// SPDX-License-Identifier: Apache-2.0

/// Looks at every interface for itself: whether it is online, and if not, the first thing it lacks.
package struct LinkSurvey: Sendable {
    private let evaluator: PathEvaluator

    package init(evaluator: PathEvaluator) { self.evaluator = evaluator }

    /// What a survey comes to.
    package enum Outcome: Sendable {
        case needs([KernelQuestion])
        case reports([LinkReport])
    }

    /// The reports on all interfaces but loopback, in the order of their indexes.
    package func survey(_ snapshot: Snapshot) -> Outcome {
        var inquiry = Inquiry(snapshot)
        var reports: [LinkReport] = []
        guard (try? inquiry.require([.links, .addresses])) != nil, let links = try? inquiry.links() else {
            return .needs(inquiry.missing)
        }
        let all = (try? inquiry.addresses()) ?? []
        // Few are found sooner by walking than by hashing.
        let grouped = all.count > 32 ? Dictionary(grouping: all, by: \.interface) : [:]
        func addresses(of index: Int32) -> [InterfaceAddress] {
            all.count > 32 ? grouped[index] ?? [] : all.filter { $0.interface == index }
        }
        for link in links.sorted(by: { $0.index < $1.index }) where !link.isLoopback {
            // All links are visited even where answers are missing: then all can ask at once.
            if let report = try? report(on: link, addresses(of: link.index), &inquiry) {
                reports.append(report)
            }
        }
        return inquiry.missing.isEmpty ? .reports(reports) : .needs(inquiry.missing)
    }

    private func report(
        on link: LinkState, _ addresses: [InterfaceAddress], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> LinkReport {
        let medium = try inquiry.carrier(of: link, expensive: []).medium
        var report = LinkReport(
            name: link.name, index: link.index, medium: medium, isOnline: false,
            reason: ReachabilityReason(.noRoute, interface: link.name, sentence: ""),
            addresses: addresses.map(\.text))
        if try inquiry.usability(of: link) == .usable, link.master == nil,
            let own = try ownPath(of: link, addresses, &inquiry)
        {
            report.isOnline = true
            report.gateway = own.gateway
            report.metric = own.metric
            report.reason = ReachabilityReason(own.code, interface: link.name, sentence: own.sentence)
        } else {
            report.reason = try want(of: link, addresses, &inquiry)
        }
        return report
    }

    /// The link's own path to the first destination that it has one to.
    private func ownPath(
        of link: LinkState, _ addresses: [InterfaceAddress], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> FamilyPath? {
        for address in evaluator.surveyed where try canSend(link, to: address, addresses, &inquiry) {
            let (entryLookup, plainLookup) = lookups(address, link, inquiry)
            try inquiry.require([.route(entryLookup), .route(plainLookup)])
            guard let entry = try? inquiry.route(entryLookup).get(), entry.kind == .unicast,
                let plain = try? inquiry.route(plainLookup).get(),
                let source = plain.source, !source.isLinkLocal || address.isLinkLocal
            else { continue }
            var path = FamilyPath(
                destination: address, link: link, source: source, gateway: plain.gateway ?? entry.gateway,
                metric: entry.metric, prefixLength: entry.prefixLength, expires: nil)
            path.code = entry.prefixLength <= 1 ? .defaultRoute : .hostRoute
            return path
        }
        return nil
    }

    /// Where the kernel's own choice is this link, its answers serve: nothing needs to be asked again.
    private func lookups(
        _ address: IPAddress, _ link: LinkState, _ inquiry: borrowing Inquiry
    ) -> (entry: RouteLookup, plain: RouteLookup) {
        let (entry, plain) = (evaluator.lookup(address, wantsEntry: true), evaluator.lookup(address))
        if inquiry.known(plain)?.interface == link.index, inquiry.known(entry)?.interface == link.index {
            return (entry, plain)
        }
        return (
            evaluator.lookup(address, interface: link.index, wantsEntry: true),
            evaluator.lookup(address, interface: link.index)
        )
    }

    /// Whether the kernel could choose a source for this link: its own address, or one of loopback's.
    private func canSend(
        _ link: LinkState, to address: IPAddress, _ addresses: [InterfaceAddress], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Bool {
        func serves(_ own: InterfaceAddress) -> Bool {
            own.address.family == address.family && !own.address.isLoopback
                && (!own.address.isLinkLocal || address.isLinkLocal)
        }
        if addresses.contains(where: serves) { return true }
        return try inquiry.addresses().contains { $0.interface == Self.loopback && serves($0) }
    }

    // The loopback interface is the first that a network namespace gets (net/core/net_namespace.c).
    private static let loopback: Int32 = 1

    /// The first thing that a link without a path lacks; `all` are its addresses.
    package func want(
        of link: LinkState, _ all: [InterfaceAddress], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> ReachabilityReason {
        func because(_ code: ReachabilityReason.Code, _ sentence: String) -> ReachabilityReason {
            ReachabilityReason(code, interface: link.name, sentence: sentence)
        }
        let name = link.name
        let usability = try inquiry.usability(of: link)
        guard usability == .usable else { return because(usability.code, usability.sentence(name)) }
        if let master = link.master {
            let masterName = try inquiry.links().first { $0.index == master }?.name ?? "another link"
            return because(.noRoute, "\(name) has carrier and is a port of \(masterName)")
        }
        let good = all.filter { $0.isUsable && !$0.address.isLinkLocal }
        for own in good {
            // The kernel's own choice is what tells: bound to the link, an IPv4 lookup is answered with EHOSTUNREACH
            // whether a route refuses or there is none (ip_route_output_key_hash_rcu(), net/ipv4/route.c).
            let family = own.address.family
            guard evaluator.configuration.family ?? family == family,
                let first = evaluator.destinations.first(where: {
                    $0.zone == nil && $0.address.family == family
                }),
                case .failure(let refusal) = try inquiry.route(evaluator.lookup(first.address))
            else { continue }
            let failure = PathFailure(refusal: refusal)
            guard failure.code == .noRoute else {
                return because(failure.code, "\(name) has carrier and \(own.text) but \(failure.conclusion)")
            }
        }
        if let address = good.first {
            let wanted =
                switch evaluator.target {
                case .general: "no default route"
                case .host(let hosts): "no route to \(hosts.first?.text ?? "the host")"
                }
            return because(.noRoute, "\(name) has carrier and \(address.text) but \(wanted)")
        }
        if let duplicate = all.first(where: { $0.flags.contains(.duplicate) }) {
            return because(.noAddress, "\(name): \(duplicate.text) is also used by somebody else on the link")
        }
        if let tentative = all.first(where: { !$0.isUsable && !$0.address.isLinkLocal }) {
            return because(.noAddress, "\(name): \(tentative.text) is still being checked for duplicates")
        }
        if let local = all.first(where: { $0.address.isLinkLocal && $0.address.family == .ipv4 }) {
            return because(
                .linkLocalOnly, "\(name) has carrier but only the link-local address \(local.text)")
        }
        return because(.noAddress, "\(name) has carrier but no address")
    }

    /// Of all links the one a person would look at first: nearest to being of use, hardware before virtual.
    package func nearestUplink(_ inquiry: inout Inquiry) throws(Inquiry.Incomplete) -> LinkState? {
        let links = try inquiry.links()
        let candidates = links.filter { !$0.isLoopback && $0.master == nil }
        let hardware = candidates.filter { link in
            switch link.role {
            case .device, .stacked: return true
            case .aggregate: return links.contains { $0.master == link.index && $0.kind == nil }
            case .standalone(let medium): return medium != .virtual
            case .tunnel: return false
            }
        }
        let addressed = Set(
            try inquiry.addresses().filter { $0.isUsable && !$0.address.isLinkLocal }.map(\.interface))
        func progress(_ link: LinkState) -> Int {
            if link.hasUsableState { return addressed.contains(link.index) ? 4 : 3 }
            if link.flags.contains(.lowerUp) { return 2 }
            return link.flags.contains(.up) ? 1 : 0
        }
        var best: LinkState?
        for link in hardware.isEmpty ? candidates : hardware
        where best.map({ progress(link) > progress($0) }) ?? true {
            best = link
        }
        return best
    }
}
