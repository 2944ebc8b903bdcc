// SPDX-License-Identifier: Apache-2.0

extension LinkReporter {
    /// The first requirement that a link without a path does not meet; `all` are its addresses.
    package func missingRequirement(
        of link: LinkState, _ all: [InterfaceAddress], _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> ReachabilityReason {
        func makeReason(
            _ code: ReachabilityReason.Code, _ sentence: String, _ obstacle: LinkObstacle? = nil
        ) -> ReachabilityReason {
            ReachabilityReason(
                code, interface: link.name, sentence: sentence + (obstacle?.addition ?? ""),
                obstacle: obstacle)
        }
        let name = link.name
        if let obstacle = try context.obstacle(of: link) { return ReachabilityReason(obstacle, of: name) }
        if let master = link.master {
            let masterName = try context.links().first { $0.index == master }?.name ?? "another link"
            return makeReason(.noRoute, "\(name) has carrier and is a port of \(masterName)")
        }
        let wanted = evaluator.configuration.family
        let all = wanted == nil ? all : all.filter { wanted == $0.address.family }
        func isGood(_ own: InterfaceAddress) -> Bool { own.isUsable && !own.address.isLinkLocal }
        for own in all where isGood(own) {
            if let failure = try refusal(of: link, own.address.family, &context) {
                return makeReason(failure.code, Self.sentence(name, own, lacks: failure.conclusion))
            }
        }
        if let address = all.first(where: isGood) {
            if let first = evaluator.probedAddresses.first(where: { $0.family == address.address.family }),
                try !context.returnsEntry(evaluator.lookup(first, wantsEntry: true)),
                case .success = try context.route(evaluator.lookup(first))
            {
                return makeReason(
                    .noRoute, "\(name) has carrier and \(address.text), but the kernel chose another link")
            }
            let missing =
                switch evaluator.target {
                case .general: "no default route"
                case .host(let hosts): "no route to \(hosts.first?.text ?? "the host")"
                }
            let isIPv6 = address.address.family == .ipv6 || evaluator.probedAddresses.first?.family == .ipv6
            return makeReason(
                .noRoute, Self.sentence(name, address, lacks: missing),
                isIPv6 ? LinkObstacle(ipv6Of: link) : nil)
        }
        if let duplicate = all.first(where: { $0.flags.contains(.duplicate) }) {
            return makeReason(
                .noAddress, "\(name): \(duplicate.text) is also used by another device on the link")
        }
        if let tentative = all.first(where: { !$0.isUsable && !$0.address.isLinkLocal }) {
            return makeReason(.noAddress, "\(name): \(tentative.text) is still being checked for duplicates")
        }
        let obstacle =
            evaluator.probedAddresses.contains { $0.family == .ipv6 } ? LinkObstacle(ipv6Of: link) : nil
        if let local = all.first(where: { $0.address.isLinkLocal && $0.address.family == .ipv4 }) {
            return makeReason(
                .linkLocalOnly, "\(name) has carrier but only the link-local address \(local.text)", obstacle)
        }
        let kind = wanted.map { $0 == .ipv4 ? "IPv4 " : "IPv6 " } ?? ""
        return makeReason(.noAddress, "\(name) has carrier but no \(kind)address", obstacle)
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

    /// The route or rule that refuses to send through the link; nil if none does or the kernel does not say.
    private func refusal(
        of link: LinkState, _ family: IPAddress.Family, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> PathFailure? {
        guard
            let first = evaluator.destinations.first(where: {
                $0.zone == nil && $0.address.family == family
            })
        else { return nil }
        var plain = evaluator.lookup(first.address)
        if family == .ipv4 { plain = try context.resolvingSource(plain) }
        // A rule for this link alone applies only to lookups bound to it. A bound IPv4 lookup is answered
        // with EHOSTUNREACH for a refusal and for a missing route (ip_route_output_key_hash_rcu(),
        // net/ipv4/route.c), so for IPv4 only the kernel's own choice is conclusive.
        if family == .ipv6 {
            let bound = evaluator.lookup(first.address, interface: link.index)
            try context.require(.route(bound), .route(plain))
            if let failure = try refusal(bound, &context) { return failure }
        }
        return try refusal(plain, &context)
    }

    private func refusal(
        _ lookup: RouteLookup, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> PathFailure? {
        guard case .failure(let refusal) = try context.route(lookup) else { return nil }
        return PathFailure.code(of: refusal) == .noRoute ? nil : PathFailure(refusal: refusal)
    }
}
