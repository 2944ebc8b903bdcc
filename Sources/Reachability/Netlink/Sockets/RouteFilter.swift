// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// Selects the relevant messages, as a program for the kernel and as a predicate.
///
/// - Messages about links, addresses, rules and nexthops pass.
/// - Settings pass if lookups depend on them; a container host sends others for each new interface.
/// - Routes pass if they are default routes or halves (`0.0.0.0/0`, `0.0.0.0/1`, `::/0` …), or cover a
///   monitored host. On a router with a full table the others would cause wake-ups and overruns.
/// - IPv6 routers among the neighbours pass if they did not answer, and with ``followsRouters`` always.
///
/// The offset of the attribute RTA_DST varies, so the program lets the kernel find it (SKF_AD_NLATTR).
package struct RouteFilter: Sendable, Equatable {
    /// The number of hosts of a family above which all its routes pass.
    ///
    /// An IPv4 host costs 4 instructions and an IPv6 host 17, of at most 4096 (BPF_MAXINSNS); the kernel's
    /// translation must also fit net.core.optmem_max, 20 KiB on older kernels.
    package static func hostLimit(_ family: IPAddress.Family) -> Int { family == .ipv4 ? 128 : 48 }

    /// The monitored hosts, without duplicates.
    package let hosts: [IPAddress]
    /// The families with all routes passing.
    package let openFamilies: [IPAddress.Family]
    /// Whether a router that did not answer is expected to return.
    package var followsRouters = false

    /// A filter for these hosts.
    package init(hosts: [IPAddress] = []) {
        var unique: [IPAddress] = []
        // A few hosts are compared with each other; sorting pays only for many.
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

    /// A filter that passes all routes of these families.
    package init(openFamilies: [IPAddress.Family]) {
        hosts = []
        self.openFamilies = openFamilies
    }

    /// The same without single hosts: a short program that passes every route of their families.
    package var coarse: RouteFilter {
        var coarse = RouteFilter(
            openFamilies: IPAddress.Family.allCases.filter { family in
                openFamilies.contains(family) || hosts.contains { $0.family == family }
            })
        coarse.followsRouters = followsRouters
        return coarse
    }

    /// Whether a route to `prefix` is relevant.
    package func passes(_ prefix: IPPrefix) -> Bool {
        if prefix.length <= 1 { return true }
        if openFamilies.contains(prefix.address.family) { return true }
        return hosts.contains { prefix.contains($0) }
    }

    /// The program; messages that it cannot read pass, and the decoder decides.
    package var program: [FilterInstruction] {
        let ipv4 = section(.ipv4)
        let ipv6 = section(.ipv6)
        var all: [FilterInstruction] = [.loadHalf(4)] + neighbors  // nlmsg_type
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
        return all + ipv4 + ipv6
    }

    /// Passes neighbour messages about IPv6 routers, and leaves the type of all other messages in A.
    ///
    /// The kernel reports an answering router every half minute of traffic, and a silent one once.
    private var neighbors: [FilterInstruction] {
        let (new, gone) = (Self.turned(RTM_NEWNEIGH), Self.turned(RTM_DELNEIGH))
        let wanted = Self.turned(RTM_GETNEIGH)
        // The offsets of ndm_family, ndm_state and ndm_flags.
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
        return Self.destination(words: words) + Self.masks(words: words) + hosts.flatMap(Self.comparison)
            + [.drop]
    }

    /// Passes messages about forwarding or ignore_routes_with_linkdown; only a message with all settings of a
    /// new interface has NETCONFA_PROXY_NEIGH as well.
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

    /// Stores the words of RTA_DST in scratch words 0…3.
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

    /// Stores the prefix length as a mask in scratch words 4…7; three cases, as a shift by 32 is undefined.
    private static func masks(words: Int) -> [FilterInstruction] {
        var part: [FilterInstruction] = [.loadByte(17), .store(8)]
        for word in 0..<UInt32(words) {
            part += [
                .loadScratch(8),
                .ifAtLeast(32 * word + 32, 0, else: 2),
                .load(.max), .jump(9),
                .ifGreater(32 * word, 2, else: 0),
                .load(0), .jump(6),
                .loadXScratch(8), .load(32 * word + 32), .subtractX, .copyToX, .load(.max), .shiftLeftByX,
                // The partial case falls through to the store; the other two jump to it.
                .store(4 + word),
            ]
        }
        return part
    }

    /// Accepts if the prefix covers `host`, else continues.
    private static func comparison(_ host: IPAddress) -> [FilterInstruction] {
        let words: [UInt32] =
            host.family == .ipv4
            ? [UInt32(truncatingIfNeeded: host.low)]
            : [host.high >> 32, host.high, host.low >> 32, host.low].map { UInt32(truncatingIfNeeded: $0) }
        var part: [FilterInstruction] = []
        for (index, word) in words.enumerated() {
            // Skips the remaining words, four instructions each, and the acceptance.
            let rest = UInt8(truncatingIfNeeded: 4 * (words.count - 1 - index) + 1)
            part += [
                .loadXScratch(UInt32(index)), .loadScratch(4 + UInt32(index)), .and(word),
                .ifEqualX(0, else: rest),
            ]
        }
        return part + [.pass]
    }

    /// A 16-bit constant in host order, as a load in network order reads it.
    private static func turned(_ type: Int) -> UInt32 { UInt32(UInt16(truncatingIfNeeded: type).bigEndian) }
}
