// SPDX-License-Identifier: Apache-2.0

/// The kernel's description of one network interface (RTM_NEWLINK, rtnetlink(7)).
package struct LinkState: Sendable, Equatable {
    /// The operational state of RFC 2863 with the kernel's numbers (IF_OPER_*, linux/if.h).
    package enum OperationalState: UInt8, Sendable, Equatable {
        case unknown = 0, notPresent, down, lowerLayerDown, testing, dormant, up
    }

    /// The relevant flags of `struct ifinfomsg` (netdevice(7)).
    package struct Flags: OptionSet, Sendable, Equatable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// IFF_UP: the interface is switched on.
        package static let up = Flags(rawValue: 1 << 0)
        /// IFF_LOOPBACK.
        package static let loopback = Flags(rawValue: 1 << 3)
        /// IFF_POINTOPOINT.
        package static let pointToPoint = Flags(rawValue: 1 << 4)
        /// IFF_RUNNING: the operational state is up or unknown.
        package static let running = Flags(rawValue: 1 << 6)
        /// IFF_LOWER_UP: there is a carrier.
        package static let lowerUp = Flags(rawValue: 1 << 16)
        /// IFF_DORMANT: waiting for an external event, for example 802.1X.
        package static let dormant = Flags(rawValue: 1 << 17)
    }

    /// The interface index, unique within the network namespace; the kernel may reuse it after removal.
    package var index: Int32
    /// The name, for example `eth0`.
    package var name: String { didSet { role = MediumRules.role(of: self) } }
    package var flags: Flags { didSet { role = MediumRules.role(of: self) } }
    /// The operational state; unknown numbers of later kernels are read as `down`.
    package var operationalState: OperationalState
    /// The link-layer type (ARPHRD_*, linux/if_arp.h): 1 is Ethernet, 772 loopback, 65534 none.
    package var hardwareType: UInt16 { didSet { role = MediumRules.role(of: self) } }
    /// IFLA_INFO_KIND: the driver's name for a virtual device ("vlan", "bridge" …); nil for hardware.
    package var kind: String? { didSet { role = MediumRules.role(of: self) } }
    /// IFLA_MASTER: the bridge, bond or VRF that this link is a port of.
    package var master: Int32?
    /// IFLA_LINK: the device underneath, if it is in the same network namespace.
    package var lower: Int32?
    /// Whether IFLA_LINK points into another network namespace (IFLA_LINK_NETNSID).
    package var lowerIsElsewhere: Bool
    /// The remote end of a tunnel to a single address (IFLA_GRE_REMOTE …), if the kernel reports one.
    package var remote: IPAddress?
    /// The active port of a bond (IFLA_BOND_ACTIVE_SLAVE).
    package var activePort: Int32?
    /// IFLA_CARRIER_UP_COUNT and IFLA_CARRIER_DOWN_COUNT: they reveal flaps whose messages were lost.
    package var carrierUpCount: UInt32
    package var carrierDownCount: UInt32
    /// IFLA_MTU in bytes; nil if not reported.
    package var mtu: UInt32?
    /// IFLA_PROTO_DOWN: a program holds the link down, regardless of the carrier.
    package var isProtocolDown = false
    /// IFLA_BRPORT_STATE of a bridge port.
    package var bridgePortState: BridgePortState?
    /// IFLA_INET6_CONF; nil if the link has no IPv6, or it is not reported.
    package var ipv6: IPv6Settings?
    /// The role of its kind for packets; stored, because an evaluation reads it many times.
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

    /// The state of a bridge port (BR_STATE_*, linux/if_bridge.h); only `forwarding` lets packets pass.
    package enum BridgePortState: UInt8, Sendable, Hashable {
        case disabled = 0, listening, learning, forwarding, blocking
    }

    /// The IPv6 settings of a link that decide whether it gets addresses and routers (ip-sysctl).
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

        /// Whether the link ignores router advertisements because it forwards (ipv6_accept_ra(), net/ipv6.h).
        package var ignoresAdvertisements: Bool { forwards && acceptsAdvertisements == 1 }
    }

    package var isLoopback: Bool { flags.contains(.loopback) }
}
