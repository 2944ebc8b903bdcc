// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address, without port or zone.
public struct IPAddress: Sendable, Hashable {
    /// The address family.
    public enum Family: String, Sendable, Hashable, CaseIterable {
        /// Internet Protocol version 4.
        case ipv4
        /// Internet Protocol version 6.
        case ipv6
    }

    /// The family.
    public let family: Family
    /// The upper 64 bits of an IPv6 address in host order; 0 for IPv4.
    package let high: UInt64
    /// The lower 64 bits of an IPv6 address, or the 32 bits of an IPv4 address, in host order.
    package let low: UInt64

    /// An IPv4 address from its 32 bits in host order (`0x7F00_0001` is 127.0.0.1).
    public init(v4 bits: UInt32) {
        family = .ipv4
        high = 0
        low = UInt64(bits)
    }

    /// An IPv6 address from its two halves in host order.
    public init(v6High high: UInt64, low: UInt64) {
        family = .ipv6
        self.high = high
        self.low = low
    }

    /// An address from its bytes in network order: 4 of them for IPv4, 16 for IPv6, nil for any other count.
    public init?(bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        self.init(raw: bytes.span.bytes)
    }

    /// The same from memory; generic code of another module costs a hundred times as much.
    package init?(raw bytes: RawSpan) {
        switch bytes.byteCount {
        case 4: self.init(v4: UInt32(bigEndian: bytes.unsafeLoadUnaligned(as: UInt32.self)))
        case 16:
            self.init(
                v6High: UInt64(bigEndian: bytes.unsafeLoadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        default: return nil
        }
    }

    /// The bytes in network order: 4 for IPv4, 16 for IPv6.
    public var bytes: [UInt8] {
        switch family {
        case .ipv4: (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * $0)) }
        case .ipv6:
            (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) }
                + (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - 8 * $0)) }
        }
    }

    /// The number of bits of an address of this family: 32 or 128.
    package var bitWidth: Int { family == .ipv4 ? 32 : 128 }

    /// 127.0.0.0/8 or ::1 (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
    public var isLoopback: Bool { family == .ipv4 ? low >> 24 == 127 : high == 0 && low == 1 }

    /// 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291 §2.5.6).
    public var isLinkLocal: Bool { family == .ipv4 ? low >> 16 == 0xA9FE : high >> 54 == 0xFE80 >> 6 }

    /// A unique local IPv6 address, fc00::/7 (RFC 4193).
    public var isUniqueLocal: Bool { family == .ipv6 && high >> 57 == 0xFC >> 1 }

    /// 224.0.0.0/4 (RFC 1112) or ff00::/8 (RFC 4291 §2.7).
    package var isMulticast: Bool { family == .ipv4 ? low >> 28 == 0xE : high >> 56 == 0xFF }

    /// Whether packets to it never leave the link: link-local, the broadcast address of RFC 919 §7,
    /// 224.0.0.0/24 (RFC 5771 §4), and IPv6 multicast of interface or link scope (RFC 4291 §2.7).
    package var staysOnLink: Bool {
        if isLinkLocal { return true }
        switch family {
        case .ipv4: return low >> 8 == 0xE00000 || low == 0xFFFF_FFFF
        case .ipv6: return isMulticast && (1...2).contains(high >> 48 & 0xF)
        }
    }

    /// 0.0.0.0 or ::.
    public var isUnspecified: Bool { high == 0 && low == 0 }

    /// The address that connect(2) goes to: IPv4 for an IPv4-mapped one, and ::1 for :: (tcp_v6_connect(),
    /// net/ipv6/tcp_ipv6.c).
    package var connected: IPAddress {
        guard family == .ipv6, high == 0 else { return self }
        if low >> 32 == 0xFFFF { return IPAddress(v4: UInt32(truncatingIfNeeded: low)) }
        return low == 0 ? IPAddress(v6High: 0, low: 1) : self
    }
}

extension IPAddress: Comparable {
    /// IPv4 before IPv6, then by value.
    public static func < (a: IPAddress, b: IPAddress) -> Bool {
        if a.family != b.family { return a.family == .ipv4 }
        return (a.high, a.low) < (b.high, b.low)
    }
}
