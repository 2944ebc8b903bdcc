// SPDX-License-Identifier: Apache-2.0

/// A question of the evaluation to the kernel, without reference-counted storage, so that copies are cheap.
package enum KernelQuestion: Sendable, Hashable {
    /// The route to an address.
    case route(RouteLookup)
    /// One interface by its index.
    case link(Int32)
    /// One interface by its name.
    case linkNamed(LinkName)
    case links
    /// The ports of a bridge, bond or team.
    case ports(master: Int32)
    /// All addresses of all interfaces.
    case addresses
    /// The selectors and exemptions of the policy rules of both families.
    case rules
    /// The nl80211 state of an interface.
    case wireless(Int32)
    /// The device's attributes outside netlink (sysfs, WEXT, rfkill).
    case device(Int32, name: LinkName)
    /// The interface's DHCP lease, if its server said that traffic costs (files of DHCP clients).
    case lease(Int32, name: LinkName)
}

/// A route lookup (RTM_GETROUTE without NLM_F_DUMP).
package struct RouteLookup: Sendable, Hashable {
    package var destination: IPAddress
    /// The output interface (RTA_OIF); 0 for any.
    package var interface: Int32
    /// The source address (RTA_SRC); nil to let the route choose it.
    ///
    /// Without it no IPv6 route or rule limited to a prefix of sources is found (`from`, ip-route(8)).
    package var source: IPAddress?
    /// Whether to return the FIB entry instead of one resolved next hop (RTM_F_FIB_MATCH, Linux 4.13).
    ///
    /// Without it IPv4 ignores the requested interface, and metric, legs and expiry are missing.
    package var wantsEntry: Bool
    /// The firewall mark of the traffic (RTA_MARK); 0 for none.
    package var mark: UInt32
    /// The user of the traffic (RTA_UID); nil for the process's own.
    package var user: UInt32?
    /// The TCP port at the destination (RTA_IP_PROTO, RTA_DPORT; ignored before Linux 4.18); 0 for none.
    package var port: UInt16
    /// The TCP port at the source (RTA_SPORT), used together with ``port``; 0 for none.
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

    /// The same lookup with this source address.
    package func from(_ source: IPAddress) -> RouteLookup {
        var lookup = self
        lookup.source = source
        return lookup
    }
}
