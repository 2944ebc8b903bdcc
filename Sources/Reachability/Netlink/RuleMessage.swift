// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// What one policy rule looks at (RTM_NEWRULE, linux/fib_rules.h).
package struct RuleMessage: Sendable, Equatable {
    /// Nil for the rules of multicast routing (RTNL_FAMILY_IPMR) and of other families.
    package let family: IPAddress.Family?
    package private(set) var selectors: PolicyRules.Selectors = []

    /// Reads `struct fib_rule_hdr` and its attributes; nil where they are malformed.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.rule,
            let family = bytes.integer(UInt8.self, at: body.lowerBound),
            let sourceLength = bytes.integer(UInt8.self, at: body.lowerBound + 2)
        else { return nil }
        self.family = AddressFamily.family(family)
        if sourceLength != 0 { selectors.insert(.source) }
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.rule)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case FRA_IP_PROTO, FRA_SPORT_RANGE, FRA_DPORT_RANGE: selectors.insert(.transport)
            default: break
            }
        }
        if attributes.isMalformed { return nil }
    }
}
