// SPDX-License-Identifier: Apache-2.0

// What carries a tunnel: its interface stays up without anything that does, and would be taken for a way out.
extension PathEvaluator {
    /// What lies underneath a tunnel, as far as it can be told.
    package enum Underlay {
        /// This link has a path that carries it.
        case link(LinkState)
        /// It cannot be told from here, for this reason; `likely` is the link that it probably is.
        case untold(String, likely: LinkState?)
        /// Nothing carries it.
        case none
    }

    /// What carries `tunnel` to `destination`; `entry` is the route that leads there through the tunnel.
    ///
    /// Only for kernels that tell entries (RTM_F_FIB_MATCH).
    package func underlay(
        of tunnel: LinkState, to destination: IPAddress, entry: RouteAnswer?, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Underlay {
        if tunnel.lowerIsElsewhere {
            return .untold("its other side lies in another network namespace", likely: nil)
        }
        if tunnel.isTranslator, destination.family == .ipv4 {
            return try translation(through: tunnel, &inquiry)
        }
        // Nothing says more than the way to the other end.
        if let remote = tunnel.remote, let carrier = try carrier(of: tunnel, to: remote, &inquiry) {
            return carrier
        }
        for address in Self.outside(destination) {
            switch try ownWay(to: address, besides: tunnel, &inquiry) {
            case .usable(let link): return .link(link)
            case .dead: return .none
            case .refused, .none: continue
            }
        }
        let links = try inquiry.links()
        let outward = links.filter { link in
            if case .tunnel = link.role { return false }
            return link.isUnbridged && link.leadsOut(among: links)
        }
        guard !outward.isEmpty else {
            return .untold(
                "no other interface here leads out: another network namespace carries it", likely: nil)
        }
        let way = try exemptWay(to: destination, besides: tunnel, &inquiry)
        var isRefused = false
        switch way {
        case .usable(let link): return .link(link)
        case .dead: return .none
        case .refused: isRefused = true
        case .none: break
        }
        // Halves of the address space and longer prefixes lie beside a default route, and so does a table of the tunnel's own. A
        // default in the main table may have taken the place of what was there, and left the other end alone a route.
        let isReplacement = entry.map { $0.table == RouteAnswer.mainTable && $0.prefixLength == 0 } ?? false
        guard isRefused || isReplacement, let likely = try usableLink(among: outward, &inquiry) else {
            return .none
        }
        return .untold(
            "\(likely.name) is up and has an address, but no route that shows it", likely: likely)
    }

    /// What the way to a tunnel's other end comes to; nil where that says nothing.
    private func carrier(
        of tunnel: LinkState, to remote: IPAddress, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Underlay? {
        // The tunnel's own packets have neither the mark nor the user that is asked for.
        let unbound = RouteLookup(destination: remote, interface: tunnel.lower ?? 0)
        try inquiry.require(.route(unbound), .route(unbound.entry))
        let plain = try inquiry.sending(unbound)
        try inquiry.require(.route(plain), .route(plain.entry))
        if plain.interface == 0, case .failure(let refusal) = try inquiry.route(plain),
            PathFailure(refusal: refusal).code != .noRoute
        {
            // A kill switch, which the tunnel's own packets pass by their mark, most likely.
            return nil
        }
        guard case .success(let route) = try inquiry.route(plain),
            case .success(let entry) = try inquiry.route(plain.entry)
        else { return Underlay.none }
        guard route.kind == .unicast, entry.kind == .unicast, let index = route.interface,
            let link = try inquiry.link(index)
        else { return nil }
        // Through itself it goes round in circles; another tunnel has to be looked at like this one.
        if index == tunnel.index { return Underlay.none }
        if case .tunnel = link.role { return nil }
        guard route.sender != nil else { return Underlay.none }
        if try inquiry.egressUsability(of: link) == .usable { return .link(link) }
        return try usableLeg(of: entry, &inquiry).map { .link($0.link) } ?? Underlay.none
    }

    /// The first of the links that can carry packets and has an address to send them from.
    private func usableLink(
        among links: [LinkState], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> LinkState? {
        let addressed = Set(
            try inquiry.addresses().filter { $0.isUsable && !$0.address.isLinkLocal }.map(\.interface))
        for link in links where link.hasUsableState && addressed.contains(link.index) {
            if try inquiry.usability(of: link) == .usable { return link }
        }
        return nil
    }

    /// Finds out what carries the path, for tunnels the path underneath.
    package func underneath(
        _ path: FamilyPath, by lookup: RouteLookup, entry: RouteAnswer?, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Result<FamilyPath, PathFailure> {
        let expensive = configuration.expensiveInterfaces
        guard case .tunnel = path.link.role else {
            path.carrier = try inquiry.carrier(of: path.link, expensive: expensive)
            return .success(path)
        }
        let asked = "what carries \(path.link.name)"
        // Without the FIB entry IPv4 claims a path for every interface: better no check than a wrong one.
        let underlay =
            try inquiry.tellsEntry(lookup.entry)
            ? try underlay(of: path.link, to: path.destination, entry: entry, &inquiry)
            : .untold("not told by this kernel (Linux before 4.13)", likely: nil)
        switch underlay {
        case .none:
            let failure = PathFailure(.tunnelWithoutUnderlay, link: path.link)
            inquiry.note(
                EvaluationStep(
                    asked, "no path of another interface", failure.conclusion, code: failure.code))
            return .failure(failure)
        case .untold(let why, let likely):
            path.isTunnelUnchecked = true
            path.carrier = Carrier(medium: .tunnel)
            if let likely {
                path.carrier = try inquiry.carrier(of: likely, expensive: expensive).seen(as: .tunnel)
            }
            inquiry.note(EvaluationStep(asked, why, "\(path.link.name) counts as a path, unchecked"))
        case .link(let own):
            path.underlay = own
            path.carrier = try inquiry.carrier(of: own, expensive: expensive).seen(as: .tunnel)
            inquiry.note(EvaluationStep(asked, "a path of \(own.name)", "\(own.name) is the underlay"))
        }
        if expensive.contains(path.link.name) { path.carrier.isExpensive = true }
        return .success(path)
    }
}
