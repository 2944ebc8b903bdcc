// SPDX-License-Identifier: Apache-2.0

extension PathEvaluator {
    /// Combines the families' results into one path; the IPv4 path decides the medium if there is one.
    package func assemble(
        _ results: [FamilyResult], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> ReachabilityPath {
        var path = ReachabilityPath()
        for result in results where result.path != nil {
            switch result.family {
            case .ipv4: path.hasIPv4 = true
            case .ipv6: path.hasIPv6 = true
            }
        }
        guard let chosen = results.lazy.compactMap(\.path).first else {
            return try unreachable(path, results.compactMap(\.failure), &context)
        }
        path.isOnline = true
        path.instantStatus = chosen.physicalMedium.isWiFi ? .wifi : .wired
        path.interface = chosen.link.name
        path.interfaceIndex = chosen.link.index
        path.medium = chosen.physicalMedium.medium
        path.source = chosen.source
        path.gateway = chosen.gateway
        path.metric = chosen.metric
        path.isTunnel = chosen.physicalMedium.medium == .tunnel
        path.isTunnelUnchecked = chosen.isTunnelUnchecked
        path.underlay = chosen.underlay?.name
        path.underlayIndex = chosen.underlay?.index ?? 0
        path.cost = chosen.physicalMedium.cost
        path.isPartial = chosen.isPartial
        path.hasDeadLegs = !chosen.deadLegs.isEmpty
        path.isUniqueLocal = chosen.source?.isUniqueLocal ?? false
        path.carrierDownCount = chosen.link.carrierDownCount
        path.reason = ReachabilityReason(chosen.code, interface: chosen.link.name, sentence: chosen.sentence)
        if let station = chosen.physicalMedium.station, let wireless = try context.wireless(station) {
            path.ssid = wireless.ssid
            path.accessPoint = wireless.accessPoint
            path.signal = wireless.signal.map(Int.init)
        }
        context.record(
            EvaluationStep("status", path.reason.sentence, path.instantStatus.description, code: chosen.code))
        return path
    }

    private func unreachable(
        _ empty: ReachabilityPath, _ failures: [PathFailure], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> ReachabilityPath {
        var path = empty
        path.instantStatus = .unreachable
        // Ties: IPv4 before IPv6.
        var decisive = failures.first ?? PathFailure(.noRoute, link: nil)
        for failure in failures where failure.rank > decisive.rank { decisive = failure }
        let alternative = try alternative(for: failures, &context)
        path.alternative = alternative?.name
        path.alternativeSource = alternative?.source
        if let alternative {
            path.alternativeMedium = alternative.isWiFi ? .wifi : alternative.medium
            path.isAlternativeExpensive = alternative.isExpensive
            path.isAlternativeConstrained = alternative.isConstrained
        }
        path.reason = try reason(of: decisive, alternative: alternative?.name, &context)
        context.record(EvaluationStep("status", path.reason.sentence, "unreachable", code: path.reason.code))
        return path
    }

    private func reason(
        of failure: PathFailure, alternative: String?, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> ReachabilityReason {
        let code = failure.code
        if failure.isMissingRoute, let alternative {
            return ReachabilityReason(
                .noRoute, interface: alternative,
                sentence:
                    "\(alternative) has a route only for what is sent from its own address (see: ip rule)")
        }
        if let link = failure.link {
            // The sentence mentions the carrier, so that the cable is not blamed for a missing address.
            if alternative == nil, let reason = try otherReason(of: failure, link, &context) { return reason }
            var obstacle: LinkObstacle?
            let sentence: String
            switch code {
            case .noAddress: sentence = "\(link.name) has carrier and a route, but no address to send from"
            case .linkLocalOnly:
                obstacle = probedAddresses.contains { $0.family == .ipv6 } ? LinkObstacle(ipv6Of: link) : nil
                sentence =
                    "\(link.name) has only a link-local address: no address from DHCP or router advertisements"
                    + (obstacle?.addition ?? "")
            default:
                if failure.usability != .usable { obstacle = .link(failure.usability) }
                sentence = failure.conclusion
            }
            let instead =
                alternative.map { ", but the kernel still prefers it; \($0) has a path of its own" } ?? ""
            return ReachabilityReason(
                code, interface: link.name, sentence: sentence + instead, obstacle: obstacle)
        }
        if let detail = failure.detail { return ReachabilityReason(code, sentence: detail) }
        switch code {
        case .noRoute: return try missingRoute(&context)
        case .prohibited, .blackhole, .unreachableRoute:
            return ReachabilityReason(
                code,
                sentence:
                    "\(failure.conclusion) (see: ip rule; ip route get \(destinations.first?.text ?? ""))")
        default: return ReachabilityReason(code, sentence: failure.conclusion)
        }
    }

    /// The reason of a link without an address to send from, where one of its addresses says more: it is used
    /// by another device, is still being checked, or is of the other family and lacks a route.
    private func otherReason(
        of failure: PathFailure, _ link: LinkState, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> ReachabilityReason? {
        guard failure.code == .noAddress || failure.code == .linkLocalOnly, failure.usability == .usable
        else { return nil }
        let own = try context.addresses().filter {
            $0.interface == link.index && configuration.family ?? $0.address.family == $0.address.family
        }
        guard own.contains(where: { !$0.address.isLinkLocal }) else { return nil }
        return try LinkReporter(evaluator: self).missingRequirement(of: link, own, &context)
    }

    /// The reason for a missing route: what the link nearest to being usable lacks, for example an address.
    private func missingRoute(
        _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> ReachabilityReason {
        try context.require(.links, .addresses)
        let reporter = LinkReporter(evaluator: self)
        guard let link = try reporter.nearestUplink(&context) else {
            let others = try context.links().filter { $0.role == .sink }.map(\.name)
            let addition =
                others.isEmpty ? "" : " and what drops everything (\(others.joined(separator: ", ")))"
            return ReachabilityReason(
                .noRoute, sentence: "there is no network interface but loopback" + addition)
        }
        let addresses = try context.addresses().filter { $0.interface == link.index }
        return try reporter.missingRequirement(of: link, addresses, &context)
    }
}
