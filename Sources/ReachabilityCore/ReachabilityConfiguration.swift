// SPDX-License-Identifier: Apache-2.0

/// The target of monitoring and its settings; the defaults suit nearly every device.
public struct ReachabilityConfiguration: Sendable, Equatable {
    /// The times.
    public var timing = ReachabilityTiming()
    /// Addresses that represent any destination.
    ///
    /// They are only *looked up* in the routing table, never contacted. The default has one in each half of
    /// the IPv4 space and one in 2000::/3. Choose others if these have routes of their own.
    public var sentinels: [IPAddress] = ReachabilityConfiguration.defaultSentinels
    /// The firewall mark of the traffic (`SO_MARK`, socket(7)); 0 for none.
    public var mark: UInt32 = 0
    /// The traffic's user, if policy rules select by user (`uidrange`, ip-rule(8)); nil for the process's.
    public var user: UInt32?
    /// The TCP port of the traffic, used if policy rules select by protocol or port (`ipproto`, `dport`,
    /// ip-rule(8)); default 443.
    public var port: UInt16 = 443
    /// Restricts the path to one address family; nil for either.
    public var family: IPAddress.Family?
    /// The network whose path is wanted, whether the kernel prefers it or not; nil for the kernel's choice.
    public var requirement: NetworkRequirement?
    /// Interfaces whose traffic costs: short for `yes` in ``metered``.
    public var expensiveInterfaces: Set<String> = []
    /// What the traffic of interfaces costs, by their names; counts more than anything that is found out.
    ///
    /// Of other interfaces a hint decides, then ``meteredNetworks``, then the DHCP server's word
    /// (`ANDROID_METERED`, read from the leases of systemd-networkd and dhcpcd), then the kind of the link.
    public var metered: [String: Metered] = [:]
    /// What the traffic of Wi-Fi networks costs, by their names (SSID).
    public var meteredNetworks: [String: Metered] = [:]
    /// Interfaces on which data is to be saved (low data): ``ReachabilityPath/isConstrained``.
    public var constrainedInterfaces: Set<String> = []
    /// Whether updates carry a report on every interface (``ReachabilityUpdate/links``), for which the kernel
    /// is asked at each update; default false.
    public var reportsLinks: Bool = false
    /// The file of the network namespace to monitor (network_namespaces(7)), for example `/run/netns/blue`;
    /// nil for the process's own.
    ///
    /// The sockets stay in that namespace for good. Needs CAP_SYS_ADMIN.
    public var networkNamespace: String?
    /// The receive buffer for events in bytes; default 1 MiB, limited by the kernel for unprivileged users.
    public var receiveBufferSize: Int = 1 << 20

    /// The defaults.
    public init() {}

    /// The defaults with changes: `ReachabilityConfiguration { $0.timing.lossGrace = .seconds(2) }`.
    public init(_ configure: (inout Self) -> Void) {
        self.init()
        configure(&self)
    }

    /// One address in each half of the IPv4 space, and one in 2000::/3: addresses in global use, for which
    /// routing tables hardly ever have separate routes.
    public static let defaultSentinels: [IPAddress] = [
        IPAddress(v4: 0x0C00_0001),  // 12.0.0.1
        IPAddress(v4: 0xC100_0E81),  // 193.0.14.129
        IPAddress(v6High: 0x2001_07FD_0000_0000, low: 1),  // 2001:7fd::1
    ]
}

/// The destination of an evaluation.
package enum ReachabilityTarget: Sendable, Equatable {
    /// Any destination: represented by addresses that are looked up and never contacted.
    case general(sentinels: [IPAddress])
    /// One host, with its addresses in the order of preference.
    case host([ReachabilityDestination])
}
