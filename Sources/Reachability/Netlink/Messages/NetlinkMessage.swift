// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// One message of a datagram: its header (`struct nlmsghdr`, netlink(7)) and where its body lies.
package struct NetlinkMessage: Sendable, Equatable {
    /// What it is: RTM_*, or NLMSG_ERROR, NLMSG_DONE, NLMSG_NOOP, NLMSG_OVERRUN.
    package let type: UInt16
    /// NLM_F_*.
    package let flags: UInt16
    /// The number of the request it answers; 0 in notifications.
    package let sequence: UInt32
    /// Everything behind the header.
    package let body: Range<Int>

    /// Whether something changed while the dump was read (NLM_F_DUMP_INTR): it may be inconsistent.
    package var isInterrupted: Bool { flags & UInt16(NLM_F_DUMP_INTR) != 0 }

    /// The errno(3) of an NLMSG_ERROR or NLMSG_DONE message, positive; 0 for success, nil where it is cut off.
    package func errorNumber(in bytes: RawSpan) -> Int32? {
        guard let code = bytes.integer(Int32.self, in: body) else { return nil }
        return code == .min ? .max : abs(code)
    }
}

/// Walks the messages of one datagram.
///
/// A header with an impossible length ends the walk: nothing behind it can be trusted.
package struct NetlinkMessages {
    private var offset = 0
    /// Whether the walk ended at something malformed.
    package private(set) var isMalformed = false

    package init() {}

    /// The next message, or nil at the end.
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

/// One attribute: its type and where its payload lies (`struct nlattr`, netlink(7)).
package struct NetlinkAttribute: Sendable, Equatable {
    /// The type without NLA_F_NESTED and NLA_F_NET_BYTEORDER.
    package let type: Int
    /// The payload without padding.
    package let payload: Range<Int>
}

/// Walks the attributes in a range of a datagram: behind a message's fixed part, or nested in an attribute.
package struct NetlinkAttributes {
    private var offset: Int
    private let end: Int
    /// Whether the walk ended at an attribute with an impossible length.
    package private(set) var isMalformed = false

    /// The attributes in `range`, of which the first `skipping` bytes are a message's fixed part.
    package init(_ range: Range<Int>, skipping: Int = 0) {
        offset = range.lowerBound + NetlinkLayout.aligned(skipping)
        end = range.upperBound
    }

    /// The next attribute, or nil at the end; fewer bytes than a header are padding.
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
    /// `struct nlmsghdr`.
    package static let header = 16
    /// `struct nlattr`.
    package static let attributeHeader = 4
    /// `struct ifinfomsg`.
    package static let link = 16
    /// `struct ifaddrmsg`.
    package static let address = 8
    /// `struct rtmsg`.
    package static let route = 12
    /// `struct fib_rule_hdr`.
    package static let rule = 12
    /// `struct ndmsg`.
    package static let neighbor = 12
    /// `struct nhmsg`.
    package static let nexthop = 8
    /// `struct netconfmsg`, one byte, with what follows it up to the next attribute.
    package static let setting = 4
    /// `struct rtnexthop`.
    package static let leg = 8
    /// `struct genlmsghdr`.
    package static let generic = 4

    /// Rounds up to NLMSG_ALIGNTO, which is NLA_ALIGNTO too; `size` comes from 16 or 32 bits and cannot overflow.
    @inline(__always)
    package static func aligned(_ size: Int) -> Int { (size + 3) & ~3 }
}
