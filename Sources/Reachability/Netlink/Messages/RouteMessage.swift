// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

extension RouteAnswer {
    /// Reads the body of the answer to a lookup; nil if it is malformed.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.route,
            let family = bytes.integer(UInt8.self, at: body.lowerBound),
            let prefixLength = bytes.integer(UInt8.self, at: body.lowerBound + 1),
            let shortTable = bytes.integer(UInt8.self, at: body.lowerBound + 4),
            let type = bytes.integer(UInt8.self, at: body.lowerBound + 7)
        else { return nil }
        self.init(kind: Kind(type), prefixLength: Int(prefixLength), table: UInt32(shortTable))
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.route)
        while let attribute = attributes.next(in: bytes) {
            let payload = attribute.payload
            switch attribute.type {
            case RTA_OIF.number: interface = bytes.integer(Int32.self, in: payload)
            case RTA_GATEWAY.number: gateway = bytes.address(family: family, in: payload)
            case RTA_VIA.number: gateway = bytes.viaAddress(in: payload)
            case RTA_PREFSRC.number: source = bytes.address(family: family, in: payload)
            case RTA_PRIORITY.number: metric = bytes.integer(UInt32.self, in: payload) ?? 0
            case RTA_TABLE.number: table = bytes.integer(UInt32.self, in: payload) ?? table
            case RTA_NH_ID.number: nexthop = bytes.integer(UInt32.self, in: payload)
            case RTA_CACHEINFO.number: expires = Self.expiry(payload, in: bytes)
            case RTA_MULTIPATH.number:
                guard let legs = Self.legs(payload, family: family, in: bytes) else { return nil }
                self.legs = legs
            default: break
            }
        }
        if attributes.isMalformed { return nil }
    }

    /// `rta_expires` of `struct rta_cacheinfo` in ticks of USER_HZ: 100 per second but on Alpha and IA-64; 0
    /// means never, or less than a tick left, and negative values have expired.
    private static func expiry(_ range: Range<Int>, in bytes: RawSpan) -> Int32? {
        guard range.count >= 12, let ticks = bytes.integer(Int32.self, at: range.lowerBound + 8), ticks != 0
        else { return nil }
        return ticks
    }

    /// The `struct rtnexthop` entries of RTA_MULTIPATH; nil if they are malformed.
    private static func legs(_ range: Range<Int>, family: UInt8, in bytes: RawSpan) -> [Leg]? {
        var legs: [Leg] = []
        var offset = range.lowerBound
        while range.upperBound - offset >= NetlinkLayout.leg {
            guard let length = bytes.integer(UInt16.self, at: offset),
                let flags = bytes.integer(UInt8.self, at: offset + 2),
                let interface = bytes.integer(Int32.self, at: offset + 4),
                Int(length) >= NetlinkLayout.leg, Int(length) <= range.upperBound - offset
            else { return nil }
            var leg = Leg(
                interface: interface, isDead: Int32(flags) & RTNH_F_DEAD != 0,
                isLinkDown: Int32(flags) & RTNH_F_LINKDOWN != 0)
            var attributes = NetlinkAttributes(offset..<offset + Int(length), skipping: NetlinkLayout.leg)
            while let attribute = attributes.next(in: bytes) {
                switch attribute.type {
                case RTA_GATEWAY.number: leg.gateway = bytes.address(family: family, in: attribute.payload)
                case RTA_VIA.number: leg.gateway = bytes.viaAddress(in: attribute.payload)
                default: break
                }
            }
            if attributes.isMalformed { return nil }
            legs.append(leg)
            offset += NetlinkLayout.aligned(Int(length))
        }
        return legs
    }
}

extension RouteAnswer.Kind {
    /// The type with that number (RTN_*, linux/rtnetlink.h).
    package init(_ number: UInt8) {
        self =
            switch Int(number) {
            case RTN_UNICAST: .unicast
            case RTN_LOCAL: .local
            case RTN_BROADCAST: .broadcast
            case RTN_ANYCAST: .anycast
            case RTN_MULTICAST: .multicast
            case RTN_BLACKHOLE: .blackhole
            case RTN_UNREACHABLE: .unreachable
            case RTN_PROHIBIT: .prohibit
            case RTN_THROW: .throw
            default: .other(number)
            }
    }
}

extension RawSpan {
    /// The address in `struct rtvia`: a family of two bytes, then the address.
    fileprivate func viaAddress(in range: Range<Int>) -> IPAddress? {
        guard range.count >= 2, let family = integer(UInt16.self, at: range.lowerBound) else { return nil }
        return address(family: UInt8(truncatingIfNeeded: family), in: range.lowerBound + 2..<range.upperBound)
    }
}

extension rtattr_type_t {
    var number: Int { Int(rawValue) }
}
