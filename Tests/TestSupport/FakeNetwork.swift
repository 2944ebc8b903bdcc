// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// A network in memory that answers questions as the kernel does: longest prefix, lowest metric, links by
/// index.
package struct FakeNetwork: Sendable {
    /// One entry of the routing table.
    package struct Route: Sendable {
        package var prefix: IPPrefix
        package var interface: Int32
        package var gateway: IPAddress?
        package var source: IPAddress?
        package var metric: UInt32
        package var kind: RouteAnswer.Kind
        package var legs: [RouteAnswer.Leg]
        package var expires: Int32?
        /// The prefix of sources that use it.
        package var from: IPPrefix?
        package var table: UInt32 = 254
    }

    /// A policy rule; matching packets look into its table first.
    package struct Rule: Sendable {
        package var from: IPPrefix?
        package var port: UInt16?
        package var table: UInt32
        package var family: IPAddress.Family
    }

    package var links: [LinkState] = []
    package var addresses: [InterfaceAddress] = []
    package var routes: [Route] = []
    package var policy: [Rule] = []
    /// The leg that a lookup without an interface gets, modulo the number of legs.
    package var hash: @Sendable (RouteLookup) -> Int = { _ in 0 }
    package var wireless: [Int32: WirelessState] = [:]
    package var devices: [Int32: DeviceFacts] = [:]
    /// The addresses of leases whose DHCP server said that traffic costs.
    package var meteredLeases: [Int32: IPAddress] = [:]
    /// Whether the kernel knows RTM_F_FIB_MATCH; IPv4 alone needs it.
    package var returnsEntries = true

    /// Answers that override the tables.
    package var fixed: [KernelQuestion: KernelAnswer] = [:]
    /// The exemptions of its policy rules.
    package var exemptions = RuleExemptions()

    package init() {
        links = [
            LinkState(
                index: 1, name: "lo", flags: [.up, .lowerUp, .running, .loopback], hardwareType: 772)
        ]
    }

    /// A link with carrier; its index is the next one.
    @discardableResult
    package mutating func addLink(
        _ name: String, kind: String? = nil, hardwareType: UInt16 = 1, lower: Int32? = nil,
        master: Int32? = nil,
        up: Bool = true
    ) -> Int32 {
        let index = (links.map(\.index).max() ?? 0) + 1
        links.append(
            LinkState(
                index: index, name: name, flags: up ? [.up, .lowerUp, .running] : [.up],
                operationalState: up ? .up : .down, hardwareType: hardwareType, kind: kind, master: master,
                lower: lower))
        return index
    }

    /// An address in `address/length` notation, with its connected route.
    package mutating func addAddress(_ text: String, to interface: Int32, flags: InterfaceAddress.Flags = [])
    {
        let parts = text.split(separator: "/")
        guard let address = IPAddress(String(parts[0])), let length = Int(parts[1]),
            let prefix = IPPrefix(address, length: length)
        else { return }
        addresses.append(
            InterfaceAddress(interface: interface, address: address, prefixLength: length, flags: flags))
        routes.append(
            Route(
                prefix: prefix, interface: interface, source: address, metric: 0, kind: .unicast, legs: []))
    }

    /// A route in `address/length` notation; the source is the interface's first address of the family.
    package mutating func addRoute(
        _ text: String, via gateway: String? = nil, on interface: Int32 = 0, metric: UInt32 = 0,
        kind: RouteAnswer.Kind = .unicast, legs: [RouteAnswer.Leg] = [], expires: Int32? = nil,
        from: String? = nil, table: UInt32 = 254
    ) {
        guard let prefix = IPPrefix(text) else { return }
        routes.append(
            Route(
                prefix: prefix, interface: interface, gateway: gateway.flatMap { IPAddress($0) }, source: nil,
                metric: metric, kind: kind, legs: legs, expires: expires, from: from.flatMap { IPPrefix($0) },
                table: table))
    }

    /// A rule for a prefix of sources or a TCP port, before the main table.
    package mutating func addRule(
        from: String? = nil, port: UInt16? = nil, table: UInt32, family: IPAddress.Family = .ipv4
    ) {
        policy.append(Rule(from: from.flatMap { IPPrefix($0) }, port: port, table: table, family: family))
    }

    /// The attributes that the rules match.
    private var rules: PolicyRules {
        var rules = PolicyRules(exemptions: exemptions)
        for rule in policy {
            if rule.from != nil { rules[rule.family].insert(.source) }
            if rule.port != nil { rules[rule.family].insert(.transport) }
        }
        return rules
    }

    /// The tables of a lookup, in order; a rule's table is in no other lookup.
    private func tables(for lookup: RouteLookup) -> [[Route]] {
        let matching = policy.filter { rule in
            rule.family == lookup.destination.family && rule.port ?? lookup.port == lookup.port
                && rule.from.map { prefix in lookup.source.map(prefix.contains) ?? false } ?? true
        }
        let others = Set(policy.map(\.table))
        return matching.map { rule in routes.filter { $0.table == rule.table } }
            + [routes.filter { !others.contains($0.table) }]
    }

    package mutating func removeRoutes(_ text: String, metric: UInt32? = nil) {
        routes.removeAll { $0.prefix.description == text && metric ?? $0.metric == $0.metric }
    }

    /// Changes one link.
    package mutating func change(_ index: Int32, _ body: (inout LinkState) -> Void) {
        guard let position = links.firstIndex(where: { $0.index == index }) else { return }
        body(&links[position])
    }

    /// Removes or restores the carrier, counters included.
    package mutating func setCarrier(_ index: Int32, _ on: Bool) {
        change(index) { link in
            link.flags = on ? [.up, .lowerUp, .running] : [.up]
            link.operationalState = on ? .up : .down
            if on { link.carrierUpCount += 1 } else { link.carrierDownCount += 1 }
        }
    }

    // MARK: - Answers

    package func answer(_ question: KernelQuestion) -> KernelAnswer {
        if let answer = fixed[question] { return answer }
        return switch question {
        case .route(let lookup): route(lookup)
        case .link(let index): link { $0.index == index }
        case .linkNamed(let name): link { $0.name == name.text }
        case .links: .links(links)
        case .ports(let master): .links(links.filter { $0.master == master })
        case .addresses: .addresses(addresses)
        case .rules: .rules(rules)
        case .wireless(let index): wireless[index].map { .wireless($0) } ?? .failure(KernelErrno.noDevice)
        case .device(let index, _): .device(devices[index] ?? DeviceFacts())
        case .lease(let index, _): .meteredLease(meteredLeases[index])
        }
    }

    /// Answers an evaluation's questions, and returns its path.
    package func evaluate(_ evaluator: PathEvaluator) -> ReachabilityPath {
        var snapshot = Snapshot()
        for _ in 0..<40 {
            switch evaluator.evaluate(snapshot) {
            case .path(let path, _): return path
            case .needs(let questions):
                for question in questions { snapshot.add(question, answer(question)) }
            }
        }
        return ReachabilityPath()
    }

    private func link(_ isMeant: (LinkState) -> Bool) -> KernelAnswer {
        links.first(where: isMeant).map { .link($0) } ?? .failure(KernelErrno.noDevice)
    }

    /// An address of the interface, else of another one, as the kernel accepts any of sufficient scope.
    private func source(for destination: IPAddress, through interface: Int32) -> IPAddress? {
        let usable = addresses.filter { $0.address.family == destination.family && $0.isUsable }
        let own = usable.filter { $0.interface == interface }
        let wide = usable.filter { !$0.address.isLinkLocal && !$0.address.isLoopback }
        if destination.family == .ipv4 || destination.isLinkLocal {
            return (own.first ?? wide.first)?.address
        }
        // The kernel falls back to the loopback address.
        return (own.first { !$0.address.isLinkLocal } ?? wide.first ?? own.first ?? usable.first)?.address
    }

    private func route(_ lookup: RouteLookup) -> KernelAnswer {
        if lookup.wantsEntry, !returnsEntries, lookup.destination.family == .ipv4 {
            return .failure(KernelErrno.unsupported)
        }
        if addresses.contains(where: { $0.address == lookup.destination }) || lookup.destination.isLoopback {
            return .route(
                RouteAnswer(kind: .local, interface: 1, source: lookup.destination, prefixLength: 32))
        }
        for table in tables(for: lookup) {
            if let answer = route(lookup, in: table) { return answer }
        }
        // IPv4 treats the peer as on-link (ip_route_output_key_hash_rcu(), net/ipv4/route.c).
        if lookup.destination.family == .ipv4, lookup.interface != 0, !lookup.wantsEntry, !policy.isEmpty {
            return .route(
                RouteAnswer(
                    kind: .unicast, interface: lookup.interface,
                    source: source(for: lookup.destination, through: lookup.interface), prefixLength: 32))
        }
        return .failure(KernelErrno.networkUnreachable)
    }

    private func route(_ lookup: RouteLookup, in table: [Route]) -> KernelAnswer? {
        let candidates = table.filter { route in
            route.prefix.contains(lookup.destination)
                && (lookup.source.map { route.from?.contains($0) != false } ?? (route.from == nil))
                // With a source the interface is no condition (ip6_route_output_flags(), net/ipv6/route.c).
                && (lookup.interface == 0 || lookup.source != nil && lookup.destination.family == .ipv6
                    || route.interface == lookup.interface
                    || route.legs.contains { $0.interface == lookup.interface })
        }
        func isStranger(_ route: Route) -> Int {
            lookup.interface == 0 || route.interface == lookup.interface ? 0 : 1
        }
        // The prefix of sources counts after that of destinations and before the metric.
        func sourceLength(_ route: Route) -> Int { route.from?.length ?? 0 }
        guard
            let best = candidates.min(by: {
                ($1.prefix.length, sourceLength($1), $0.metric, isStranger($0))
                    < ($0.prefix.length, sourceLength($0), $1.metric, isStranger($1))
            })
        else { return nil }
        switch best.kind {
        case .prohibit: return .failure(KernelErrno.accessDenied)
        case .blackhole: return .failure(KernelErrno.invalid)
        case .unreachable: return .failure(KernelErrno.hostUnreachable)
        default: break
        }
        let leg =
            lookup.interface == 0 && !best.legs.isEmpty
            ? best.legs[hash(lookup) % best.legs.count]
            : best.legs.first { $0.interface == lookup.interface }
        let interface = leg?.interface ?? best.interface
        let own = source(for: lookup.destination, through: interface)
        let whole = lookup.wantsEntry && !best.legs.isEmpty
        return .route(
            RouteAnswer(
                kind: best.kind, interface: whole ? nil : interface,
                gateway: whole ? nil : leg?.gateway ?? best.gateway,
                source: lookup.wantsEntry ? best.source : best.source ?? own,
                prefixLength: lookup.wantsEntry
                    ? best.prefix.length : lookup.destination.family == .ipv4 ? 32 : 128,
                metric: lookup.wantsEntry ? best.metric : 0, table: best.table,
                legs: lookup.wantsEntry ? best.legs : [],
                expires: lookup.wantsEntry ? best.expires : nil))
    }
}
