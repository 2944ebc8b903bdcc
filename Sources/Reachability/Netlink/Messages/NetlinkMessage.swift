// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// One message of a datagram: its header (`struct nlmsghdr`, netlink(7)) and the range of its body.
package struct NetlinkMessage: Sendable, Equatable {
    /// The type: RTM_*, or NLMSG_ERROR, NLMSG_DONE, NLMSG_NOOP, NLMSG_OVERRUN.
    package let type: UInt16
    /// The flags: NLM_F_*.
    package let flags: UInt16
    /// The number of the answered request; 0 in notifications.
    package let sequence: UInt32
    package let body: Range<Int>

    /// Whether a change interrupted the dump (NLM_F_DUMP_INTR), so that it may be inconsistent.
    package var isInterrupted: Bool { flags & UInt16(NLM_F_DUMP_INTR) != 0 }

    /// The errno(3) of an NLMSG_ERROR or NLMSG_DONE message, positive; 0 for success, nil if it is truncated.
    package func errorNumber(in bytes: RawSpan) -> Int32? {
        guard let code = bytes.integer(Int32.self, in: body) else { return nil }
        return code == .min ? .max : abs(code)
    }
}

/// Iterates over the messages of one datagram; a header with an impossible length ends the iteration.
package struct NetlinkMessages {
    private var offset = 0
    /// Whether the iteration ended at a malformed message.
    package private(set) var isMalformed = false

    package init() {}

    /// The next message; nil at the end.
    @inline(__always)
    package mutating func next(in bytes: RawSpan) -> NetlinkMessage? {
        let left = bytes.byteCount - offset
        guard left > 0 else { return nil }
        guard let length = bytes.integer(UInt32.self, at: offset),
            let type = bytes.integer(UInt16.self, at: offset + 4),
            let flags = bytes.integer(UInt16.self, at: offset + 6),
            let sequence = bytes.integer(UInt32.self, at: offset + 8),
            let size = Int(exactly: length), size >= NetlinkLayout.header, size <= left
        else {
            isMalformed = true
            offset = bytes.byteCount
            return nil
        }
        let body = offset + NetlinkLayout.header..<offset + size
        offset = min(bytes.byteCount, offset + NetlinkLayout.aligned(size))
        return NetlinkMessage(type: type, flags: flags, sequence: sequence, body: body)
    }
}

/// One attribute: its type and the range of its payload (`struct nlattr`, netlink(7)).
package struct NetlinkAttribute: Sendable, Equatable {
    /// The type without NLA_F_NESTED and NLA_F_NET_BYTEORDER.
    package let type: Int
    /// The payload without padding.
    package let payload: Range<Int>
}

/// Iterates over the attributes in a range: after the fixed part of a message, or nested in an attribute.
package struct NetlinkAttributes {
    private var offset: Int
    private let end: Int
    /// Whether the iteration ended at an attribute with an impossible length.
    package private(set) var isMalformed = false

    /// The attributes in `range` after a fixed part of `skipping` bytes.
    package init(_ range: Range<Int>, skipping: Int = 0) {
        offset = range.lowerBound + NetlinkLayout.aligned(skipping)
        end = range.upperBound
    }

    /// The next attribute; nil at the end, where fewer bytes than a header are padding.
    @inline(__always)
    package mutating func next(in bytes: RawSpan) -> NetlinkAttribute? {
        let left = end - offset
        guard left >= NetlinkLayout.attributeHeader else { return nil }
        guard let length = bytes.integer(UInt16.self, at: offset),
            let type = bytes.integer(UInt16.self, at: offset + 2),
            Int(length) >= NetlinkLayout.attributeHeader, Int(length) <= left
        else {
            isMalformed = true
            offset = end
            return nil
        }
        let payload = offset + NetlinkLayout.attributeHeader..<offset + Int(length)
        offset = min(end, offset + NetlinkLayout.aligned(Int(length)))
        return NetlinkAttribute(type: Int(type & 0x3FFF), payload: payload)
    }
}

/// Sizes of netlink's fixed parts, in bytes (linux/netlink.h, linux/rtnetlink.h, linux/if_addr.h).
package enum NetlinkLayout {
    package static let header = 16  // struct nlmsghdr
    package static let attributeHeader = 4  // struct nlattr
    package static let link = 16  // struct ifinfomsg
    package static let address = 8  // struct ifaddrmsg
    package static let route = 12  // struct rtmsg
    package static let rule = 12  // struct fib_rule_hdr
    package static let neighbor = 12  // struct ndmsg
    package static let nexthop = 8  // struct nhmsg
    package static let setting = 4  // struct netconfmsg: one byte, padded to the first attribute
    package static let leg = 8  // struct rtnexthop
    package static let generic = 4  // struct genlmsghdr

    /// Rounds up to NLMSG_ALIGNTO and NLA_ALIGNTO; `size` comes from 16 or 32 bits and cannot overflow.
    @inline(__always)
    package static func aligned(_ size: Int) -> Int { (size + 3) & ~3 }
}
