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
        let alternative = try alternative(for: failures, &inquiry)
        path.alternative = alternative?.name
        if let alternative {
            let carrier = try inquiry.carrier(
                of: alternative, expensive: configuration.expensiveInterfaces)
            path.alternativeMedium = carrier.isWiFi ? .wifi : carrier.medium
            path.isAlternativeExpensive = carrier.isExpensive
        }
        let (interface, sentence) = try unreachableSentence(
            decisive, alternative: alternative?.name, &inquiry)
        path.reason = ReachabilityReason(decisive.code, interface: interface, sentence: sentence)
        inquiry.note(EvaluationStep("status", sentence, "unreachable", code: decisive.code))
        return path
    }

    private func unreachableSentence(
        _ failure: PathFailure, alternative: String?, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> (interface: String?, sentence: String) {
        let instead =
            alternative.map { ", but the kernel still prefers it; \($0) has a path of its own" } ?? ""
        if let link = failure.link {
            let what = failure.conclusion
            // Lack of an address on a link with carrier: say that the cable is not what is wrong.
            let sentence =
                switch failure.code {
                case .noAddress: "\(link.name) has carrier and a route, but no address to send from"
                case .linkLocalOnly:
                    "\(link.name) has only a link-local address: no address from DHCP or router advertisements"
                default: what
                }
            return (link.name, sentence + instead)
        }
        if let detail = failure.detail { return (nil, detail) }
        switch failure.code {
        case .noRoute: return try missingRouteSentence(&inquiry)
        case .prohibited, .blackhole, .unreachableRoute:
            return (
                nil, "\(failure.conclusion) (see: ip rule; ip route get \(destinations.first?.text ?? ""))"
            )
        default: return (nil, failure.conclusion)
        }
    }

    /// No route at all: the sentence names the link that is nearest to being of use, and what it lacks.
    private func missingRouteSentence(
        _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> (interface: String?, sentence: String) {
        try inquiry.require(.links, .addresses)
        let survey = LinkSurvey(evaluator: self)
        guard let link = try survey.nearestUplink(&inquiry) else {
            return (nil, "there is no network interface but loopback")
        }
        let addresses = try inquiry.addresses().filter { $0.interface == link.index }
        return (link.name, try survey.want(of: link, addresses, &inquiry).sentence)
    }
}
