// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
import ReachabilityCore

extension RuleExemptions {
    /// Enters one policy rule (RTM_NEWRULE, linux/fib_rules.h); false where it is malformed.
    mutating func enter(_ body: Range<Int>, in bytes: RawSpan) -> Bool {
        guard body.count >= NetlinkLayout.rule,
            let number = bytes.integer(UInt8.self, at: body.lowerBound),
            let destinationLength = bytes.integer(UInt8.self, at: body.lowerBound + 1),
            let sourceLength = bytes.integer(UInt8.self, at: body.lowerBound + 2),
            let action = bytes.integer(UInt8.self, at: body.lowerBound + 7)
        else { return false }
        // The rules of multicast routing (RTNL_FAMILY_IPMR) come along.
        guard let family = AddressFamily.family(number) else { return true }
        var mark: UInt32?
        var mask = UInt32.max
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.rule)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case FRA_FWMARK: mark = bytes.integer(UInt32.self, in: attribute.payload)
            case FRA_FWMASK: mask = bytes.integer(UInt32.self, in: attribute.payload) ?? mask
            case FRA_UID_RANGE:
                if let first = bytes.integer(UInt32.self, at: attribute.payload.lowerBound) {
                    add(user: first)
                }
            case FRA_DST:
                if let address = bytes.address(family: number, in: attribute.payload),
                    Int(destinationLength) == address.bitWidth
                {
                    add(destination: address)
                }
            default: break
            }
        }
        if let mark { add(mark: mark & mask) }
        if [FR_ACT_BLACKHOLE, FR_ACT_UNREACHABLE, FR_ACT_PROHIBIT].contains(Int(action)),
            destinationLength == 0, sourceLength == 0
        {
            add(refusing: family)
        }
        return !attributes.isMalformed
    }
}
