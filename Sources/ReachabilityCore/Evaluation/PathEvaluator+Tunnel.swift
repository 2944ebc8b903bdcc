// SPDX-License-Identifier: Apache-2.0

// The underlay of a tunnel: a tunnel's interface stays up without one, and would count as a path.
extension PathEvaluator {
    /// The underlay of a tunnel.
    package enum Underlay {
        /// This link has a path that carries the tunnel.
        case link(LinkState)
        /// It cannot be determined, for this reason; `likely` is the probable link.
        case unknown(String, likely: LinkState?)
        /// No link carries the tunnel.
        case none
    }

    /// The underlay of `tunnel` for `destination`; `entry` is the route into the tunnel (RTM_F_FIB_MATCH).
    package func underlay(
        of tunnel: LinkState, to destination: IPAddress, entry: RouteAnswer?,
        _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Underlay {
        if tunnel.lowerIsElsewhere {
            return .unknown("its other side lies in another network namespace", likely: nil)
        }
        if tunnel.isTranslator, destination.family == .ipv4 {
            return try translation(through: tunnel, &context)
        }
        // The route to the remote address is the strongest evidence.
        if let remote = tunnel.remote, let underlay = try underlay(of: tunnel, toRemote: remote, &context) {
            return underlay
        }
        for address in Self.outside(destination) {
            switch try outerRoute(to: address, besides: tunnel, &context) {
            case .usable(let link): return .link(link)
            case .dead: return .none
            case .refused, .absent: continue
            }
        }
        let links = try context.links()
        let outward = links.filter { link in
            if case .tunnel = link.role { return false }
            return link.isUnbridged && link.leadsOut(among: links)
        }
        guard !outward.isEmpty else {
            return .unknown(
                "no other interface here leads out: another network namespace carries it", likely: nil)
        }
        var isRefused = false
        switch try exemptRoute(to: destination, &context) {
        case .usable(let link): return .link(link)
        case .dead: return .none
        case .refused: isRefused = true
        case .absent: break
        case nil: if let hidden = try hiddenUnderlay(destination, outward, &context) { return hidden }
        }
        // Only a default route in the main table may have replaced the one underneath, with a route left for
        // the remote address alone.
        let isReplacement = entry.map { $0.table == RouteAnswer.mainTable && $0.prefixLength == 0 } ?? false
        guard isRefused || isReplacement, let likely = try usableLink(among: outward, &context) else {
            return .none
        }
        return Self.unproven(likely)
    }

    private static func unproven(_ likely: LinkState) -> Underlay {
        .unknown("\(likely.name) is up and has an address, but no route that shows it", likely: likely)
    }

    /// The underlay of a tunnel that takes everything; nil unless another route may be hidden behind it.
    ///
    /// A lookup bound to a link does not tell a refusal from a missing route: IPv4 answers EHOSTUNREACH and
    /// IPv6 ENETUNREACH in both cases (inet_rtm_getroute(), net/ipv4/route.c). What tells is a plain lookup:
    /// ENETUNREACH for an address in general use means that nothing leads out beside the tunnel.
    private func hiddenUnderlay(
        _ destination: IPAddress, _ outward: [LinkState], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Underlay? {
        var hidden: [IPAddress.Family] = []
        for family in Self.outside(destination).map(\.family)
        where try hidesRoutes(family, &context) { hidden.append(family) }
        let addresses = try context.addresses().filter { $0.isUsable && !$0.address.isLinkLocal }
        let addressed = outward.filter { link in addresses.contains { $0.interface == link.index } }
        // A dead link with an address is the more probable underlay, also beside a LAN port that is up.
        guard addressed.allSatisfy(\.hasUsableState) else { return nil }
        let candidates = addressed.filter { link in
            addresses.contains { $0.interface == link.index && hidden.contains($0.address.family) }
        }
        return try usableLink(among: candidates, &context).map(Self.unproven)
    }

    /// Whether every plain lookup of a family leads into a tunnel or is refused.
    private func hidesRoutes(
        _ family: IPAddress.Family, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Bool {
        let lookups = ReachabilityConfiguration.defaultSentinels.filter { $0.family == family }
            .map { lookup($0) }
        try context.require(lookups.map { .route($0) })
        for lookup in lookups {
            switch try context.route(lookup) {
            case .failure(let refusal): if PathFailure.code(of: refusal) == .noRoute { return false }
            case .success(let route):
                guard let index = route.interface, try context.link(index)?.role == .tunnel else {
                    return false
                }
            }
        }
        return true
    }

    /// The underlay according to the route to the remote address; nil if that is inconclusive.
    private func underlay(
        of tunnel: LinkState, toRemote remote: IPAddress, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Underlay? {
        // The tunnel's own packets do not have the configured mark and user.
        let unbound = RouteLookup(destination: remote, interface: tunnel.lower ?? 0)
        try context.require(.route(unbound), .route(unbound.entry))
        let plain = try context.resolvingSource(unbound)
        try context.require(.route(plain), .route(plain.entry))
        if plain.interface == 0, case .failure(let refusal) = try context.route(plain),
            PathFailure.code(of: refusal) != .noRoute
        {
            // Probably a kill switch, which the tunnel's own packets pass by their mark.
            return nil
        }
        guard case .success(let route) = try context.route(plain),
            case .success(let entry) = try context.route(plain.entry)
        else { return Underlay.none }
        guard route.kind == .unicast, entry.kind == .unicast, let index = route.interface,
            let link = try context.link(index)
        else { return nil }
        // A route into the tunnel itself is a loop; another tunnel needs an underlay as well.
        if index == tunnel.index { return Underlay.none }
        if case .tunnel = link.role { return nil }
        guard route.sender != nil else { return Underlay.none }
        if try context.egressUsability(of: link) == .usable { return .link(link) }
        return try usableLeg(of: entry, &context).map { .link($0.link) } ?? Underlay.none
    }

    /// The first usable link with an address to send from.
    private func usableLink(
        among links: [LinkState], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> LinkState? {
        let addressed = Set(
            try context.addresses().filter { $0.isUsable && !$0.address.isLinkLocal }.map(\.interface))
        for link in links where link.hasUsableState && addressed.contains(link.index) {
            if try context.usability(of: link) == .usable { return link }
        }
        return nil
    }

    /// Determines the physical medium of the path, and the underlay of a tunnel.
    package func resolvingUnderlay(
        _ path: FamilyPath, by lookup: RouteLookup, entry: RouteAnswer?, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Result<FamilyPath, PathFailure> {
        guard case .tunnel = path.link.role else {
            path.physicalMedium = try context.physicalMedium(of: path.link, costs: costs)
            return .success(path)
        }
        let asked = "what carries \(path.link.name)"
        // Without the FIB entry IPv4 claims a path for every interface, so the check would be wrong.
        let underlay =
            try context.returnsEntry(lookup.entry)
            ? try underlay(of: path.link, to: path.destination, entry: entry, &context)
            : .unknown("not told by this kernel (Linux before 4.13)", likely: nil)
        switch underlay {
        case .none:
            let failure = PathFailure(.tunnelWithoutUnderlay, link: path.link)
            context.record(
                EvaluationStep(asked, "no path of another interface", failure.conclusion, code: failure.code))
            return .failure(failure)
        case .unknown(let why, let likely):
            path.isTunnelUnchecked = true
            path.physicalMedium = PhysicalMedium(medium: .tunnel)
            if let likely {
                path.physicalMedium = try context.physicalMedium(of: likely, costs: costs).stacked(
                    as: .tunnel)
            }
            context.record(EvaluationStep(asked, why, "\(path.link.name) counts as a path, unchecked"))
        case .link(let own):
            path.underlay = own
            path.physicalMedium = try context.physicalMedium(of: own, costs: costs).stacked(
                as: .tunnel)
            context.record(EvaluationStep(asked, "a path of \(own.name)", "\(own.name) is the underlay"))
        }
        path.physicalMedium.cost = costs.cost(
            of: path.link.name, index: path.link.index, kind: path.physicalMedium.cost)
        return .success(path)
    }
}

// 464XLAT (RFC 6877): a translator sends the IPv4 packets of a device as IPv6 to the network's NAT64.
extension PathEvaluator {
    /// The underlay of a translator's device: the IPv6 path.
    func translation(
        through translator: LinkState, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Underlay {
        let sentinels = configuration.sentinels + ReachabilityConfiguration.defaultSentinels
        guard let far = sentinels.first(where: { $0.family == .ipv6 }) else { return .none }
        // The translator's own packets do not have the configured mark and user.
        let unbound = RouteLookup(destination: far)
        try context.require(.route(unbound), .route(unbound.entry))
        let plain = try context.resolvingSource(unbound)
        try context.require(.route(plain), .route(plain.entry))
        guard case .success(let route) = try context.route(plain), route.kind == .unicast,
            let source = route.sender, !source.isLinkLocal, let index = route.interface,
            index != translator.index, let link = try context.link(index)
        else { return .none }
        if case .tunnel = link.role {
            return .unknown("its packets go on through \(link.name), a tunnel as well", likely: nil)
        }
        if try context.usability(of: link) == .usable { return .link(link) }
        let entry = try? context.route(plain.entry).get()
        return try usableLeg(of: entry, &context).map { .link($0.link) } ?? .none
    }
}

extension LinkState {
    /// Whether it is the device of a 464XLAT translator, by its usual names: `clat` (clatd, jool, tayga),
    /// `v4-wlan0` (Android), `464-wan6` (OpenWrt).
    var isTranslator: Bool {
        guard case .tunnel = role else { return false }
        return name.hasPrefix("clat") && name.dropFirst(4).utf8.allSatisfy { (48...57).contains($0) }
            || name.hasPrefix("v4-") || name.hasPrefix("464-")
    }
}
