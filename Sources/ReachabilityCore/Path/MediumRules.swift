// SPDX-License-Identifier: Apache-2.0

/// What kind of link each driver makes: one table for everything that depends on IFLA_INFO_KIND.
package enum MediumRules {
    /// What a kind means for the way of the packets.
    package enum Role: Sendable, Equatable {
        /// Encapsulates and needs another path underneath.
        case tunnel
        /// Stacked upon one link (IFLA_LINK).
        case stacked(Medium)
        /// Made of ports.
        case aggregate(Medium)
        /// Virtual and on its own: nothing lies underneath.
        case standalone(Medium)
        /// Hardware, or a kind unknown here: the device itself has to be asked.
        case device
    }

    /// ARPHRD_PPP, ARPHRD_RAWIP and ARPHRD_NONE (linux/if_arp.h).
    private static let pointToPointProtocol: UInt16 = 512
    private static let rawIP: UInt16 = 519
    private static let none: UInt16 = 0xFFFE

    /// The role of a link, from its kind; ``LinkState/role`` keeps it.
    static func role(of link: LinkState) -> Role {
        if link.isLoopback { return .standalone(.loopback) }
        switch link.kind {
        case "wireguard", "ipip", "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan", "sit",
            "ip6tnl",
            "vti", "vti6", "xfrm", "vxlan", "geneve", "fou", "gtp", "bareudp", "ovpn", "ovpn-dco", "amt":
            return .tunnel
        case "tun":
            // IFF_TUN has no link layer; IFF_TAP looks like Ethernet and is a cable to a program or a guest.
            return link.hardwareType == none ? .tunnel : .standalone(.virtual)
        case "vlan": return .stacked(.vlan)
        case "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "hsr", "dsa": return .stacked(.virtual)
        case "bridge": return .aggregate(.bridge)
        case "bond", "team": return .aggregate(.bond)
        // IFLA_LINK of a veth is its other end, not what carries it.
        case "veth", "dummy", "ifb", "netkit", "nlmon", "vcan", "vxcan", "vrf", "netdevsim":
            return .standalone(.virtual)
        case "rmnet", "wwan": return .standalone(.cellular)
        case "ppp": return .standalone(.other)
        // The nat46 module of OpenWrt names no kind.
        case nil where link.name.hasPrefix("464-"): return .tunnel
        default:
            if link.hardwareType == rawIP { return .standalone(.cellular) }
            // PPP runs over serial modems and over Ethernet (PPPoE) alike.
            if link.hardwareType == pointToPointProtocol { return .standalone(.other) }
            return .device
        }
    }

    /// How deep devices may be stacked before the evaluation stops looking (VLAN on bond on … ).
    package static let maximumDepth = 6
}
