// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The selectors and the action of one policy rule (RTM_NEWRULE, linux/fib_rules.h).
package struct RuleMessage: Sendable, Equatable {
    /// Nil for rules of multicast routing (RTNL_FAMILY_IPMR) and of other families.
    package let family: IPAddress.Family?
    private var selectors: PolicyRules.Selectors = []
    private var mark: UInt32?
    /// The first user of the rule's range.
    private var user: UInt32?
    /// A single address; prefixes are networks reached outside a tunnel.
    private var destination: IPAddress?
    /// Whether it refuses its traffic, regardless of addresses.
    private var isRefusing = false

    /// Reads `struct fib_rule_hdr` and its attributes; nil if they are malformed.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.rule,
            let family = bytes.integer(UInt8.self, at: body.lowerBound),
            let destinationLength = bytes.integer(UInt8.self, at: body.lowerBound + 1),
            let sourceLength = bytes.integer(UInt8.self, at: body.lowerBound + 2),
            let action = bytes.integer(UInt8.self, at: body.lowerBound + 7)
        else { return nil }
        self.family = AddressFamily.family(family)
        if sourceLength != 0 { selectors.insert(.source) }
        isRefusing =
            [FR_ACT_BLACKHOLE, FR_ACT_UNREACHABLE, FR_ACT_PROHIBIT].contains(Int(action))
            && destinationLength == 0 && sourceLength == 0
        var mask = UInt32.max
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.rule)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case FRA_IP_PROTO, FRA_SPORT_RANGE, FRA_DPORT_RANGE: selectors.insert(.transport)
            case FRA_FWMARK: mark = bytes.integer(UInt32.self, in: attribute.payload)
            case FRA_FWMASK: mask = bytes.integer(UInt32.self, in: attribute.payload) ?? mask
            case FRA_UID_RANGE: user = bytes.integer(UInt32.self, at: attribute.payload.lowerBound)
            case FRA_DST:
                destination = bytes.address(family: family, in: attribute.payload)
                    .flatMap { Int(destinationLength) == $0.bitWidth ? $0 : nil }
            default: break
            }
        }
        if attributes.isMalformed { return nil }
        mark = mark.map { $0 & mask }
    }

    /// Adds the rule to those of its family.
    package func add(to rules: inout PolicyRules) {
        guard let family else { return }
        rules[family].formUnion(selectors)
        if let mark { rules.exemptions.add(mark: mark) }
        if let user { rules.exemptions.add(user: user) }
        if let destination { rules.exemptions.add(destination: destination) }
        if isRefusing { rules.exemptions.add(refusing: family) }
    }
}
