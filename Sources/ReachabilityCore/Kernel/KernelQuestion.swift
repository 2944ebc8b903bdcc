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
    /// What the policy rules of both families look at, and set apart.
    case rules
    /// What nl80211 says of an interface.
    case wireless(Int32)
    /// What the device says of itself outside netlink (sysfs, WEXT, rfkill).
    case device(Int32, name: LinkName)
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
    /// The TCP port at the destination (RTA_IP_PROTO, RTA_DPORT; Linux 4.18); 0 to leave out protocol and ports.
    ///
    /// An older kernel passes over these attributes, and reads no request strictly.
    package var port: UInt16
    /// The TCP port at the source (RTA_SPORT), beside ``port``; 0 for none.
    package var sourcePort: UInt16

    package init(
        destination: IPAddress, interface: Int32 = 0, source: IPAddress? = nil, wantsEntry: Bool = false,
        mark: UInt32 = 0, user: UInt32? = nil, port: UInt16 = 0, sourcePort: UInt16 = 0
    ) {
        self.destination = destination
        self.interface = interface
        self.source = source
        self.wantsEntry = wantsEntry
        self.mark = mark
        self.user = user
        self.port = port
        self.sourcePort = sourcePort
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
