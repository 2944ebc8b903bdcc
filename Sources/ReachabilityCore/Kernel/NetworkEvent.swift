// SPDX-License-Identifier: Apache-2.0

/// Something happened to the network.
///
/// A trigger to ask the kernel again, never the truth itself.
package enum NetworkEvent: Sendable, Equatable {
    /// A link appeared or changed. `isWirelessNoise` marks messages that carry only a driver's wireless event.
    case linkChanged(LinkState, isWirelessNoise: Bool)
    /// A link is gone, or was moved into another network namespace.
    case linkRemoved(index: Int32)
    case addressAdded(InterfaceAddress)
    case addressRemoved(InterfaceAddress)
    /// A route that may matter was added, replaced or removed.
    ///
    /// `through` is the one interface that it leads out of, where nothing but lookups of that interface and of none
    /// can be answered otherwise now; nil where that is not so, or is not known.
    case routeAdded(IPPrefix, through: Int32? = nil)
    case routeRemoved(IPPrefix, through: Int32? = nil)
    /// A policy rule was added or removed.
    case ruleChanged(IPAddress.Family)
    /// A setting that lookups depend on was changed: forwarding, or whether routes over a link without carrier are
    /// ignored (ip-netconf(8)).
    case settingChanged(IPAddress.Family)
    /// A nexthop object was added, replaced or removed.
    case nexthopChanged(UInt32)
    /// An IPv6 router of this interface answers no more, or answers again (neighbour unreachability detection, RFC 4861 §7.3).
    ///
    /// The kernel turns to another router then (§6.3.6), without a word about routes.
    case routerChanged(interface: Int32)
    /// nl80211 told of a connection, a disconnection or roaming.
    case wirelessChanged(index: Int32)
    /// The receive buffer overflowed: events were lost (ENOBUFS, netlink(7)).
    case overrun
    /// The socket was broken and has been opened again.
    case reopened
    /// The machine woke up after having slept this long.
    case resumed(after: Duration)
    /// The addresses of the watched host are known, or have changed.
    case destinationsChanged
    /// Somebody wants an evaluation now: a request failed, or a command asks.
    case requested
}
