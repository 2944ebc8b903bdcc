// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

// Checked reading of received bytes: no offset leads outside of them.
extension RawSpan {
    /// The integer at `offset` in host order, as in netlink; nil if it does not fit.
    @inline(__always)
    package func integer<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T? {
        guard offset >= 0, offset <= byteCount - MemoryLayout<T>.size else { return nil }
        return unsafeLoadUnaligned(fromByteOffset: offset, as: type)
    }

    /// The integer that fills `range`; nil if the range is shorter.
    @inline(__always)
    package func integer<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, in range: Range<Int>) -> T? {
        guard range.count >= MemoryLayout<T>.size else { return nil }
        return integer(type, at: range.lowerBound)
    }

    /// The text in `range` up to the first NUL, with replacement characters for bytes that are not UTF-8.
    package func text(in range: Range<Int>) -> String {
        // Names are short enough to be stored inside the string.
        String(unsafeUninitializedCapacity: range.count) { text in
            var count = 0
            for offset in range {
                guard let byte = integer(UInt8.self, at: offset), byte != 0 else { break }
                text[count] = byte
                count += 1
            }
            return count
        }
    }

    /// The bytes in `range` that exist.
    package func bytes(in range: Range<Int>) -> [UInt8] { range.compactMap { integer(UInt8.self, at: $0) } }

    /// The address of `family` (AF_INET, AF_INET6) at the start of `range`, in network order.
    @inline(__always)
    package func address(family: UInt8, in range: Range<Int>) -> IPAddress? {
        switch family {
        case AddressFamily.inet:
            guard let bits = integer(UInt32.self, in: range) else { return nil }
            return IPAddress(v4: UInt32(bigEndian: bits))
        case AddressFamily.inet6:
            guard range.count >= 16, let high = integer(UInt64.self, at: range.lowerBound),
                let low = integer(UInt64.self, at: range.lowerBound + 8)
            else { return nil }
            return IPAddress(v6High: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        default: return nil
        }
    }
}

/// The relevant address families of netlink messages (sys/socket.h).
package enum AddressFamily {
    package static let unspecified: UInt8 = 0
    package static let inet: UInt8 = 2
    package static let bridge: UInt8 = 7
    package static let inet6: UInt8 = 10

    package static func number(_ family: IPAddress.Family) -> UInt8 { family == .ipv4 ? inet : inet6 }

    /// The family with that number; nil for any other.
    package static func family(_ number: UInt8) -> IPAddress.Family? {
        switch number {
        case inet: .ipv4
        case inet6: .ipv6
        default: nil
        }
    }
}
