// SPDX-License-Identifier: Apache-2.0

/// What a person has to change on a link, where more is known than the code of the reason says.
package enum LinkObstacle: Sendable, Hashable {
    /// Packets cannot leave through it.
    case link(LinkUsability)
    /// IPv6 is off: its MTU is below 1280 (RFC 8200 §5; addrconf_notify(), net/ipv6/addrconf.c).
    case smallMTU(UInt32)
    /// IPv6 is off: `disable_ipv6` is set.
    case ipv6Disabled
    /// It forwards, and so takes no router advertisements.
    case ignoresAdvertisements

    /// The smallest MTU that carries IPv6.
    package static let smallestMTU: UInt32 = 1280

    /// Why a link gets no IPv6 address and no IPv6 router, as far as its settings tell; nil where they are fine.
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

    /// What to add to a sentence that says what the link lacks; empty where the sentence says all.
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
