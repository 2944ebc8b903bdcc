// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// Writes requests into one reused buffer, several to a datagram, handled in order (netlink(7)).
package struct NetlinkRequest {
    package private(set) var bytes: [UInt8] = []
    /// The start of the current message.
    private var start = 0

    package init() { bytes.reserveCapacity(1024) }

    package mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        start = 0
    }

    /// Begins a message; NLM_F_REQUEST is added to `flags`.
    package mutating func begin(_ type: UInt16, flags: Int32 = 0, sequence: UInt32) {
        start = bytes.count
        append(
            nlmsghdr(
                nlmsg_len: 0, nlmsg_type: type,
                nlmsg_flags: UInt16(truncatingIfNeeded: flags | NLM_F_REQUEST), nlmsg_seq: sequence,
                nlmsg_pid: 0))
    }

    /// Appends an integer in host order, or a kernel structure.
    package mutating func append<T: BitwiseCopyable>(_ value: T) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }

    /// Appends an integer attribute in host order.
    package mutating func attribute<T: FixedWidthInteger & BitwiseCopyable>(_ type: Int, _ value: T) {
        guard MemoryLayout<T>.size == 4 else {
            appendHeader(type, payload: MemoryLayout<T>.size)
            append(value)
            return pad()
        }
        append((Self.header(type, payload: 4), value))
    }

    package mutating func attribute(_ type: Int, _ address: IPAddress) {
        switch address.family {
        case .ipv4: attribute(type, UInt32(truncatingIfNeeded: address.low).bigEndian)
        case .ipv6:
            appendHeader(type, payload: 16)
            append(address.high.bigEndian)
            append(address.low.bigEndian)
        }
    }

    /// Appends a text attribute with its NUL.
    package mutating func attribute(_ type: Int, _ text: String) {
        // Names are short; longer text is cut so that the length fits 16 bits.
        let utf8 = text.utf8.prefix(1024)
        appendHeader(type, payload: utf8.count + 1)
        bytes.append(contentsOf: utf8)
        bytes.append(0)
        pad()
    }

    /// Ends the message and sets its length.
    package mutating func end() {
        let length = UInt32(truncatingIfNeeded: bytes.count - start)
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: UInt32.self) }
        pad()
    }

    private mutating func appendHeader(_ type: Int, payload: Int) {
        append(Self.header(type, payload: payload))
    }

    private static func header(_ type: Int, payload: Int) -> nlattr {
        nlattr(
            nla_len: UInt16(truncatingIfNeeded: NetlinkLayout.attributeHeader + payload),
            nla_type: UInt16(truncatingIfNeeded: type))
    }

    private mutating func pad() { while bytes.count & 3 != 0 { bytes.append(0) } }
}
