// SPDX-License-Identifier: Apache-2.0

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
