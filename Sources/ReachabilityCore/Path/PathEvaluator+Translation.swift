// SPDX-License-Identifier: Apache-2.0

// 464XLAT (RFC 6877): a device takes IPv4 packets, and a translator sends them on as IPv6 to the network's NAT64.
extension PathEvaluator {
    /// What carries IPv4 through a translator's device: the IPv6 path.
    func translation(
        through translator: LinkState, _ inquiry: inout Inquiry
    ) throws(Inquiry.Incomplete) -> Underlay {
        let sentinels = configuration.sentinels + ReachabilityConfiguration.defaultSentinels
        guard let far = sentinels.first(where: { $0.family == .ipv6 }) else { return .none }
        // The translator's own packets have neither the mark nor the user that is asked for.
        let unbound = RouteLookup(destination: far)
        try inquiry.require(.route(unbound), .route(unbound.entry))
        let plain = try inquiry.sending(unbound)
        try inquiry.require(.route(plain), .route(plain.entry))
        guard case .success(let route) = try inquiry.route(plain), route.kind == .unicast,
            let source = route.sender, !source.isLinkLocal, let index = route.interface,
            index != translator.index, let link = try inquiry.link(index)
        else { return .none }
        if case .tunnel = link.role {
            return .untold("its packets go on through \(link.name), a tunnel as well", likely: nil)
        }
        if try inquiry.usability(of: link) == .usable { return .link(link) }
        let entry = try? inquiry.route(plain.entry).get()
        return try usableLeg(of: entry, &inquiry).map { .link($0.link) } ?? .none
    }
}

extension LinkState {
    /// Whether it is the device of a 464XLAT translator, by the names that these give it: `clat` (clatd, jool, tayga), `v4-wlan0`
    /// (Android), `464-wan6` (OpenWrt).
    var isTranslator: Bool {
        guard case .tunnel = role else { return false }
        return name.hasPrefix("clat") && name.dropFirst(4).utf8.allSatisfy { (48...57).contains($0) }
            || name.hasPrefix("v4-") || name.hasPrefix("464-")
    }
}
