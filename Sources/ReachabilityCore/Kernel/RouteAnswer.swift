// SPDX-License-Identifier: Apache-2.0

/// What the kernel answers to "how would you send to this address" (RTM_GETROUTE, rtnetlink(7)).
package struct RouteAnswer: Sendable, Equatable {
    /// The route types (RTN_*, linux/rtnetlink.h); a number of a later kernel is kept as `other`.
    package enum Kind: Sendable, Equatable {
        case unicast, local, broadcast, anycast, multicast, blackhole, unreachable, prohibit, `throw`
        case other(UInt8)

        /// Whether it leads to several hosts of the link at once.
        package var isForSeveral: Bool { self == .multicast || self == .broadcast }
    }

    /// One of the next hops of a multipath route.
    package struct Leg: Sendable, Equatable {
        /// The output interface.
        package var interface: Int32
        /// The next router; nil where the destination is on the link.
        package var gateway: IPAddress?
        /// RTNH_F_DEAD: the kernel does not use it.
        package var isDead: Bool
        /// RTNH_F_LINKDOWN: its interface has no carrier.
        package var isLinkDown: Bool

        package init(
            interface: Int32, gateway: IPAddress? = nil, isDead: Bool = false, isLinkDown: Bool = false
        ) {
            self.interface = interface
            self.gateway = gateway
            self.isDead = isDead
            self.isLinkDown = isLinkDown
        }
    }

    /// RT_TABLE_MAIN (linux/rtnetlink.h): where routes are that nobody asked to be elsewhere.
    package static let mainTable: UInt32 = 254

    /// The route's type.
    package var kind: Kind
    /// The output interface (RTA_OIF); nil for a multipath route and for types without one.
    package var interface: Int32?
    /// The next router (RTA_GATEWAY, or RTA_VIA where it has the other family).
    package var gateway: IPAddress?
    /// The source address the kernel would choose (RTA_PREFSRC).
    package var source: IPAddress?
    /// The route's own destination prefix length: 0 default, 1 half, 32 or 128 host.
    package var prefixLength: Int
    /// The metric (RTA_PRIORITY): the lowest wins.
    ///
    /// Only a lookup that asks for the FIB entry carries it.
    package var metric: UInt32
    /// The routing table.
    package var table: UInt32
    /// The legs of a multipath route (RTA_MULTIPATH).
    package var legs: [Leg]
    /// Hundredths of a second until the route expires (RTA_CACHEINFO counts in USER_HZ), for IPv6 routes learnt
    /// from router advertisements; 0 for never, negative once expired.
    package var expires: Int32?
    /// The nexthop object (RTA_NH_ID).
    package var nexthop: UInt32?

    package init(
        kind: Kind, interface: Int32? = nil, gateway: IPAddress? = nil, source: IPAddress? = nil,
        prefixLength: Int = 0, metric: UInt32 = 0, table: UInt32 = 254, legs: [Leg] = [],
        expires: Int32? = nil,
        nexthop: UInt32? = nil
    ) {
        self.kind = kind
        self.interface = interface
        self.gateway = gateway
        self.source = source
        self.prefixLength = prefixLength
        self.metric = metric
        self.table = table
        self.legs = legs
        self.expires = expires
        self.nexthop = nexthop
    }

    /// The source address, where others can answer to it.
    ///
    /// While every IPv6 address of the link is tentative, the kernel falls back to ::1, which no address check holds up
    /// (ipv6_dev_get_saddr(), net/ipv6/addrconf.c): what is sent from there is dropped by the first who gets it.
    package var sender: IPAddress? { source.flatMap { $0.isLoopback ? nil : $0 } }
}

extension IPAddress {
    /// Whether what is sent from this source to `destination` gets no further than the link.
    ///
    /// A router does not forward link-local sources (RFC 4291 §2.5.6, RFC 3927 §2.7). Where a route names a gateway for one of IPv4,
    /// that gateway translates it: guests of clouds and microVMs are set up like that.
    func isLinkOnlySource(for destination: IPAddress, gateway: IPAddress?) -> Bool {
        isLinkLocal && !destination.staysOnLink && (family == .ipv6 || gateway == nil)
    }
}
