// SPDX-License-Identifier: Apache-2.0

// The path of a network that is asked for: lookups bound to its links (RTA_OIF), as for alternatives.
extension PathEvaluator {
    /// A link that fits, with the paths that lookups bound to it have found.
    private struct Candidate {
        let link: LinkState
        var results: [FamilyResult] = []
        /// The reason why a tunnel carries nothing.
        var failure: PathFailure?

        /// The lowest wins: IPv4 before IPv6 alone, then the metric, then the index.
        var order: (Int, UInt32, Int32)? {
            results.first.map { ($0.family == .ipv4 ? 0 : 1, $0.path?.metric ?? 0, link.index) }
        }
    }

    /// The path of the required network, and how long it holds at most in hundredths of a second.
    func requiredPath(
        _ requirement: NetworkRequirement, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> (path: ReachabilityPath, expires: Int32?) {
        try context.require([.links, .addresses, .rules])
        let addresses = try context.addresses()
        var candidates: [Candidate] = []
        var isComplete = true
        for link in try context.links() {
            // Visits all of them even if answers are missing, so that all questions are requested together.
            do throws(MissingAnswers) {
                guard try fits(link, requirement, &context) else { continue }
                candidates.append(
                    try candidate(link, addresses.filter { $0.interface == link.index }, &context))
            } catch {
                isComplete = false
            }
        }
        guard isComplete else { throw MissingAnswers() }
        var best: (results: [FamilyResult], order: (Int, UInt32, Int32))?
        for candidate in candidates {
            if let order = candidate.order, best.map({ order < $0.order }) ?? true {
                best = (candidate.results, order)
            }
        }
        if let best {
            return (try assemble(best.results, &context), best.results.compactMap { $0.path?.expires }.min())
        }
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.reason = try reason(requirement, candidates, &context)
        context.record(EvaluationStep("status", path.reason.sentence, "unreachable", code: path.reason.code))
        return (path, nil)
    }

    /// Whether a link is one that is asked for.
    private func fits(
        _ link: LinkState, _ requirement: NetworkRequirement, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Bool {
        switch requirement {
        case .interface(let name): return link.name == name
        case .medium(let medium):
            // Ports send through their master.
            guard !link.isLoopback, link.master == nil, link.role != .sink else { return false }
            return medium.fits(
                try context.physicalMedium(of: link, costs: costs))
        }
    }

    private func candidate(
        _ link: LinkState, _ addresses: [InterfaceAddress], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> Candidate {
        var candidate = Candidate(link: link)
        let usability = try context.egressUsability(of: link)
        if usability == .usable {
            let reporter = LinkReporter(evaluator: self)
            for family in IPAddress.Family.allCases {
                for address in probedAddresses + furtherAddresses
                where address.family == family && !isElsewhere(address, link) {
                    switch try reporter.ownPath(of: link, to: address, addresses, &context) {
                    case .success(let path):
                        path.isPartial = furtherAddresses.contains(address)
                        candidate.results.append(FamilyResult(family: family, path: path, failure: nil))
                    case .failure(let failure):
                        candidate.failure = failure
                        continue
                    case nil: continue
                    }
                    break
                }
            }
        }
        let conclusion =
            candidate.results.first?.path?.sentence
            ?? (usability == .usable ? "it has no path" : usability.sentence(link.name))
        context.record(EvaluationStep("path through \(link.name) alone", link.stateText, conclusion))
        return candidate
    }

    /// Whether an address belongs to another link by its zone.
    private func isElsewhere(_ address: IPAddress, _ link: LinkState) -> Bool {
        destinations.contains { destination in
            guard destination.address == address, let zone = destination.zone else { return false }
            return zone != link.name && Int32(zone) != link.index
        }
    }

    /// The reason why none of the links has a path: what the nearest one lacks.
    private func reason(
        _ requirement: NetworkRequirement, _ candidates: [Candidate], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> ReachabilityReason {
        let reporter = LinkReporter(evaluator: self)
        let links = candidates.map(\.link)
        let nearest =
            links.count > 1 ? try reporter.nearestUplink(among: links, &context) ?? links.first : links.first
        guard let nearest else {
            switch requirement {
            case .interface(let name):
                return ReachabilityReason(.noRoute, sentence: "interface \(name) does not exist")
            case .medium(let medium):
                return ReachabilityReason(.noRoute, sentence: "no link of the medium \(medium.rawValue)")
            }
        }
        if let failure = candidates.first(where: { $0.link.index == nearest.index })?.failure {
            return ReachabilityReason(failure.code, interface: nearest.name, sentence: failure.conclusion)
        }
        let addresses = try context.addresses().filter { $0.interface == nearest.index }
        return try reporter.missingRequirement(of: nearest, addresses, &context)
    }
}
