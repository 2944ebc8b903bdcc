// SPDX-License-Identifier: Apache-2.0

/// What the policy rules of the machine look at (RTM_GETRULE, ip-rule(8)), as far as a plain lookup leaves it out.
///
/// A lookup names destination, mark and user. Source, protocol and ports are asked for only where a rule looks at them.
package struct PolicyRules: Sendable, Equatable {
    /// What the rules of one family look at.
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
    /// What the rules of both families set apart from the rest.
    package var exemptions: RuleExemptions

    package init(
        ipv4: Selectors = [], ipv6: Selectors = [], exemptions: RuleExemptions = RuleExemptions()
    ) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.exemptions = exemptions
    }

    /// Whether a lookup has to name more than destination, mark and user.
    package var hasSelectors: Bool { !ipv4.isEmpty || !ipv6.isEmpty }

    package subscript(family: IPAddress.Family) -> Selectors {
        get { family == .ipv4 ? ipv4 : ipv6 }
        set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }
}

/// What the policy rules of this machine set apart from the rest (RTM_GETRULE, ip-rule(8)), as far as it tells which way a
/// tunnel's own packets take.
///
/// A kill switch refuses everything that does not go through the tunnel, and its rules name what is let past: the mark of the
/// tunnel's own packets, or the address of its other end.
package struct RuleExemptions: Sendable, Equatable {
    /// Firewall marks that rules look at, with `not` or without (`fwmark`).
    package private(set) var marks: [UInt32] = []
    /// Users that rules look at (`uidrange`), the first of each range.
    package private(set) var users: [UInt32] = []
    /// Single addresses that rules look at (`to`): prefixes are networks that go beside the tunnel.
    package private(set) var destinations: [IPAddress] = []
    /// Families with a rule that refuses what it matches (`unreachable`, `prohibit`, `blackhole`), whatever its source.
    package private(set) var refusing: Set<IPAddress.Family> = []

    /// Marks beyond the first few belong to balancing and containers.
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

    /// A rule looks at a mark.
    package mutating func add(mark: UInt32) {
        if mark != 0, marks.count < Self.limit, !marks.contains(mark) { marks.append(mark) }
    }

    /// A rule looks at a range of users that begins with this one.
    package mutating func add(user: UInt32) {
        if users.count < Self.limit, !users.contains(user) { users.append(user) }
    }

    /// A rule looks at a destination.
    package mutating func add(destination: IPAddress) {
        if destinations.count < Self.limit, !destinations.contains(destination) {
            destinations.append(destination)
        }
    }

    /// A rule of the family refuses.
    package mutating func add(refusing family: IPAddress.Family) { refusing.insert(family) }
}
