// SPDX-License-Identifier: Apache-2.0

/// Decides from the kernel's answers whether there is a path, which one, and if not, why.
///
/// Pure: the same snapshot gives the same path. Only the answers that this decision needs are requested.
package struct PathEvaluator: Sendable {
    /// The result of an evaluation.
    package enum Evaluation: Sendable {
        /// These questions have to be answered first.
        case needs([KernelQuestion])
        /// The path; `expires` says how long it holds at most (IPv6 router lifetime).
        case path(ReachabilityPath, expires: Duration?)
    }

    package var target: ReachabilityTarget { fixed.target }
    /// Mark, user, family, expensive interfaces.
    package var configuration: ReachabilityConfiguration { fixed.configuration }
    /// What traffic costs, hints included.
    package var costs: MeteredRules
    package var destinations: [ReachabilityDestination] { fixed.destinations }
    /// The addresses to look up through each link: one sentinel of each family, or all addresses of a host.
    package var probedAddresses: [IPAddress] { fixed.probedAddresses }
    /// The first questions of every evaluation; asked together they cost one system call.
    package var openingQuestions: [KernelQuestion] { fixed.openingQuestions }
    /// The selectors of the policy rules, once known.
    private var rules = PolicyRules()
    // Boxed because each evaluation copies the evaluator.
    private let fixed: Fixed

    package init(target: ReachabilityTarget, configuration: ReachabilityConfiguration) {
        fixed = Fixed(target: target, configuration: configuration)
        costs = MeteredRules(configuration)
    }

    /// What the same evaluator keeps for good.
    private final class Fixed: Sendable {
        let target: ReachabilityTarget
        let configuration: ReachabilityConfiguration
        let destinations: [ReachabilityDestination]
        let probedAddresses: [IPAddress]
        let openingQuestions: [KernelQuestion]

        init(target: ReachabilityTarget, configuration: ReachabilityConfiguration) {
            self.target = target
            self.configuration = configuration
            var addresses: [IPAddress]
            switch target {
            case .general(let sentinels):
                destinations = sentinels.map { ReachabilityDestination($0) }
                addresses = IPAddress.Family.allCases.compactMap { family in
                    sentinels.first { $0.family == family }
                }
            case .host(let hosts):
                destinations = hosts
                addresses = hosts.map(\.address)
            }
            addresses.removeAll { configuration.family ?? $0.family != $0.family }
            probedAddresses = addresses
            // The first destination of each family is always needed, the entry only if the route exists.
            var questions: [KernelQuestion] = []
            for family in IPAddress.Family.allCases where configuration.family ?? family == family {
                guard let first = destinations.first(where: { $0.zone == nil && $0.address.family == family })
                else { continue }
                questions.append(.route(configuration.lookup(first.address)))
                if questions.count == 1 {
                    questions.append(.route(configuration.lookup(first.address, wantsEntry: true)))
                }
            }
            questions.append(.rules)
            openingQuestions = configuration.requirement == nil ? questions : [.links, .addresses, .rules]
        }
    }

    /// The same evaluator with lookups that name the selectors of these rules.
    func applying(_ rules: PolicyRules) -> PathEvaluator {
        var evaluator = self
        evaluator.rules = rules
        return evaluator
    }

    /// The path according to the answers in `snapshot`.
    package func evaluate(_ snapshot: Snapshot) -> Evaluation {
        var context = EvaluationContext(snapshot)
        return evaluate(&context)
    }

    /// The same with cached answers, and those of `asking`; what was used is in the snapshot afterwards.
    package func evaluate(
        _ snapshot: inout Snapshot, cache: KernelCache, asking: EvaluationContext.Asking? = nil
    ) -> Evaluation {
        var context = EvaluationContext(snapshot.moveOut(), cache: cache, asking: asking)
        defer { snapshot = context.snapshot }
        return evaluate(&context)
    }

    /// The steps that lead to the path, for people.
    package func explain(_ snapshot: Snapshot) -> [EvaluationStep] {
        var context = EvaluationContext(snapshot, explains: true)
        _ = evaluate(&context)
        return context.steps ?? []
    }

    private func evaluate(_ context: inout EvaluationContext) -> Evaluation {
        // Continues while the rules are missing, so that other questions are requested along with them.
        let rules = (try? context.rules()) ?? PolicyRules()
        return rules.hasSelectors ? applying(rules).conclude(&context) : conclude(&context)
    }

    private func conclude(_ context: inout EvaluationContext) -> Evaluation {
        if let requirement = configuration.requirement {
            guard let (path, expires) = try? requiredPath(requirement, &context) else {
                return .needs(context.missing)
            }
            return .path(path, expires: expires.map { .milliseconds(10 * Int64($0)) })
        }
        var results: [FamilyResult] = []
        for family in IPAddress.Family.allCases where configuration.family ?? family == family {
            // Evaluates both families even if answers are missing, so that all are requested together.
            if let result = try? familyResult(family, &context) { results.append(result) }
        }
        guard context.missing.isEmpty else { return .needs(context.missing) }
        guard let path = try? assemble(results, &context) else { return .needs(context.missing) }
        let expires = results.compactMap { $0.path?.expires }.min()
        return .path(path, expires: expires.map { .milliseconds(10 * Int64($0)) })
    }

    package func lookup(
        _ destination: IPAddress, interface: Int32 = 0, wantsEntry: Bool = false
    ) -> RouteLookup {
        var lookup = configuration.lookup(destination, interface: interface, wantsEntry: wantsEntry)
        if selects(destination.family, by: .transport) { lookup.port = configuration.port }
        return lookup
    }

    func selects(_ family: IPAddress.Family, by selector: PolicyRules.Selectors) -> Bool {
        rules[family].contains(selector)
    }

    // MARK: - One family

    private func familyResult(
        _ family: IPAddress.Family, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> FamilyResult {
        var best: PathFailure?
        var path: FamilyPath?
        // Whether an earlier destination has no route.
        var lacksRoute = false
        var isPartial = false
        for position in destinations.indices where destinations[position].address.family == family {
            let destination = destinations[position]
            if let path {
                // A further sentinel shows whether the whole space has a route; a default route covers it.
                guard case .general = target, path.prefixLength != 0 else { break }
                let outcome = try route(to: destination, &context)
                if case .success(let route) = outcome, route.kind == .unicast { continue }
                isPartial = true
                continue
            }
            // Where an earlier one has a route, and its link is dead, this one most likely has a route too.
            switch try attempt(destination, wantsEntry: best?.link != nil, &context) {
            case .success(let found):
                path = found
                if case .general = target { isPartial = lacksRoute && found.prefixLength != 0 }
            case .failure(let failure):
                if failure.link == nil { lacksRoute = true }
                if failure.rank > best?.rank ?? -1 { best = failure }
            }
        }
        path?.isPartial = isPartial || path?.deadLegs.isEmpty == false
        return FamilyResult(family: family, path: path, failure: path == nil ? best : nil)
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
    private func attempt(
        _ destination: ReachabilityDestination, wantsEntry: Bool, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Result<FamilyPath, PathFailure> {
        let zone = try zoneIndex(destination, &context)
        if zone < 0 {
            return .failure(
                PathFailure(.noRoute, link: nil, detail: "interface \(destination.zone ?? "") does not exist")
            )
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

    var isHost: Bool { if case .host = target { true } else { false } }
}

extension ReachabilityConfiguration {
    /// The lookup of a destination for the configured traffic.
    fileprivate func lookup(
        _ destination: IPAddress, interface: Int32 = 0, wantsEntry: Bool = false
    ) -> RouteLookup {
        RouteLookup(
            destination: destination, interface: interface, wantsEntry: wantsEntry, mark: mark, user: user)
    }
}
