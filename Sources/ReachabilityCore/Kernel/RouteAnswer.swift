// SPDX-License-Identifier: Apache-2.0

/// The kernel's answer to a route lookup (RTM_GETROUTE, rtnetlink(7)).
package struct RouteAnswer: Sendable, Equatable {
    /// The route types (RTN_*, linux/rtnetlink.h); `other` holds the numbers of later kernels.
    package enum Kind: Sendable, Equatable {
        case unicast, local, broadcast, anycast, multicast, blackhole, unreachable, prohibit, `throw`
        case other(UInt8)

        /// Whether it leads to several hosts of the link.
        package var isForSeveral: Bool { self == .multicast || self == .broadcast }
    }

    /// A next hop of a multipath route.
    package struct Leg: Sendable, Equatable {
        package var interface: Int32
        /// The next router; nil if the destination is on the link.
        package var gateway: IPAddress?
        /// RTNH_F_DEAD: the kernel does not use this leg.
        package var isDead: Bool
        /// RTNH_F_LINKDOWN: the interface has no carrier.
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

    /// RT_TABLE_MAIN (linux/rtnetlink.h): the table of routes without an explicit table.
    package static let mainTable: UInt32 = 254

    package var kind: Kind
    /// The output interface (RTA_OIF); nil for a multipath route and for types without one.
    package var interface: Int32?
    /// The next router (RTA_GATEWAY, or RTA_VIA for one of the other family).
    package var gateway: IPAddress?
    /// The source address the kernel would choose (RTA_PREFSRC).
    package var source: IPAddress?
    /// The length of the route's own prefix: 0 default, 1 half, 32 or 128 host.
    package var prefixLength: Int
    /// The metric (RTA_PRIORITY), returned by lookups of the FIB entry only; the lowest wins.
    package var metric: UInt32
    package var table: UInt32
    /// The legs of a multipath route (RTA_MULTIPATH).
    package var legs: [Leg]
    /// Hundredths of a second until the route expires (RTA_CACHEINFO counts in USER_HZ), for IPv6 routes
    /// learnt from router advertisements; 0 for never, negative once expired.
    package var expires: Int32?
    /// The nexthop object (RTA_NH_ID).
    package var nexthop: UInt32?

    package init(
        kind: Kind, interface: Int32? = nil, gateway: IPAddress? = nil, source: IPAddress? = nil,
        prefixLength: Int = 0, metric: UInt32 = 0, table: UInt32 = 254, legs: [Leg] = [],
        expires: Int32? = nil, nexthop: UInt32? = nil
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
}
