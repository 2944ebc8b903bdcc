// SPDX-License-Identifier: Apache-2.0

// The path to one destination: its route, the link that the route leads through, and what that lies on.
extension PathEvaluator {
    /// Whether a destination has a route through a link that carries it; `known` is one that does.
    func leadsOut(
        _ destination: ReachabilityDestination, besides known: LinkState, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Bool {
        guard case .success(let route) = try route(to: destination, &context), route.kind == .unicast
        else { return false }
        guard let index = route.interface, index != known.index, let link = try context.link(index)
        else { return true }
        return try context.egressUsability(of: link) == .usable
    }

    /// The route with the zone as output interface.
    private func route(
        to destination: ReachabilityDestination, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Result<RouteAnswer, KernelErrno> {
        let plain = lookup(destination.address, interface: try zoneIndex(destination, &context))
        return try context.route(try context.resolvingSource(plain))
    }

    /// The interface index of a zone; 0 without a zone, −1 (which no route has) without the interface.
    ///
    /// A number is an index unless an interface has that name (RFC 4007 §11.2, as in getaddrinfo(3)).
    private func zoneIndex(
        _ destination: ReachabilityDestination, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Int32 {
        guard let zone = destination.zone else { return 0 }
        if let link = try context.link(named: zone) { return link.index }
        guard let index = Int32(zone), index > 0 else { return -1 }
        return try context.link(index)?.index ?? -1
    }

    /// - Parameter wantsEntry: Whether the entry is asked for along with the route.
    func attempt(
        _ destination: ReachabilityDestination, wantsEntry: Bool, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Result<FamilyPath, PathFailure> {
        let zone = try zoneIndex(destination, &context)
        if zone < 0 {
            return .failure(
                PathFailure(.noRoute, link: nil, detail: "interface \(destination.zone ?? "") does not exist")
            )
        }
        // connect(2) refuses it with EINVAL, whatever the table of routes says (ipv6(7)).
        if zone == 0, destination.address.family == .ipv6, destination.address.isLinkLocal {
            let address = destination.address
            let detail = "\(address) is a link-local address: name its interface, as in \(address)%eth0"
            return .failure(PathFailure(.noRoute, link: nil, detail: detail))
        }
        let direct = lookup(destination.address, interface: zone)
        if wantsEntry { try context.require(.route(direct), .route(direct.entry)) }
        let plain = try context.resolvingSource(direct)
        switch try context.route(plain) {
        case .failure(let refusal):
            let failure = PathFailure(refusal: refusal)
            context.record(
                EvaluationStep(
                    "route to \(destination.text)", refusal.text, failure.conclusion, code: failure.code))
            return .failure(failure)
        case .success(let route):
            // Requested together with the link, which is needed next.
            try context.require(.route(plain.entry), route.interface.map { .link($0) })
            let entry = try? context.route(plain.entry).get()
            var link: LinkState?
            if let index = route.interface { link = try context.link(index) }
            let outcome = start(route, entry: entry, link, to: destination)
            let legs = (entry?.legs ?? route.legs).map(\.interface)
            let names = context.isExplaining ? context.names(of: legs + [route.interface ?? 0]) : [:]
            context.record(step(destination, plain, route, entry, names, outcome))
            guard case .success(let path) = outcome, path.code != .local else { return outcome }
            return try follow(path, by: plain, entry: entry, &context)
        }
    }

    private func step(
        _ destination: ReachabilityDestination, _ lookup: RouteLookup, _ route: RouteAnswer,
        _ entry: RouteAnswer?, _ names: [Int32: String], _ result: Result<FamilyPath, PathFailure>
    ) -> EvaluationStep {
        let asked =
            "route to \(destination.text)" + (lookup.port == 0 ? "" : " tcp \(lookup.port)")
            + (lookup.source.map { " from \($0)" } ?? "")
        let answer = route.text(entry: entry, names: names)
        switch result {
        case .success(let path) where path.code == .local:
            return EvaluationStep(asked, answer, "it is this machine", code: path.code)
        case .success(let path):
            return EvaluationStep(asked, answer, "it leads to \(path.link.name)")
        case .failure(let failure):
            return EvaluationStep(asked, answer, failure.conclusion, code: failure.code)
        }
    }

    /// The result of the route alone: its link, or the reason why it leads nowhere.
    private func start(
        _ route: RouteAnswer, entry: RouteAnswer?, _ link: LinkState?, to destination: ReachabilityDestination
    ) -> Result<FamilyPath, PathFailure> {
        if let refused = PathFailure(kind: route.kind, isHost: isHost) { return .failure(refused) }
        guard let link else { return .failure(PathFailure(.noRoute, link: nil)) }
        let path = FamilyPath(
            destination: destination.address, link: link, source: route.source, gateway: route.gateway,
            metric: entry?.metric, prefixLength: entry?.prefixLength, expires: entry?.expires)
        // This machine answers to the anycast addresses in the kernel's table.
        if route.kind == .local || route.kind == .anycast {
            // The kernel keeps these routes while the loopback link, which carries them, is switched off.
            if link.isLoopback, !link.flags.contains(.up) {
                return .failure(
                    PathFailure(LinkUsability.switchedOff.code, link: link, usability: .switchedOff))
            }
            path.code = .local
            return .success(path)
        }
        guard !link.isLoopback else { return .failure(PathFailure(.noRoute, link: nil)) }
        guard let source = route.sender else { return .failure(PathFailure(.noAddress, link: link)) }
        if source.isLinkOnlySource(for: destination.address, gateway: route.gateway) {
            return .failure(PathFailure(.linkLocalOnly, link: link))
        }
        // Sentinels have no routes of their own: an unknown prefix counts as a default route there.
        let longest = isHost ? 0 : 1
        path.code = path.prefixLength ?? (isHost ? .max : 0) <= longest ? .defaultRoute : .hostRoute
        return .success(path)
    }

    /// Checks everything from the route to the physical medium.
    private func follow(
        _ start: FamilyPath, by lookup: RouteLookup, entry: RouteAnswer?, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Result<FamilyPath, PathFailure> {
        let path = start
        let link = path.link
        let legs = try legsInUse(of: entry, by: lookup, &context)
        let usability = try context.egressUsability(of: link)
        let isDecided = usability != .usable && legs.isEmpty
        let cause = isDecided ? try context.cause(of: usability, of: link) : usability
        context.record(
            EvaluationStep(
                "link \(link.name)", link.stateText, cause.sentence(link.name),
                code: isDecided ? usability.code : nil))
        let state = try state(of: legs, &context)
        path.deadLegs = state.dead.map { $0.usability.sentence($0.link.name) }
        if usability != .usable || !legs.isEmpty && !legs.contains(where: { $0.interface == link.index }) {
            guard let leg = state.usable else {
                // With the source the kernel may select another leg than without.
                let blamed = usability == .usable ? state.dead.first : nil
                let (culprit, fault) = blamed ?? (link, cause)
                let code = (blamed?.usability ?? usability).code
                return .failure(PathFailure(code, link: culprit, usability: fault))
            }
            path.link = leg.link
            path.gateway = leg.gateway
            var own = lookup
            own.interface = leg.link.index
            path.source = (try? context.route(own).get())?.sender ?? start.source
            try context.require(.route(own))
        }
        return try resolvingUnderlay(path, by: lookup, entry: entry, &context)
    }
}
