// SPDX-License-Identifier: Apache-2.0

/// Decides from the kernel's answers whether there is a path, which one, and if not, why.
///
/// Pure: the same snapshot gives the same path. What it does not know yet it asks for, so the kernel is asked
/// only what this decision needs.
package struct PathEvaluator: Sendable {
    /// What an evaluation comes to.
    package enum Evaluation: Sendable {
        /// These questions have to be answered first.
        case needs([KernelQuestion])
        /// The path; `expires` says how long it holds at most (IPv6 router lifetime).
        case path(ReachabilityPath, expires: Duration?)
    }

    /// Whether there is a path to what.
    package let target: ReachabilityTarget
    /// Mark, user, family, expensive interfaces.
    package let configuration: ReachabilityConfiguration
    /// The addresses asked for, whatever the target.
    package let destinations: [ReachabilityDestination]
    /// The addresses that each link is asked for on its own: of the sentinels one of each family is enough.
    package let surveyed: [IPAddress]
    /// Questions that every evaluation starts with: asked together they cost one system call.
    package let openingQuestions: [KernelQuestion]
    /// What the policy rules look at, as far as that is known.
    private var rules = PolicyRules()

    package init(target: ReachabilityTarget, configuration: ReachabilityConfiguration) {
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
        surveyed = addresses
        // The first destination of each family is wanted for certain, the entry only of a route that exists.
        var questions: [KernelQuestion] = []
        for family in IPAddress.Family.allCases where configuration.family ?? family == family {
            guard let first = destinations.first(where: { $0.zone == nil && $0.address.family == family })
            else {
                continue
            }
            questions.append(.route(configuration.lookup(first.address)))
            if questions.count == 1 {
                questions.append(.route(configuration.lookup(first.address, wantsEntry: true)))
            }
        }
        questions.append(.rules)
        openingQuestions = questions
    }

    /// The same where policy rules look at these things: its lookups name them.
    func considering(_ rules: PolicyRules) -> PathEvaluator {
        var evaluator = self
        evaluator.rules = rules
        return evaluator
    }

    /// The path that the answers in `snapshot` make.
    package func evaluate(_ snapshot: Snapshot) -> Evaluation {
        var inquiry = Inquiry(snapshot)
        return evaluate(&inquiry)
    }

    /// The path that the answers in `snapshot` make together with those that are remembered.
    ///
    /// What is taken from `memory` is in the snapshot afterwards.
    package func evaluate(_ snapshot: inout Snapshot, recalling memory: AnswerMemory) -> Evaluation {
        var inquiry = Inquiry(snapshot.take(), recalling: memory)
        defer { snapshot = inquiry.snapshot }
        return evaluate(&inquiry)
    }

    /// The steps that lead to the path, for people.
    package func explain(_ snapshot: Snapshot) -> [EvaluationStep] {
        var inquiry = Inquiry(snapshot, explains: true)
        _ = evaluate(&inquiry)
        return inquiry.steps ?? []
    }

    private func evaluate(_ inquiry: inout Inquiry) -> Evaluation {
        // While the rules are not known, most of what is asked is asked along with them.
        let rules = (try? inquiry.rules()) ?? PolicyRules()
        return rules.hasSelectors ? considering(rules).conclude(&inquiry) : conclude(&inquiry)
    }

    private func conclude(_ inquiry: inout Inquiry) -> Evaluation {
        var results: [FamilyResult] = []
        for family in IPAddress.Family.allCases where configuration.family ?? family == family {
            // Both families are tried even where one lacks answers: then both can ask at once.
            if let result = try? familyResult(family, &inquiry) { results.append(result) }
        }
        guard inquiry.missing.isEmpty else { return .needs(inquiry.missing) }
        guard let path = try? assemble(results, &inquiry) else { return .needs(inquiry.missing) }
        let expires = results.compactMap { $0.path?.expires }.min()
        return .path(path, expires: expires.map { .milliseconds(10 * Int64($0)) })
    }

    package func lookup(
        _ destination: IPAddress, interface: Int32 = 0, wantsEntry: Bool = false
    ) -> RouteLookup {
        var lookup = configuration.lookup(destination, interface: interface, wantsEntry: wantsEntry)
        if rules[destination.family].contains(.transport) { lookup.port = configuration.port }
        return lookup
    }

    // MARK: - One family

    private func familyResult(
        _ family: IPAddress.Family, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> FamilyResult {
        var best: PathFailure?
        var path: FamilyPath?
        // Whether an earlier destination has no route that leads anywhere.
        var lacksRoute = false
        var isPartial = false
        for destination in destinations where destination.address.family == family {
            if let path {
                // A further sentinel only tells whether the whole address space has a route; a default route has it.
                guard case .general = target, path.prefixLength != 0 else { break }
                let outcome = try route(to: destination, &inquiry)
                if case .success(let route) = outcome, route.kind == .unicast { continue }
                isPartial = true
                continue
            }
            switch try attempt(destination, &inquiry) {
            case .success(let found):
                path = found
                if case .general = target { isPartial = lacksRoute && found.prefixLength != 0 }
            case .failure(let failure):
                if failure.link == nil { lacksRoute = true }
                if failure.rank > best?.rank ?? -1 { best = failure }
            }
        }
        if let path {
            path.isPartial = isPartial || !path.deadLegs.isEmpty
            return FamilyResult(family: family, path: path, failure: nil)
        }
        return FamilyResult(family: family, path: nil, failure: best)
    }

    /// The plain lookup; a zone turns into an output interface.
    private func route(
        to destination: ReachabilityDestination, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Result<RouteAnswer, KernelRefusal> {
        let plain = lookup(destination.address, interface: try zoneIndex(destination, &inquiry))
        return try inquiry.route(try inquiry.sending(plain))
    }

    /// The interface index of a zone; 0 without one, −1 (which no route has) where the interface does not exist.
    ///
    /// A zone in figures is an index, unless an interface has it for a name (RFC 4007 §11.2, and as in getaddrinfo(3)).
    private func zoneIndex(
        _ destination: ReachabilityDestination, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Int32 {
        guard let zone = destination.zone else { return 0 }
        if let link = try inquiry.link(named: zone) { return link.index }
        guard let index = Int32(zone), index > 0 else { return -1 }
        return try inquiry.link(index)?.index ?? -1
    }

    private func attempt(
        _ destination: ReachabilityDestination, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Result<FamilyPath, PathFailure> {
        let zone = try zoneIndex(destination, &inquiry)
        if zone < 0 {
            return .failure(
                PathFailure(.noRoute, link: nil, detail: "interface \(destination.zone ?? "") does not exist")
            )
        }
        let plain = try inquiry.sending(lookup(destination.address, interface: zone))
        switch try inquiry.route(plain) {
        case .failure(let refusal):
            let failure = PathFailure(refusal: refusal)
            inquiry.note(
                EvaluationStep(
                    "route to \(destination.text)", refusal.text, failure.conclusion, code: failure.code))
            return .failure(failure)
        case .success(let route):
            // Asked together with the link, which is needed next.
            try inquiry.require(.route(plain.entry), route.interface.map { .link($0) })
            let entry = try? inquiry.route(plain.entry).get()
            var link: LinkState?
            if let index = route.interface { link = try inquiry.link(index) }
            let outcome = start(route, entry: entry, link, to: destination)
            let legs = (entry?.legs ?? route.legs).map(\.interface)
            let names = inquiry.isExplaining ? inquiry.names(of: legs + [route.interface ?? 0]) : [:]
            inquiry.note(step(destination, plain, route, entry, names, outcome))
            guard case .success(let path) = outcome, path.code != .local else { return outcome }
            return try follow(path, by: plain, entry: entry, &inquiry)
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

    /// What the route alone comes to: where it leads, or why it leads nowhere.
    private func start(
        _ route: RouteAnswer, entry: RouteAnswer?, _ link: LinkState?, to destination: ReachabilityDestination
    ) -> Result<FamilyPath, PathFailure> {
        if let refused = PathFailure(kind: route.kind, isHost: isHost) { return .failure(refused) }
        guard let link else { return .failure(PathFailure(.noRoute, link: nil)) }
        let path = FamilyPath(
            destination: destination.address, link: link, source: route.source, gateway: route.gateway,
            metric: entry?.metric, prefixLength: entry?.prefixLength, expires: entry?.expires)
        // An anycast address of the kernel's own table is one that this machine answers to.
        if route.kind == .local || route.kind == .anycast {
            path.code = .local
            return .success(path)
        }
        guard !link.isLoopback else { return .failure(PathFailure(.noRoute, link: nil)) }
        guard let source = route.sender else { return .failure(PathFailure(.noAddress, link: link)) }
        if source.isLinkOnlySource(for: destination.address, gateway: route.gateway) {
            return .failure(PathFailure(.linkLocalOnly, link: link))
        }
        // To anywhere, an untold prefix counts as a default route: the sentinels have no routes of their own.
        let longest = isHost ? 0 : 1
        path.code = path.prefixLength ?? (isHost ? .max : 0) <= longest ? .defaultRoute : .hostRoute
        return .success(path)
    }

    /// Goes from a route to the link it leaves through, and checks everything on the way.
    private func follow(
        _ start: FamilyPath, by lookup: RouteLookup, entry: RouteAnswer?, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Result<FamilyPath, PathFailure> {
        let path = start
        let link = path.link
        let legs = try taken(of: entry, by: lookup, &inquiry)
        let usability = try inquiry.egressUsability(of: link)
        let isDecided = usability != .usable && legs.isEmpty
        let cause = isDecided ? try inquiry.cause(of: usability, of: link) : usability
        inquiry.note(
            EvaluationStep(
                "link \(link.name)", link.stateText, cause.sentence(link.name),
                code: isDecided ? usability.code : nil))
        let state = try state(of: legs, &inquiry)
        path.deadLegs = state.dead.map { $0.usability.sentence($0.link.name) }
        if usability != .usable || !legs.isEmpty && !legs.contains(where: { $0.interface == link.index }) {
            guard let leg = state.usable else {
                // With the source the kernel may take another leg than without.
                let blamed = usability == .usable ? state.dead.first : nil
                let (culprit, fault) = blamed ?? (link, cause)
                return .failure(PathFailure(fault.code, link: culprit, usability: fault))
            }
            path.link = leg.link
            path.gateway = leg.gateway
            var own = lookup
            own.interface = leg.link.index
            path.source = (try? inquiry.route(own).get())?.sender ?? start.source
            try inquiry.require(.route(own))
        }
        return try underneath(path, by: lookup, entry: entry, &inquiry)
    }

    var isHost: Bool {
        if case .host = target { true } else { false }
    }
}

extension ReachabilityConfiguration {
    /// The lookup of a destination for the traffic that is configured.
    fileprivate func lookup(
        _ destination: IPAddress, interface: Int32 = 0, wantsEntry: Bool = false
    ) -> RouteLookup {
        RouteLookup(
            destination: destination, interface: interface, wantsEntry: wantsEntry, mark: mark, user: user)
    }
}
