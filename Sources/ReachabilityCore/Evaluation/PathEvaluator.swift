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
    /// The other sentinels of each family, in another part of the address space; empty for hosts.
    package var furtherAddresses: [IPAddress] { fixed.furtherAddresses }
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
        let furtherAddresses: [IPAddress]
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
            furtherAddresses = destinations.map(\.address).filter {
                configuration.family ?? $0.family == $0.family && !addresses.contains($0)
            }
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
        var isPartial = false
        for position in destinations.indices where destinations[position].address.family == family {
            let destination = destinations[position]
            if let path {
                // A further sentinel shows whether the whole space has a path; a default route covers it.
                guard case .general = target, path.prefixLength != 0 else { break }
                if try !leadsOut(destination, besides: path.link, &context) { isPartial = true }
                continue
            }
            // Where an earlier one has a route, and its link is dead, this one most likely has a route too.
            switch try attempt(destination, wantsEntry: best?.link != nil, &context) {
            case .success(let found):
                path = found
                // A default route covers what has no other route, not what another one refuses or loses.
                if case .general = target, let best {
                    isPartial = !best.isMissingRoute || found.prefixLength != 0
                }
            case .failure(let failure):
                if failure.rank > best?.rank ?? -1 { best = failure }
            }
        }
        path?.isPartial = isPartial || path?.deadLegs.isEmpty == false
        return FamilyResult(family: family, path: path, failure: path == nil ? best : nil)
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
