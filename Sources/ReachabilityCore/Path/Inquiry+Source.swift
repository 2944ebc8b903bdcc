// SPDX-License-Identifier: Apache-2.0

// The source of packets whose route depends on it.
extension Inquiry {
    /// The lookup that finds what a program's packets take when it leaves the source to the kernel: `lookup` itself, or the
    /// same from one of this machine's addresses.
    ///
    /// Of IPv4, connect(2) looks up twice: the first lookup chooses the source, and the second, which decides, names it
    /// (ip_route_connect(), include/net/route.h). They differ where a rule looks at the source.
    ///
    /// A lookup without a source finds no IPv6 route and no rule for one prefix of sources alone. Where it is refused, the
    /// kernel chooses a source and looks again (ip6_dst_lookup_tail(), net/ipv6/ip6_output.c); so that is done here too.
    /// Which source that is the kernel does not tell without a socket, so those it may choose are tried in its order.
    ///
    /// - Parameter lookup: One for a next hop, not for an entry.
    package mutating func sending(_ lookup: RouteLookup) throws(Incomplete) -> RouteLookup {
        guard lookup.source == nil else { return lookup }
        if lookup.destination.family == .ipv4 { return try sendingTwice(lookup) }
        guard !lookup.destination.staysOnLink, case .failure = try route(lookup) else { return lookup }
        let candidates = try sources(for: lookup).map { lookup.from($0) }
        try require(candidates.map { .route($0) })
        for candidate in candidates {
            if case .success(let route) = try route(candidate), route.kind == .unicast { return candidate }
        }
        return lookup
    }

    private mutating func sendingTwice(_ lookup: RouteLookup) throws(Incomplete) -> RouteLookup {
        guard try selectors(.ipv4).contains(.source), case .success(let route) = try route(lookup),
            route.kind == .unicast, let chosen = route.sender
        else { return lookup }
        let second = lookup.from(chosen)
        guard lookup.interface != 0 else { return second }
        // A socket that is bound to an interface may be bound to another of its addresses as well. Only the entry tells:
        // without one IPv4 takes every interface for one with the peer on the link.
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

    // More addresses than a host has prefixes; of a router with thousands the first tell enough.
    private static var sourceLimit: Int { 8 }

    /// The addresses the kernel may choose to send from, the best first: RFC 6724 §5 as far as addresses alone tell.
    private mutating func sources(for lookup: RouteLookup) throws(Incomplete) -> [IPAddress] {
        let destination = lookup.destination
        var ranked: [(address: IPAddress, isLast: Bool, isElsewhere: Bool, isOther: Bool, common: Int)] = []
        for own in try addresses() {
            let address = own.address
            guard address.family == .ipv6, own.isUsable, !address.isLinkLocal, !address.isLoopback else {
                continue
            }
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
    /// How many leading bits both have in common.
    fileprivate func commonBits(with other: IPAddress) -> Int {
        high == other.high
            ? 64 + (low ^ other.low).leadingZeroBitCount : (high ^ other.high).leadingZeroBitCount
    }
}
