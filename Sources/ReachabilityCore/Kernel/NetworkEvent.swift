// SPDX-License-Identifier: Apache-2.0

/// A change of the network, which triggers an evaluation.
///
/// Routes are looked up then, and never read from an event.
package enum NetworkEvent: Sendable, Equatable {
    /// A link appeared or changed; `isWirelessNoise` marks a mere wireless event of a driver.
    case linkChanged(LinkState, isWirelessNoise: Bool)
    /// A link was removed, or moved into another network namespace.
    case linkRemoved(index: Int32)
    case addressAdded(InterfaceAddress)
    case addressRemoved(InterfaceAddress)
    /// A relevant route was added, replaced or removed.
    ///
    /// `through` is the output interface if only lookups bound to it, and unbound ones, are affected.
    case routeAdded(IPPrefix, through: Int32? = nil)
    case routeRemoved(IPPrefix, through: Int32? = nil)
    /// A policy rule was added or removed.
    case ruleChanged(IPAddress.Family)
    /// A setting that lookups depend on changed: forwarding, or whether routes over a link without carrier
    /// are ignored (ip-netconf(8)).
    case settingChanged(IPAddress.Family)
    /// A nexthop object was added, replaced or removed.
    case nexthopChanged(UInt32)
    /// An IPv6 router of this interface stopped or resumed answering (neighbour unreachability detection, RFC
    /// 4861 §7.3).
    ///
    /// The kernel then selects another router (§6.3.6), without a message about routes.
    case routerChanged(interface: Int32)
    /// nl80211 reported a connection, a disconnection or roaming.
    case wirelessChanged(index: Int32)
    /// The receive buffer overflowed: events were lost (ENOBUFS, netlink(7)).
    case overrun
    /// A broken socket was opened again.
    case reopened
    /// The machine woke up after a sleep of this length.
    case resumed(after: Duration)
    /// The addresses of the monitored host were found, or changed.
    case destinationsChanged
    /// A caller requested an evaluation: after a failed request, or for a command.
    case requested
}
