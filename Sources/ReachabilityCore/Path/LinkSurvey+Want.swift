// SPDX-License-Identifier: Apache-2.0

// What a link lacks.
extension LinkSurvey {
    /// The first thing that a link without a path lacks; `all` are its addresses.
    package func want(
        of link: LinkState, _ all: [InterfaceAddress], _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> ReachabilityReason {
        func because(
            _ code: ReachabilityReason.Code, _ sentence: String, _ obstacle: LinkObstacle? = nil
        ) -> ReachabilityReason {
            ReachabilityReason(
                code, interface: link.name, sentence: sentence + (obstacle?.addition ?? ""),
                obstacle: obstacle)
        }
        let name = link.name
        let usability = try inquiry.usability(of: link)
        guard usability == .usable else {
            let cause = try inquiry.cause(of: usability, of: link)
            return because(usability.code, cause.sentence(name), .link(cause))
        }
        if let master = link.master {
            let masterName = try inquiry.links().first { $0.index == master }?.name ?? "another link"
            return because(.noRoute, "\(name) has carrier and is a port of \(masterName)")
        }
        let wanted = evaluator.configuration.family
        let all = wanted == nil ? all : all.filter { wanted == $0.address.family }
        func isGood(_ own: InterfaceAddress) -> Bool { own.isUsable && !own.address.isLinkLocal }
        for own in all where isGood(own) {
            if let failure = try refusal(of: link, own.address.family, &inquiry) {
                return because(failure.code, Self.sentence(name, own, lacks: failure.conclusion))
            }
        }
        if let address = all.first(where: isGood) {
            if let first = evaluator.surveyed.first(where: { $0.family == address.address.family }),
                try !inquiry.tellsEntry(evaluator.lookup(first, wantsEntry: true)),
                case .success = try inquiry.route(evaluator.lookup(first))
            {
                return because(
                    .noRoute, "\(name) has carrier and \(address.text), but the kernel chose another link")
            }
            let missing =
                switch evaluator.target {
                case .general: "no default route"
                case .host(let hosts): "no route to \(hosts.first?.text ?? "the host")"
                }
            let isIPv6 = address.address.family == .ipv6 || evaluator.surveyed.first?.family == .ipv6
            return because(
                .noRoute, Self.sentence(name, address, lacks: missing),
                isIPv6 ? LinkObstacle(ipv6Of: link) : nil)
        }
        if let duplicate = all.first(where: { $0.flags.contains(.duplicate) }) {
            return because(.noAddress, "\(name): \(duplicate.text) is also used by somebody else on the link")
        }
        if let tentative = all.first(where: { !$0.isUsable && !$0.address.isLinkLocal }) {
            return because(.noAddress, "\(name): \(tentative.text) is still being checked for duplicates")
        }
        let obstacle =
            evaluator.surveyed.contains { $0.family == .ipv6 } ? LinkObstacle(ipv6Of: link) : nil
        if let local = all.first(where: { $0.address.isLinkLocal && $0.address.family == .ipv4 }) {
            return because(
                .linkLocalOnly, "\(name) has carrier but only the link-local address \(local.text)", obstacle)
        }
        let kind = wanted.map { $0 == .ipv4 ? "IPv4 " : "IPv6 " } ?? ""
        return because(.noAddress, "\(name) has carrier but no \(kind)address", obstacle)
    }

    private static func sentence(_ name: String, _ own: InterfaceAddress, lacks what: String) -> String {
        var line = TextLine()
        line.append(name)
        line.append(literal: " has carrier and ")
        line.append(own.text)
        line.append(literal: " but ")
        line.append(what)
        return line.text
    }

    /// The route or rule that refuses to send through the link; nil where none does, or where it cannot be told.
    private func refusal(
        of link: LinkState, _ family: IPAddress.Family, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> PathFailure? {
        guard
            let first = evaluator.destinations.first(where: {
                $0.zone == nil && $0.address.family == family
            })
        else { return nil }
        var plain = evaluator.lookup(first.address)
        if family == .ipv4 { plain = try inquiry.sending(plain) }
        // A rule for this link alone shows only to a lookup that is bound to it. Bound to a link, an IPv4 lookup is
        // answered with EHOSTUNREACH whether something refuses or there is no route (ip_route_output_key_hash_rcu(),
        // net/ipv4/route.c), so there the kernel's own choice is all that tells.
        if family == .ipv6 {
            let bound = evaluator.lookup(first.address, interface: link.index)
            try inquiry.require(.route(bound), .route(plain))
            if let failure = try refusal(bound, &inquiry) { return failure }
        }
        return try refusal(plain, &inquiry)
    }

    private func refusal(
        _ lookup: RouteLookup, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> PathFailure? {
        guard case .failure(let refusal) = try inquiry.route(lookup) else { return nil }
        let failure = PathFailure(refusal: refusal)
        return failure.code == .noRoute ? nil : failure
    }
}
