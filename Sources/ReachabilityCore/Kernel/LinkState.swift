// SPDX-License-Identifier: Apache-2.0

/// What the kernel says of one network interface (RTM_NEWLINK, rtnetlink(7)).
package struct LinkState: Sendable, Equatable {
    /// The operational state of RFC 2863, as the kernel numbers it (IF_OPER_*, linux/if.h).
    package enum OperationalState: UInt8, Sendable, Equatable {
        case unknown = 0, notPresent, down, lowerLayerDown, testing, dormant, up
    }

    /// Flags of `struct ifinfomsg` that count here (netdevice(7)).
    package struct Flags: OptionSet, Sendable, Equatable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// IFF_UP: somebody switched the interface on.
        package static let up = Flags(rawValue: 1 << 0)
        /// IFF_LOOPBACK.
        package static let loopback = Flags(rawValue: 1 << 3)
        /// IFF_POINTOPOINT.
        package static let pointToPoint = Flags(rawValue: 1 << 4)
        /// IFF_RUNNING: the operational state is up or unknown.
        package static let running = Flags(rawValue: 1 << 6)
        /// IFF_LOWER_UP: there is a carrier.
        package static let lowerUp = Flags(rawValue: 1 << 16)
        /// IFF_DORMANT: waiting for something outside, for example 802.1X.
        package static let dormant = Flags(rawValue: 1 << 17)
    }

    /// The interface index; unique within the network namespace, may be given again after removal.
    package var index: Int32
    /// The name, for example `eth0`.
    package var name: String
    /// The flags.
    package var flags: Flags {
        didSet { role = MediumRules.role(of: self) }
    }
    /// The operational state; numbers of later kernels read as `unknown`'s opposite, `down`.
    package var operationalState: OperationalState
    /// The link-layer type (ARPHRD_*, linux/if_arp.h): 1 is Ethernet, 772 loopback, 65534 none.
    package var hardwareType: UInt16 {
        didSet { role = MediumRules.role(of: self) }
    }
    /// IFLA_INFO_KIND: the driver's word for a virtual device ("vlan", "bridge", "wireguard" …); nil for hardware.
    package var kind: String? {
        didSet { role = MediumRules.role(of: self) }
    }
    /// IFLA_MASTER: the bridge, bond or VRF this link is a port of.
    package var master: Int32?
    /// IFLA_LINK: the device this one is stacked upon, where it lies in the same network namespace.
    package var lower: Int32?
    /// Whether IFLA_LINK points into another network namespace (IFLA_LINK_NETNSID).
    package var lowerIsElsewhere: Bool
    /// The other end of a tunnel to one address (IFLA_GRE_REMOTE, IFLA_IPTUN_REMOTE, IFLA_VXLAN_GROUP …); nil where there
    /// is none, or the kernel does not tell it.
    package var remote: IPAddress?
    /// The link that a bond uses at this moment (IFLA_BOND_ACTIVE_SLAVE).
    package var activePort: Int32?
    /// IFLA_CARRIER_UP_COUNT and IFLA_CARRIER_DOWN_COUNT; they show flaps whose messages were lost.
    package var carrierUpCount: UInt32
    package var carrierDownCount: UInt32
    /// IFLA_MTU in bytes; nil where it is not told.
    package var mtu: UInt32?
    /// IFLA_PROTO_DOWN: a program holds the link down, whatever the cable says.
    package var isProtocolDown = false
    /// IFLA_BRPORT_STATE, of a port of a bridge.
    package var bridgePortState: BridgePortState?
    /// IFLA_INET6_CONF; nil where the link has no IPv6, or it is not told.
    package var ipv6: IPv6Settings?
    /// What its kind means for the way of the packets; kept, because an evaluation asks for it many times.
    package private(set) var role: MediumRules.Role = .device

    package init(
        index: Int32, name: String, flags: Flags = [], operationalState: OperationalState = .unknown,
        hardwareType: UInt16 = 1, kind: String? = nil, master: Int32? = nil, lower: Int32? = nil,
        lowerIsElsewhere: Bool = false, remote: IPAddress? = nil, activePort: Int32? = nil,
        carrierUpCount: UInt32 = 0, carrierDownCount: UInt32 = 0
    ) {
        self.index = index
        self.name = name
        self.flags = flags
        self.operationalState = operationalState
        self.hardwareType = hardwareType
        self.kind = kind
        self.master = master
        self.lower = lower
        self.lowerIsElsewhere = lowerIsElsewhere
        self.remote = remote
        self.activePort = activePort
        self.carrierUpCount = carrierUpCount
        self.carrierDownCount = carrierDownCount
        role = MediumRules.role(of: self)
    }

    /// The state of a bridge's port (BR_STATE_*, linux/if_bridge.h); only one that forwards passes packets on.
    package enum BridgePortState: UInt8, Sendable, Hashable {
        case disabled = 0, listening, learning, forwarding, blocking
    }

    /// The settings of IPv6 on a link that decide whether it gets addresses and routers (net.ipv6.conf, ip-sysctl).
    package struct IPv6Settings: Sendable, Equatable {
        /// `disable_ipv6`.
        package var isDisabled: Bool
        /// `forwarding`.
        package var forwards: Bool
        /// `accept_ra`: 0 for never, 1 unless the link forwards, 2 for always.
        package var acceptsAdvertisements: Int32

        package init(isDisabled: Bool = false, forwards: Bool = false, acceptsAdvertisements: Int32 = 1) {
            self.isDisabled = isDisabled
            self.forwards = forwards
            self.acceptsAdvertisements = acceptsAdvertisements
        }

        /// Whether the kernel drops router advertisements because the link forwards (ipv6_accept_ra(), net/ipv6.h).
        package var ignoresAdvertisements: Bool { forwards && acceptsAdvertisements == 1 }
    }

    /// Whether this is a loopback interface.
    package var isLoopback: Bool { flags.contains(.loopback) }
}
