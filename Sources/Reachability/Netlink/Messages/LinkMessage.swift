// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The content of an RTM_NEWLINK or RTM_DELLINK message (rtnetlink(7), linux/if_link.h).
package struct LinkMessage: Sendable, Equatable {
    /// AF_UNSPEC is about the link itself, AF_BRIDGE about a bridge port, AF_INET6 about router discovery.
    package let family: UInt8
    /// The link, with defaults for missing attributes: see `isWireless`.
    package let link: LinkState
    /// Whether it carries only a driver's wireless event (IFLA_WIRELESS) and the name.
    package let isWireless: Bool

    /// Reads the message's body; nil if it is malformed.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.link,
            let family = bytes.integer(UInt8.self, at: body.lowerBound),
            let hardwareType = bytes.integer(UInt16.self, at: body.lowerBound + 2),
            let index = bytes.integer(Int32.self, at: body.lowerBound + 4),
            let flags = bytes.integer(UInt32.self, at: body.lowerBound + 8)
        else { return nil }
        var link = LinkState(
            index: index, name: "", flags: .init(rawValue: flags), hardwareType: hardwareType)
        var isWireless = false
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.link)
        while let attribute = attributes.next(in: bytes) {
            let payload = attribute.payload
            switch attribute.type {
            case IFLA_IFNAME: link.name = bytes.text(in: payload)
            case IFLA_OPERSTATE:
                guard let state = bytes.integer(UInt8.self, in: payload) else { return nil }
                link.operationalState = LinkState.OperationalState(rawValue: state) ?? .down
            case IFLA_MASTER: link.master = bytes.integer(Int32.self, in: payload).flatMap(Self.index)
            case IFLA_LINK: link.lower = bytes.integer(Int32.self, in: payload).flatMap(Self.index)
            case IFLA_LINK_NETNSID: link.lowerIsElsewhere = true
            case IFLA_CARRIER_UP_COUNT: link.carrierUpCount = bytes.integer(UInt32.self, in: payload) ?? 0
            case IFLA_CARRIER_DOWN_COUNT: link.carrierDownCount = bytes.integer(UInt32.self, in: payload) ?? 0
            case IFLA_WIRELESS: isWireless = true
            case IFLA_MTU: link.mtu = bytes.integer(UInt32.self, in: payload)
            case IFLA_PROTO_DOWN: link.isProtocolDown = bytes.integer(UInt8.self, in: payload) ?? 0 != 0
            // Only a message of AF_BRIDGE tells of a port's new state (br_ifinfo_notify(), net/bridge).
            case IFLA_PROTINFO where family == AddressFamily.bridge:
                guard Self.readBridgePort(payload, in: bytes, into: &link) else { return nil }
            // AF_BRIDGE messages use this attribute for other data.
            case IFLA_AF_SPEC where family == AddressFamily.unspecified:
                guard Self.readIPv6(payload, in: bytes, into: &link) else { return nil }
            case IFLA_LINKINFO:
                guard Self.readKind(payload, in: bytes, into: &link) else { return nil }
            default: break
            }
        }
        guard !attributes.isMalformed else { return nil }
        // The index belongs to the other namespace; in this one it may be another interface.
        if link.lowerIsElsewhere { link.lower = nil }
        self.family = family
        self.link = link
        self.isWireless = isWireless
    }

    private static func index(_ number: Int32) -> Int32? { number > 0 ? number : nil }

    /// Reads IFLA_LINKINFO: the kind, and the active port of a bond; false if it is malformed.
    private static func readKind(_ range: Range<Int>, in bytes: RawSpan, into link: inout LinkState) -> Bool {
        var data: Range<Int>?
        var port: Range<Int>?
        var isBridgePort = false
        var attributes = NetlinkAttributes(range)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case IFLA_INFO_KIND: link.kind = bytes.text(in: attribute.payload)
            case IFLA_INFO_DATA: data = attribute.payload
            case IFLA_INFO_SLAVE_KIND: isBridgePort = bytes.text(in: attribute.payload) == "bridge"
            case IFLA_INFO_SLAVE_DATA: port = attribute.payload
            default: break
            }
        }
        guard !attributes.isMalformed else { return false }
        if isBridgePort, let port, !readBridgePort(port, in: bytes, into: &link) { return false }
        // The meaning of the data depends on the kind.
        guard let kind = link.kind, let data else { return true }
        let ends = remoteEnds(of: kind)
        guard kind == "bond" || !ends.isEmpty else { return true }
        var details = NetlinkAttributes(data)
        while let detail = details.next(in: bytes) {
            if ends.contains(detail.type) {
                link.remote = remote(detail.payload, in: bytes) ?? link.remote
            } else if kind == "bond", detail.type == IFLA_BOND_ACTIVE_SLAVE {
                link.activePort = bytes.integer(Int32.self, in: detail.payload).flatMap(index)
            }
        }
        return !details.isMalformed
    }

    /// Reads IFLA_INFO_SLAVE_DATA of a bridge port; false if it is malformed.
    private static func readBridgePort(
        _ range: Range<Int>, in bytes: RawSpan, into link: inout LinkState
    ) -> Bool {
        var attributes = NetlinkAttributes(range)
        while let attribute = attributes.next(in: bytes) {
            guard attribute.type == IFLA_BRPORT_STATE else { continue }
            link.bridgePortState = bytes.integer(UInt8.self, in: attribute.payload)
                .flatMap(LinkState.BridgePortState.init)
            return true
        }
        return !attributes.isMalformed
    }

    /// Reads the IPv6 settings in IFLA_AF_SPEC; false if it is malformed.
    private static func readIPv6(_ range: Range<Int>, in bytes: RawSpan, into link: inout LinkState) -> Bool {
        var families = NetlinkAttributes(range)
        while let family = families.next(in: bytes) {
            guard family.type == Int(AddressFamily.inet6) else { continue }
            var attributes = NetlinkAttributes(family.payload)
            while let attribute = attributes.next(in: bytes) {
                guard attribute.type == IFLA_INET6_CONF else { continue }
                // DEVCONF_FORWARDING, DEVCONF_ACCEPT_RA and DEVCONF_DISABLE_IPV6; linux/ipv6.h conflicts with
                // the headers of the C library.
                func setting(_ number: Int) -> Int32? {
                    let offset = attribute.payload.lowerBound + 4 * number
                    guard offset + 4 <= attribute.payload.upperBound else { return nil }
                    return bytes.integer(Int32.self, at: offset)
                }
                guard let forwarding = setting(0), let advertisements = setting(3),
                    let disabled = setting(26)
                else { return true }
                link.ipv6 = LinkState.IPv6Settings(
                    isDisabled: disabled != 0, forwards: forwarding != 0,
                    acceptsAdvertisements: advertisements)
                return true
            }
            return !attributes.isMalformed
        }
        return !families.isMalformed
    }

    /// The attributes with the remote end of a tunnel of that kind.
    ///
    /// Some are numbers here, because linux/if_tunnel.h conflicts with the headers of the C library.
    private static func remoteEnds(of kind: String) -> [Int] {
        switch kind {
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan": [7]
        case "ipip", "sit", "ip6tnl": [3]
        case "vti", "vti6": [5]
        case "vxlan": [IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6]
        case "geneve": [IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6]
        default: []
        }
    }

    /// A single address; nil for a group and for none, which both mean that there is no single remote end.
    private static func remote(_ payload: Range<Int>, in bytes: RawSpan) -> IPAddress? {
        IPAddress(raw: bytes.extracting(payload)).flatMap { $0.isUnspecified || $0.isMulticast ? nil : $0 }
    }
}

extension InterfaceAddress {
    /// Reads the body of an RTM_NEWADDR or RTM_DELADDR message (rtnetlink(7), linux/if_addr.h); nil if it is
    /// malformed, or of a family other than IPv4 and IPv6.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.address,
            let family = bytes.integer(UInt8.self, at: body.lowerBound),
            let prefixLength = bytes.integer(UInt8.self, at: body.lowerBound + 1),
            let oldFlags = bytes.integer(UInt8.self, at: body.lowerBound + 2),
            let index = bytes.integer(UInt32.self, at: body.lowerBound + 4),
            let interface = Int32(exactly: index)
        else { return nil }
        var flags = UInt32(oldFlags)
        var local: IPAddress?
        var remote: IPAddress?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.address)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            // On a point-to-point interface IFA_ADDRESS is the remote end.
            case IFA_LOCAL: local = bytes.address(family: family, in: attribute.payload)
            case IFA_ADDRESS: remote = bytes.address(family: family, in: attribute.payload)
            case IFA_FLAGS: flags = bytes.integer(UInt32.self, in: attribute.payload) ?? flags
            default: break
            }
        }
        guard !attributes.isMalformed, let address = local ?? remote, prefixLength <= address.bitWidth
        else { return nil }
        self.init(
            interface: interface, address: address, prefixLength: Int(prefixLength),
            flags: Flags(rawValue: flags))
    }
}
