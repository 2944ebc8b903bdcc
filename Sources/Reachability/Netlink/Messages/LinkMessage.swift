// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// What an RTM_NEWLINK or RTM_DELLINK message says (rtnetlink(7), linux/if_link.h).
package struct LinkMessage: Sendable, Equatable {
    /// The family: only messages of AF_UNSPEC speak of the link itself.
    ///
    /// With AF_BRIDGE the message is about a bridge port ("deleted" is a port that left), with AF_INET6 about
    /// router discovery.
    package let family: UInt8
    /// The link; where a message has few attributes the others have their defaults: see `isWireless`.
    package let link: LinkState
    /// Whether it carries a driver's wireless event (IFLA_WIRELESS) and beyond that the name alone.
    package let isWireless: Bool

    /// Reads the message's body; nil where it is malformed.
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
            // In messages of AF_BRIDGE other attributes are in it.
            case IFLA_AF_SPEC where family == AddressFamily.unspecified:
                guard Self.readIPv6(payload, in: bytes, into: &link) else { return nil }
            case IFLA_LINKINFO:
                guard Self.readKind(payload, in: bytes, into: &link) else { return nil }
            default: break
            }
        }
        guard !attributes.isMalformed else { return nil }
        // The number means an interface there, and here perhaps another one.
        if link.lowerIsElsewhere { link.lower = nil }
        self.family = family
        self.link = link
        self.isWireless = isWireless
    }

    private static func index(_ number: Int32) -> Int32? { number > 0 ? number : nil }

    /// Reads IFLA_LINKINFO: the kind, and of a bond which link it uses; false where it is malformed.
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
        if isBridgePort, let port {
            guard readBridgePort(port, in: bytes, into: &link) else { return false }
        }
        // What the data means depends on the kind.
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

    /// Reads IFLA_INFO_SLAVE_DATA of a bridge's port; false where it is malformed.
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

    /// Reads the settings of IPv6 in IFLA_AF_SPEC; false where it is malformed.
    private static func readIPv6(_ range: Range<Int>, in bytes: RawSpan, into link: inout LinkState) -> Bool {
        var families = NetlinkAttributes(range)
        while let family = families.next(in: bytes) {
            guard family.type == Int(AddressFamily.inet6) else { continue }
            var attributes = NetlinkAttributes(family.payload)
            while let attribute = attributes.next(in: bytes) {
                guard attribute.type == IFLA_INET6_CONF else { continue }
                // DEVCONF_FORWARDING, DEVCONF_ACCEPT_RA and DEVCONF_DISABLE_IPV6; linux/ipv6.h does not go together
                // with the headers of the C library.
                func setting(_ number: Int) -> Int32? {
                    let place = attribute.payload.lowerBound + 4 * number
                    guard place + 4 <= attribute.payload.upperBound else { return nil }
                    return bytes.integer(Int32.self, at: place)
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

    /// The attributes that name the other end of a tunnel of that kind.
    ///
    /// Those of linux/if_tunnel.h are numbers here, since that header does not go together with those of the C library:
    /// IFLA_GRE_REMOTE, IFLA_IPTUN_REMOTE, IFLA_VTI_REMOTE.
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

    /// One address; nil for a group of them, and for none, which both mean that there is no single other end.
    private static func remote(_ payload: Range<Int>, in bytes: RawSpan) -> IPAddress? {
        guard let address = IPAddress(raw: bytes.extracting(payload)), !address.isUnspecified,
            !address.isMulticast
        else { return nil }
        return address
    }
}
