// SPDX-License-Identifier: Apache-2.0

/// The obstacle to remove on a link, if more is known than the reason's code.
package enum LinkObstacle: Sendable, Hashable {
    /// Packets cannot leave through the link.
    case link(LinkUsability)
    /// IPv6 is off because the MTU is below 1280 (RFC 8200 §5; addrconf_notify(), net/ipv6/addrconf.c).
    case smallMTU(UInt32)
    /// IPv6 is off because `disable_ipv6` is set.
    case ipv6Disabled
    /// The link forwards, and therefore ignores router advertisements.
    case ignoresAdvertisements

    /// The smallest MTU that carries IPv6.
    package static let smallestMTU: UInt32 = 1280

    /// The reason in its settings why a link gets no IPv6 address and router; nil if they are fine.
    package init?(ipv6Of link: LinkState) {
        // Tunnels get no router advertisements.
        if case .tunnel = link.role { return nil }
        if let mtu = link.mtu, mtu < Self.smallestMTU {
            self = .smallMTU(mtu)
        } else if link.ipv6?.isDisabled == true {
            self = .ipv6Disabled
        } else if link.ipv6?.ignoresAdvertisements == true {
            self = .ignoresAdvertisements
        } else {
            return nil
        }
    }

    /// An addition to a sentence about the missing requirement; empty if the sentence is complete.
    package var addition: String {
        switch self {
        case .link: ""
        case .smallMTU(let mtu): " (IPv6 is off: the MTU of \(mtu) is below \(Self.smallestMTU))"
        case .ipv6Disabled: " (IPv6 is off: disable_ipv6 is set)"
        case .ignoresAdvertisements:
            " (router advertisements are ignored: it forwards, and accept_ra is 1)"
        }
    }
}
