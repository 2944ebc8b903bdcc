// SPDX-License-Identifier: Apache-2.0

/// Something the evaluation wants to know from the kernel.
///
/// Nothing in it is counted (strings, arrays, objects), so that it is copied by its bytes.
package enum KernelQuestion: Sendable, Hashable {
    /// How an address would be reached.
    case route(RouteLookup)
    /// One interface by its index.
    case link(Int32)
    /// One interface by its name.
    case linkNamed(LinkName)
    /// All interfaces.
    case links
    /// The ports of a bridge, bond or team.
    case ports(master: Int32)
    /// All addresses of all interfaces.
    case addresses
    /// What nl80211 says of an interface.
    case wireless(Int32)
    /// What the device says of itself outside netlink (sysfs, WEXT, rfkill).
    case device(Int32, name: LinkName)
    /// What the policy rules set apart from the rest.
    case exemptions
}

/// A route lookup (RTM_GETROUTE without NLM_F_DUMP).
package struct RouteLookup: Sendable, Hashable {
    /// Where to.
    package var destination: IPAddress
    /// Only through this interface (RTA_OIF); 0 for any.
    package var interface: Int32
    /// Sent from this address (RTA_SRC); nil to leave the choice to the route.
    ///
    /// Without it no IPv6 route or rule for one prefix of sources alone is found (`from` in ip-route(8) and ip-rule(8)).
    package var source: IPAddress?
    /// Ask for the FIB entry itself instead of one resolved next hop (RTM_F_FIB_MATCH, Linux 4.13).
    ///
    /// Only then does IPv4 answer truthfully for one interface, and only then are metric, legs and expiry told.
    package var wantsEntry: Bool
    /// The firewall mark of the traffic (RTA_MARK); 0 for none.
    package var mark: UInt32
    /// The user the traffic belongs to (RTA_UID); nil for the asking process's own.
    package var user: UInt32?

    package init(
        destination: IPAddress, interface: Int32 = 0, source: IPAddress? = nil, wantsEntry: Bool = false,
        mark: UInt32 = 0, user: UInt32? = nil
    ) {
        self.destination = destination
        self.interface = interface
        self.source = source
        self.wantsEntry = wantsEntry
        self.mark = mark
        self.user = user
    }

    /// The same lookup for the FIB entry.
    package var entry: RouteLookup {
        var lookup = self
        lookup.wantsEntry = true
        return lookup
    }

    /// The same lookup for packets from that address.
    package func from(_ source: IPAddress) -> RouteLookup {
        var lookup = self
        lookup.source = source
        return lookup
    }
}
