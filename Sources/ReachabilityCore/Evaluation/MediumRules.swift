// SPDX-License-Identifier: Apache-2.0

/// The roles of links by driver: the one table for everything that depends on IFLA_INFO_KIND.
package enum MediumRules {
    /// The role of a kind of link for packets.
    package enum Role: Sendable, Equatable {
        /// Encapsulates packets and needs an underlay.
        case tunnel
        /// Stacked on one link (IFLA_LINK).
        case stacked(Medium)
        /// Made of ports.
        case aggregate(Medium)
        /// Virtual, with no link underneath.
        case standalone(Medium)
        /// Drops every packet: used for addresses, captures or other protocols.
        case sink
        /// Hardware or an unknown kind; the device has to be asked.
        case device
    }

    /// ARPHRD_CAN, ARPHRD_NETLINK and ARPHRD_VSOCKMON (linux/if_arp.h): these carry no IP.
    private static let withoutIP: Set<UInt16> = [280, 824, 826]
    /// ARPHRD_PPP, ARPHRD_RAWIP and ARPHRD_NONE (linux/if_arp.h).
    private static let pointToPointProtocol: UInt16 = 512
    private static let rawIP: UInt16 = 519
    private static let none: UInt16 = 0xFFFE

    /// The role of a link; ``LinkState/role`` stores it.
    static func role(of link: LinkState) -> Role {
        if link.isLoopback { return .standalone(.loopback) }
        if withoutIP.contains(link.hardwareType) { return .sink }
        switch link.kind {
        case "wireguard", "ipip", "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan", "sit",
            "ip6tnl", "vti", "vti6", "xfrm", "vxlan", "geneve", "fou", "gtp", "bareudp", "ovpn", "ovpn-dco",
            "amt":
            return .tunnel
        case "tun":
            // IFF_TUN has no link layer; IFF_TAP looks like Ethernet and is a cable to a program or a guest.
            return link.hardwareType == none ? .tunnel : .standalone(.virtual)
        case "vlan": return .stacked(.vlan)
        case "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "hsr", "dsa": return .stacked(.virtual)
        case "bridge": return .aggregate(.bridge)
        case "bond", "team": return .aggregate(.bond)
        // IFLA_LINK of a veth is its peer, not a lower link.
        case "veth", "netkit", "vrf", "netdevsim": return .standalone(.virtual)
        // dummy_xmit() and ifb_xmit() (drivers/net) free packets from the stack: ifb forwards only what tc
        // redirects to it.
        case "dummy", "ifb", "nlmon", "vsockmon", "vcan", "vxcan": return .sink
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

    /// Whether `master` receives the packets of its ports, so that no answer arrives at a port itself.
    ///
    /// Ports of a bridge, bond or team, of Open vSwitch and of a failover pair (no kind: netvsc,
    /// net_failover) have an rx_handler (net/core/dev.c); those of a VRF and of batman-adv have none.
    static func receivesForPorts(_ master: LinkState) -> Bool {
        switch master.role {
        case .aggregate: true
        case .device: master.kind == nil || master.kind == "openvswitch"
        default: false
        }
    }

    /// The depth of stacked devices that is followed (VLAN on bond on …).
    package static let maximumDepth = 6
}
