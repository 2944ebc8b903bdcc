// SPDX-License-Identifier: Apache-2.0

extension EvaluationContext {
    /// The lookup that decides for a program that chooses no source: `lookup`, or the same with a source.
    ///
    /// IPv4's connect(2) looks up twice: first for the source, then with it, and the second lookup decides
    /// (ip_route_connect(), include/net/route.h); they differ if a rule looks at the source. An IPv6 lookup
    /// without a source finds no route or rule limited to a prefix of sources; if it fails, the kernel picks
    /// a source and looks up again (ip6_dst_lookup_tail(), net/ipv6/ip6_output.c). That source is not visible
    /// without a socket, so the candidates are tried in the kernel's order.
    ///
    /// - Parameter lookup: A lookup for a next hop, not for an entry.
    package mutating func resolvingSource(_ lookup: RouteLookup) throws(MissingAnswers) -> RouteLookup {
        guard lookup.source == nil else { return lookup }
        if lookup.destination.family == .ipv4 { return try resolvingIPv4Source(lookup) }
        guard !lookup.destination.staysOnLink, case .failure = try route(lookup) else { return lookup }
        let candidates = try sources(for: lookup).map { lookup.from($0) }
        try require(candidates.map { .route($0) })
        for candidate in candidates {
            if case .success(let route) = try route(candidate), route.kind == .unicast { return candidate }
        }
        return lookup
    }

    private mutating func resolvingIPv4Source(_ lookup: RouteLookup) throws(MissingAnswers) -> RouteLookup {
        guard try selectors(.ipv4).contains(.source), case .success(let route) = try route(lookup),
            route.kind == .unicast, let chosen = route.sender
        else { return lookup }
        let second = lookup.from(chosen)
        guard lookup.interface != 0 else { return second }
        // A socket bound to an interface can be bound to another of its addresses as well. Only the entry is
        // conclusive: without it IPv4 assumes that the peer is on the link.
        var candidates = [second]
        for own in try addresses() where own.interface == lookup.interface {
            guard candidates.count < Self.sourceLimit, own.address.family == .ipv4, own.address != chosen,
                !own.address.isLinkLocal
            else { continue }
            candidates.append(lookup.from(own.address))
        }
        try require(candidates.map { .route($0.entry) })
        for candidate in candidates {
            if case .success(let entry) = try self.route(candidate.entry), entry.kind == .unicast {
                return candidate
            }
        }
        return second
    }

    /// Whether any interface has an address that packets to `destination` can be sent from.
    ///
    /// Looked up once: reports on a thousand links ask for each of them.
    mutating func hasSource(for destination: IPAddress) throws(MissingAnswers) -> Bool {
        if let isThere = knownSources[destination] { return isThere }
        let all = try addresses()
        let isThere = all.indices.contains { all[$0].address.isSource(for: destination) }
        knownSources[destination] = isThere
        return isThere
    }

    /// Whether there is a source, by what decides it of a destination; nil while that is not looked up.
    package struct KnownSources {
        private var v4: Bool?
        private var v6: Bool?
        private var v6OnLink: Bool?

        fileprivate subscript(destination: IPAddress) -> Bool? {
            get { destination.family == .ipv4 ? v4 : destination.staysOnLink ? v6OnLink : v6 }
            set {
                if destination.family == .ipv4 {
                    v4 = newValue
                } else if destination.staysOnLink {
                    v6OnLink = newValue
                } else {
                    v6 = newValue
                }
            }
        }
    }

    // Hosts have fewer prefixes than this; on a router with thousands of addresses the first ones suffice.
    private static var sourceLimit: Int { 8 }

    /// The candidates for the source, the best first: the rules of RFC 6724 §5 that need only addresses.
    private mutating func sources(for lookup: RouteLookup) throws(MissingAnswers) -> [IPAddress] {
        let destination = lookup.destination
        var ranked: [(address: IPAddress, isLast: Bool, isElsewhere: Bool, isOther: Bool, common: Int)] = []
        for own in try addresses() {
            let address = own.address
            guard address.family == .ipv6, own.isUsable, !address.isLinkLocal, !address.isLoopback
            else { continue }
            ranked.append(
                (
                    address, own.flags.contains(.deprecated),
                    lookup.interface != 0 && own.interface != lookup.interface,
                    address.isUniqueLocal != destination.isUniqueLocal, address.commonBits(with: destination)
                ))
        }
        ranked.sort { a, b in
            if a.isLast != b.isLast { return b.isLast }
            if a.isElsewhere != b.isElsewhere { return b.isElsewhere }
            if a.isOther != b.isOther { return b.isOther }
            return a.common > b.common
        }
        return ranked.prefix(Self.sourceLimit).map(\.address)
    }
}

extension IPAddress {
    /// Whether the kernel can choose it as the source for a destination.
    func isSource(for destination: IPAddress) -> Bool {
        family == destination.family && !isLoopback
            && (family == .ipv4 || !isLinkLocal || destination.staysOnLink)
    }

    /// The length of the common prefix in bits.
    fileprivate func commonBits(with other: IPAddress) -> Int {
        high == other.high
            ? 64 + (low ^ other.low).leadingZeroBitCount : (high ^ other.high).leadingZeroBitCount
    }
}

extension RouteAnswer {
    /// The source address, unless replies cannot reach it.
    ///
    /// While every IPv6 address of the link is tentative, the kernel falls back to ::1, which passes every
    /// address check (ipv6_dev_get_saddr(), net/ipv6/addrconf.c); the next hop drops packets from there.
    package var sender: IPAddress? { source.flatMap { $0.isLoopback ? nil : $0 } }
}

extension IPAddress {
    /// Whether packets from this source to `destination` cannot leave the link.
    ///
    /// Routers do not forward link-local sources (RFC 4291 §2.5.6, RFC 3927 §2.7). An IPv4 route with a
    /// gateway for such a source relies on address translation there, as in guests of clouds and microVMs.
    package func isLinkOnlySource(for destination: IPAddress, gateway: IPAddress?) -> Bool {
        isLinkLocal && !destination.staysOnLink && (family == .ipv6 || gateway == nil)
    }
}
