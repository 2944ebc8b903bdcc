// SPDX-License-Identifier: Apache-2.0

/// A range of addresses: an address and the number of its significant leading bits (RFC 4632).
package struct IPPrefix: Sendable, Hashable {
    /// The first address of the range; its other bits are zero.
    package let address: IPAddress
    /// The number of significant leading bits: 0…32 or 0…128.
    package let length: Int

    /// The prefix of `length` bits around `address`; nil if the family has fewer bits.
    package init?(_ address: IPAddress, length: Int) {
        guard (0...address.bitWidth).contains(length) else { return nil }
        self.address = address.masked(to: length)
        self.length = length
    }

    /// Whether `other` lies in the range.
    package func contains(_ other: IPAddress) -> Bool {
        other.family == address.family && other.masked(to: length) == address
    }
}

extension IPAddress {
    /// The address with all but the leading `length` bits cleared.
    package func masked(to length: Int) -> IPAddress {
        switch family {
        case .ipv4:
            let mask = length == 0 ? 0 : ~UInt32(0) << UInt32(32 - length)
            return IPAddress(v4: UInt32(truncatingIfNeeded: low) & mask)
        case .ipv6:
            let highMask = length == 0 ? 0 : ~UInt64(0) << UInt64(max(0, 64 - length))
            let lowMask = length <= 64 ? 0 : ~UInt64(0) << UInt64(128 - length)
            return IPAddress(v6High: high & highMask, low: low & lowMask)
        }
    }
}

extension IPPrefix: CustomStringConvertible, LosslessStringConvertible {
    /// `address/length`.
    package var description: String { "\(address)/\(length)" }

    /// Reads `address/length`; nil for anything else.
    package init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(String(parts[0])), let length = Int(parts[1])
        else { return nil }
        self.init(address, length: length)
    }
}
