// SPDX-License-Identifier: Apache-2.0

/// The kind of a network interface itself, regardless of the medium underneath.
///
/// A tunnel over Wi-Fi is ``tunnel`` here; the status follows the medium underneath (`wifi`).
public enum Medium: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Ethernet, and any physical link of no other kind.
    case ethernet
    /// IEEE 802.11, in station mode.
    case wifi
    /// A mobile network modem: wwan, rmnet, raw IP.
    case cellular
    /// A VPN or encapsulation: WireGuard, tun, GRE, IPIP, VXLAN …
    case tunnel
    /// A Linux software bridge.
    case bridge
    /// A bond or team of links.
    case bond
    /// An IEEE 802.1Q sub-interface.
    case vlan
    /// Another virtual link: veth, macvlan, ipvlan, dummy, tap …
    case virtual
    /// The loopback interface.
    case loopback
    /// None of these: PPP, Bluetooth …
    case other

    /// The lower-case word used in JSON.
    public var description: String { rawValue }
}
