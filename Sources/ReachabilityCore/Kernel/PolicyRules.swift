// SPDX-License-Identifier: Apache-2.0

/// The selectors of the machine's policy rules (RTM_GETRULE, ip-rule(8)) beyond those of a plain lookup.
///
/// A plain lookup names destination, mark and user; the rest is added only if a rule selects by it.
package struct PolicyRules: Sendable, Equatable {
    /// The selectors of the rules of one family.
    package struct Selectors: OptionSet, Sendable, Equatable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The source address (`from`).
        package static let source = Selectors(rawValue: 1 << 0)
        /// The protocol or a port (`ipproto`, `sport`, `dport`; Linux 4.17).
        package static let transport = Selectors(rawValue: 1 << 1)
    }

    package var ipv4: Selectors
    package var ipv6: Selectors
    /// The exemptions of the rules of both families.
    package var exemptions: RuleExemptions

    package init(ipv4: Selectors = [], ipv6: Selectors = [], exemptions: RuleExemptions = RuleExemptions()) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.exemptions = exemptions
    }

    /// Whether a lookup must name more than destination, mark and user.
    package var hasSelectors: Bool { !ipv4.isEmpty || !ipv6.isEmpty }

    package subscript(family: IPAddress.Family) -> Selectors {
        get { family == .ipv4 ? ipv4 : ipv6 }
        set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }
}

/// The traffic that the policy rules exempt (RTM_GETRULE, ip-rule(8)), which reveals a tunnel's own path.
///
/// A kill switch refuses everything outside the tunnel, and its rules exempt the tunnel's own packets by
/// their mark or by the remote address.
package struct RuleExemptions: Sendable, Equatable {
    /// Firewall marks in rules, with or without `not` (`fwmark`).
    package private(set) var marks: [UInt32] = []
    /// Users in rules (`uidrange`), the first of each range.
    package private(set) var users: [UInt32] = []
    /// Single addresses in rules (`to`); prefixes are networks reached outside the tunnel.
    package private(set) var destinations: [IPAddress] = []
    /// Families with a refusing rule (`unreachable`, `prohibit`, `blackhole`), regardless of its source.
    package private(set) var refusing: Set<IPAddress.Family> = []

    /// Further marks belong to load balancing and containers.
    private static let limit = 8

    package init(
        marks: [UInt32] = [], users: [UInt32] = [], destinations: [IPAddress] = [],
        refusing: Set<IPAddress.Family> = []
    ) {
        for mark in marks { add(mark: mark) }
        for user in users { add(user: user) }
        for destination in destinations { add(destination: destination) }
        self.refusing = refusing
    }

    package mutating func add(mark: UInt32) {
        if mark != 0, marks.count < Self.limit, !marks.contains(mark) { marks.append(mark) }
    }

    package mutating func add(user: UInt32) {
        if users.count < Self.limit, !users.contains(user) { users.append(user) }
    }

    package mutating func add(destination: IPAddress) {
        if destinations.count < Self.limit, !destinations.contains(destination) {
            destinations.append(destination)
        }
    }

    package mutating func add(refusing family: IPAddress.Family) { refusing.insert(family) }
}
