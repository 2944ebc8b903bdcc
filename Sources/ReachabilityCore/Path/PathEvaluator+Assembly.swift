// SPDX-License-Identifier: Apache-2.0

extension PathEvaluator {
    /// Makes one path of what the families came to.
    ///
    /// The IPv4 path decides the medium where there is one, else the IPv6 path.
    package func assemble(
        _ results: [FamilyResult], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> ReachabilityPath {
        var path = ReachabilityPath()
        for result in results where result.path != nil {
            switch result.family {
            case .ipv4: path.hasIPv4 = true
            case .ipv6: path.hasIPv6 = true
            }
        }
        guard let chosen = results.lazy.compactMap(\.path).first else {
            return try unreachable(path, results.compactMap(\.failure), &inquiry)
        }
        path.isOnline = true
        path.instantStatus = chosen.carrier.isWiFi ? .wifi : .wired
        path.interface = chosen.link.name
        path.interfaceIndex = chosen.link.index
        path.medium = chosen.carrier.medium
        path.source = chosen.source
        path.gateway = chosen.gateway
        path.metric = chosen.metric
        path.isTunnel = chosen.carrier.medium == .tunnel
        path.isTunnelUnchecked = chosen.isTunnelUnchecked
        path.underlay = chosen.underlay?.name
        path.underlayIndex = chosen.underlay?.index ?? 0
        path.isExpensive = chosen.carrier.isExpensive
        path.isPartial = chosen.isPartial
        path.hasDeadLegs = !chosen.deadLegs.isEmpty
        path.isUniqueLocal = chosen.source?.isUniqueLocal ?? false
        path.carrierDownCount = chosen.link.carrierDownCount
        path.reason = ReachabilityReason(chosen.code, interface: chosen.link.name, sentence: chosen.sentence)
        if let station = chosen.carrier.station, let wireless = try inquiry.wireless(station) {
            path.ssid = wireless.ssid
            path.accessPoint = wireless.accessPoint
            path.signal = wireless.signal.map(Int.init)
        }
        inquiry.note(
            EvaluationStep("status", path.reason.sentence, path.instantStatus.description, code: chosen.code))
        return path
    }

    private func unreachable(
        _ empty: ReachabilityPath, _ failures: [PathFailure], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> ReachabilityPath {
        var path = empty
        path.instantStatus = .unreachable
        // The first of equals: IPv4's word before IPv6's.
        var decisive = failures.first ?? PathFailure(.noRoute, link: nil)
        for failure in failures where failure.rank > decisive.rank { decisive = failure }
        let found = try alternative(for: failures, &inquiry)
        let alternative = found?.link
        path.alternative = alternative?.name
        path.alternativeSource = found?.source
        if let alternative {
            let carrier = try inquiry.carrier(
                of: alternative, expensive: configuration.expensiveInterfaces)
            path.alternativeMedium = carrier.isWiFi ? .wifi : carrier.medium
            path.isAlternativeExpensive = carrier.isExpensive
        }
        path.reason = try reason(of: decisive, alternative: alternative?.name, &inquiry)
        inquiry.note(
            EvaluationStep("status", path.reason.sentence, "unreachable", code: path.reason.code))
        return path
    }

    private func reason(
        of failure: PathFailure, alternative: String?, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> ReachabilityReason {
        let code = failure.code
        if let link = failure.link {
            // Lack of an address on a link with carrier: say that the cable is not what is wrong.
            var obstacle: LinkObstacle?
            let sentence: String
            switch code {
            case .noAddress: sentence = "\(link.name) has carrier and a route, but no address to send from"
            case .linkLocalOnly:
                obstacle = surveyed.contains { $0.family == .ipv6 } ? LinkObstacle(ipv6Of: link) : nil
                sentence =
                    "\(link.name) has only a link-local address: no address from DHCP or router advertisements"
                    + (obstacle?.addition ?? "")
            case .linkDown, .noPorts:
                obstacle = .link(failure.usability)
                sentence = failure.conclusion
            default: sentence = failure.conclusion
            }
            let instead =
                alternative.map { ", but the kernel still prefers it; \($0) has a path of its own" } ?? ""
            return ReachabilityReason(
                code, interface: link.name, sentence: sentence + instead, obstacle: obstacle)
        }
        if let detail = failure.detail { return ReachabilityReason(code, sentence: detail) }
        switch code {
        case .noRoute: return try missingRoute(&inquiry)
        case .prohibited, .blackhole, .unreachableRoute:
            return ReachabilityReason(
                code,
                sentence:
                    "\(failure.conclusion) (see: ip rule; ip route get \(destinations.first?.text ?? ""))")
        default: return ReachabilityReason(code, sentence: failure.conclusion)
        }
    }

    /// No route at all: the reason is what the link lacks that is nearest to being of use.
    ///
    /// A link that is switched off, or has no address, has no route for that reason: its code says more than `noRoute`.
    private func missingRoute(
        _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> ReachabilityReason {
        try inquiry.require(.links, .addresses)
        let survey = LinkSurvey(evaluator: self)
        guard let link = try survey.nearestUplink(&inquiry) else {
            let others = try inquiry.links().filter { $0.role == .sink }.map(\.name)
            let addition =
                others.isEmpty ? "" : " and what drops everything (\(others.joined(separator: ", ")))"
            return ReachabilityReason(
                .noRoute, sentence: "there is no network interface but loopback" + addition)
        }
        let addresses = try inquiry.addresses().filter { $0.interface == link.index }
        return try survey.want(of: link, addresses, &inquiry)
    }
}
