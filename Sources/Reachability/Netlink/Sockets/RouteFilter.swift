// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// Which route messages matter, as a program that runs in the kernel and as a plain predicate.
///
/// Of the neighbours pass IPv6 routers that did not answer, and while ``followsRouters`` is set all that is told of IPv6 routers.
/// Messages about links, addresses, rules and nexthops pass, and those about a setting that lookups depend on: of the
/// settings of new interfaces a container host sends two or three for each. Of the routes pass the default ones and the halves
/// (`0.0.0.0/0`, `0.0.0.0/1`, `::/0` …) and those that cover a watched host. On a router with a full table nothing
/// else reaches the process: no wake-up, and no overrun either.
///
/// Where the attribute RTA_DST lies is not fixed, so the program lets the kernel find it (SKF_AD_NLATTR).
package struct RouteFilter: Sendable, Equatable {
    /// Beyond so many hosts of a family every route of that family passes.
    ///
    /// An IPv4 host costs 4 instructions and an IPv6 host 17, of the 4096 that a program may have (BPF_MAXINSNS);
    /// the kernel's own translation has to fit net.core.optmem_max too, 20 KiB on older kernels.
    package static func hostLimit(_ family: IPAddress.Family) -> Int { family == .ipv4 ? 128 : 48 }

    /// The watched hosts, each once.
    package let hosts: [IPAddress]
    /// Families all of whose routes pass.
    package let openFamilies: [IPAddress.Family]
    /// Whether a router that did not answer is waited for.
    package var followsRouters = false

    /// A filter for these hosts.
    package init(hosts: [IPAddress] = []) {
        var unique: [IPAddress] = []
        // Few are compared with each other; sorting is for many.
        if hosts.count <= 16 {
            for host in hosts where !unique.contains(host) { unique.append(host) }
        } else {
            for host in hosts.sorted() where host != unique.last { unique.append(host) }
        }
        let open = IPAddress.Family.allCases.filter { family in
            unique.count { $0.family == family } > Self.hostLimit(family)
        }
        self.hosts = unique.filter { !open.contains($0.family) }
        openFamilies = open
    }

    /// A filter that lets all routes of these families pass.
    package init(openFamilies: [IPAddress.Family]) {
        hosts = []
        self.openFamilies = openFamilies
    }

    /// The same without single hosts: every route of their families passes, and the program is short.
    package var coarse: RouteFilter {
        var coarse = RouteFilter(
            openFamilies: IPAddress.Family.allCases.filter { family in
                openFamilies.contains(family) || hosts.contains { $0.family == family }
            })
        coarse.followsRouters = followsRouters
        return coarse
    }

    /// The predicate: whether a route to `prefix` matters.
    package func passes(_ prefix: IPPrefix) -> Bool {
        if prefix.length <= 1 { return true }
        if openFamilies.contains(prefix.address.family) { return true }
        return hosts.contains { prefix.contains($0) }
    }

    /// The program; a message that it cannot read passes, and the reader decides.
    package var program: [FilterInstruction] {
        let ipv4 = section(.ipv4)
        let ipv6 = section(.ipv6)
        var all: [FilterInstruction] = [
            // nlmsg_type
            .loadHalf(4)
        ]
        all += neighbors
        all += [
            .ifEqual(Self.turned(RTM_NEWROUTE), UInt8(5 + Self.settings.count), else: 0),
            .ifEqual(Self.turned(RTM_DELROUTE), UInt8(4 + Self.settings.count), else: 0),
            .ifEqual(Self.turned(RTM_NEWNETCONF), 3, else: 0),
            .ifEqual(Self.turned(RTM_DELNETCONF), 1, else: 0),
            .pass,
            .drop,
        ]
        all += Self.settings
        all += [
            // rtm_dst_len
            .loadByte(17),
            .ifGreater(1, 1, else: 0),
            .pass,
            // rtm_family
            .loadByte(16),
            .ifEqual(UInt32(AddressFamily.inet), 0, else: 1),
            .jump(3),
            .ifEqual(UInt32(AddressFamily.inet6), 0, else: 1),
            .jump(1 + ipv4.count),
            .drop,
        ]
        all += ipv4
        all += ipv6
        return all
    }

    /// Lets of the messages about neighbours those about IPv6 routers pass, and leaves the type of all others in A.
    ///
    /// Of a router that answers the kernel tells each half minute of traffic, of one that does not once.
    private var neighbors: [FilterInstruction] {
        let (new, gone) = (Self.turned(RTM_NEWNEIGH), Self.turned(RTM_DELNEIGH))
        let wanted = Self.turned(RTM_GETNEIGH)
        // The bytes of ndm_family, ndm_state and ndm_flags.
        let (family, state, flags): (UInt32, UInt32, UInt32) = (16, 24, 26)
        let inet6 = UInt32(AddressFamily.inet6)
        if followsRouters {
            return [
                .ifEqual(wanted, 8, else: 0), .ifEqual(gone, 1, else: 0), .ifEqual(new, 0, else: 7),
                .loadByte(family), .ifEqual(inet6, 0, else: 4),
                .loadByte(flags), .and(UInt32(NTF_ROUTER)), .ifEqual(0, 1, else: 0),
                .pass, .drop,
            ]
        }
        return [
            .ifEqual(wanted, 10, else: 0), .ifEqual(gone, 9, else: 0), .ifEqual(new, 0, else: 9),
            .loadByte(family), .ifEqual(inet6, 0, else: 6),
            .loadByte(flags), .and(UInt32(NTF_ROUTER)), .ifEqual(0, 3, else: 0),
            .loadHalf(state), .ifEqual(Self.turned(Int(NUD_FAILED)), 0, else: 1),
            .pass, .drop,
        ]
    }

    private func section(_ family: IPAddress.Family) -> [FilterInstruction] {
        if openFamilies.contains(family) { return [.pass] }
        let hosts = hosts.filter { $0.family == family }
        if hosts.isEmpty { return [.drop] }
        let words = family == .ipv4 ? 1 : 4
        return Self.destination(words: words) + Self.masks(words: words) + hosts.flatMap(Self.comparison) + [
            .drop
        ]
    }

    /// Passes messages about forwarding or ignore_routes_with_linkdown alone; NETCONFA_PROXY_NEIGH is among them only
    /// where a new interface tells everything.
    private static let settings: [FilterInstruction] = {
        func find(_ attribute: Int) -> [FilterInstruction] {
            [
                .load(UInt32(NetlinkLayout.header + NetlinkLayout.setting)), .loadX(UInt32(attribute)),
                .findAttribute, .ifEqual(0, 1, else: 0),
            ]
        }
        return find(NETCONFA_PROXY_NEIGH) + [.drop] + find(NETCONFA_FORWARDING) + [.pass]
            + find(NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN) + [.pass, .drop]
    }()

    /// Scratch words 0…3 = the words of RTA_DST.
    private static func destination(words: Int) -> [FilterInstruction] {
        var part: [FilterInstruction] = [
            .load(UInt32(NetlinkLayout.header + NetlinkLayout.route)), .loadX(UInt32(RTA_DST.rawValue)),
            .findAttribute, .ifEqual(0, 0, else: 1), .pass, .copyToX,
        ]
        for word in 0..<UInt32(words) {
            part += [.loadWordAtX(UInt32(NetlinkLayout.attributeHeader) + 4 * word), .store(word)]
        }
        return part
    }

    /// Scratch words 4…7 = the prefix length as a mask; a shift by 32 is undefined, hence three cases for each.
    private static func masks(words: Int) -> [FilterInstruction] {
        var part: [FilterInstruction] = [.loadByte(17), .store(8)]
        for word in 0..<UInt32(words) {
            part += [
                .loadScratch(8),
                .ifAtLeast(32 * word + 32, 0, else: 2),
                .load(.max), .jump(9),
                .ifGreater(32 * word, 2, else: 0),
                .load(0), .jump(6),
                .loadXScratch(8), .load(32 * word + 32), .subtractX, .copyToX, .load(.max),
                .shiftLeftByX,
            ]
            // The partial case falls through to the store; the other two jump there.
            part.append(.store(4 + word))
        }
        return part
    }

    /// Passes where the prefix covers `host`, else goes on behind.
    private static func comparison(_ host: IPAddress) -> [FilterInstruction] {
        let words: [UInt32] =
            host.family == .ipv4
            ? [UInt32(truncatingIfNeeded: host.low)]
            : [host.high >> 32, host.high, host.low >> 32, host.low].map { UInt32(truncatingIfNeeded: $0) }
        var part: [FilterInstruction] = []
        for (index, word) in words.enumerated() {
            // The rest of the other words, four instructions each, and the verdict are skipped.
            let rest = UInt8(truncatingIfNeeded: 4 * (words.count - 1 - index) + 1)
            part += [
                .loadXScratch(UInt32(index)), .loadScratch(4 + UInt32(index)), .and(word),
                .ifEqualX(0, else: rest),
            ]
        }
        return part + [.pass]
    }

    /// A 16-bit constant of the host, as a load in network order sees it.
    private static func turned(_ type: Int) -> UInt32 { UInt32(UInt16(truncatingIfNeeded: type).bigEndian) }
}
