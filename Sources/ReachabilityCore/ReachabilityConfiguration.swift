// SPDX-License-Identifier: Apache-2.0

/// What to watch and how.
///
/// The defaults suit nearly every device.
public struct ReachabilityConfiguration: Sendable, Equatable {
    /// The times.
    public var timing = ReachabilityTiming()
    /// Representative addresses of "anywhere".
    ///
    /// They are only *looked up* in the routing table, never contacted.
    ///
    /// The default has one in each half of the IPv4 space and one in 2000::/3. Choose others where these have
    /// a route of their own.
    public var sentinels: [IPAddress] = ReachabilityConfiguration.defaultSentinels
    /// The firewall mark of the traffic to ask for (`SO_MARK`, socket(7)); 0 for none.
    public var mark: UInt32 = 0
    /// The user whose traffic to ask for, where policy rules tell users apart (`uidrange`, ip-rule(8)); nil for
    /// the own one.
    public var user: UInt32?
    /// The TCP port of the traffic to ask for, where policy rules tell protocols or ports apart (`ipproto`, `dport`,
    /// ip-rule(8)).
    ///
    /// Default 443. Where no rule does, it is of no consequence.
    public var port: UInt16 = 443
    /// Restricts the answer to one address family; nil for either.
    public var family: IPAddress.Family?
    /// Interfaces whose traffic is expensive, besides cellular and Bluetooth.
    public var expensiveInterfaces: Set<String> = []
    /// Whether updates carry a report on every interface (``ReachabilityUpdate/links``).
    ///
    /// Off by default: it asks the kernel for all interfaces at each update.
    public var reportsLinks: Bool = false
    /// A file that names the network namespace to watch (network_namespaces(7)), for example
    /// `/run/netns/blue`; nil for the process's own.
    ///
    /// The sockets stay in that namespace for good. Needs CAP_SYS_ADMIN.
    public var networkNamespace: String?
    /// The receive buffer for events, in bytes.
    ///
    /// Default 1 MiB; the kernel's limit for unprivileged users applies.
    public var receiveBufferSize: Int = 1 << 20

    /// The defaults.
    public init() {}

    /// One address in each half of the IPv4 space, and one in 2000::/3: addresses in global use which hardly any
    /// routing table treats on their own.
    public static let defaultSentinels: [IPAddress] = [
        IPAddress(v4: 0x0C00_0001),  // 12.0.0.1
        IPAddress(v4: 0xC100_0E81),  // 193.0.14.129
        IPAddress(v6High: 0x2001_07FD_0000_0000, low: 1),  // 2001:7fd::1
    ]
}
