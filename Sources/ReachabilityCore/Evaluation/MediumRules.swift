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

    /// By IFLA_INFO_KIND; `tun` is missing because IFF_TUN and IFF_TAP share that kind.
    private static let roles: [String: Role] = [
        "wireguard": .tunnel, "ipip": .tunnel, "gre": .tunnel, "gretap": .tunnel, "erspan": .tunnel,
        "ip6gre": .tunnel, "ip6gretap": .tunnel, "ip6erspan": .tunnel, "sit": .tunnel, "ip6tnl": .tunnel,
        "vti": .tunnel, "vti6": .tunnel, "xfrm": .tunnel, "vxlan": .tunnel, "geneve": .tunnel, "fou": .tunnel,
        "gtp": .tunnel, "bareudp": .tunnel, "ovpn": .tunnel, "ovpn-dco": .tunnel, "amt": .tunnel,
        "vlan": .stacked(.vlan),
        "macvlan": .stacked(.virtual), "macvtap": .stacked(.virtual), "ipvlan": .stacked(.virtual),
        "ipvtap": .stacked(.virtual), "macsec": .stacked(.virtual), "hsr": .stacked(.virtual),
        "dsa": .stacked(.virtual),
        "bridge": .aggregate(.bridge),
        "bond": .aggregate(.bond), "team": .aggregate(.bond),
        // IFLA_LINK of a veth is its peer, not a lower link.
        "veth": .standalone(.virtual), "netkit": .standalone(.virtual), "vrf": .standalone(.virtual),
        "netdevsim": .standalone(.virtual),
        // dummy_xmit() and ifb_xmit() (drivers/net) free packets from the stack: ifb forwards only what tc
        // redirects to it.
        "dummy": .sink, "ifb": .sink, "nlmon": .sink, "vsockmon": .sink, "vcan": .sink, "vxcan": .sink,
        "rmnet": .standalone(.cellular), "wwan": .standalone(.cellular),
        "ppp": .standalone(.other),
    ]

    /// The role of a link; ``LinkState/role`` stores it.
    static func role(of link: LinkState) -> Role {
        if link.isLoopback { return .standalone(.loopback) }
        switch link.hardwareType {
        // ARPHRD_CAN, ARPHRD_NETLINK and ARPHRD_VSOCKMON (linux/if_arp.h): these carry no IP.
        case 280, 824, 826: return .sink
        default: break
        }
        switch link.kind {
        // IFF_TUN has no link layer (ARPHRD_NONE); IFF_TAP is a cable to a program or a guest.
        case "tun": return link.hardwareType == 0xFFFE ? .tunnel : .standalone(.virtual)
        // The nat46 module of OpenWrt names no kind.
        case nil where link.name.hasPrefix("464-"): return .tunnel
        case let kind: return kind.flatMap { roles[$0] } ?? role(ofHardware: link.hardwareType)
        }
    }

    /// The role of a link of no known kind.
    private static func role(ofHardware type: UInt16) -> Role {
        switch type {
        // ARPHRD_RAWIP.
        case 519: .standalone(.cellular)
        // ARPHRD_PPP: runs over serial modems and over Ethernet (PPPoE) alike.
        case 512: .standalone(.other)
        default: .device
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
