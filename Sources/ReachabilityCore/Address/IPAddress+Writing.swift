// SPDX-License-Identifier: Apache-2.0

// Writes bytes without strings in between, because each link's addresses are written after each change.
extension IPAddress {
    /// The most bytes that ``write(to:prefixLength:)`` writes: an IPv6 address with an IPv4 part, and `/128`.
    static let longestText = 49

    /// Writes the address as ASCII, with `/length` if any; returns the byte count, at most ``longestText``.
    func write(to text: UnsafeMutableBufferPointer<UInt8>, prefixLength length: UInt8?) -> Int {
        var text = ASCIIWriter(text)
        switch family {
        case .ipv4: writeDotted(to: &text)
        case .ipv6 where high == 0 && low >> 32 == 0xFFFF:  // IPv4-mapped, RFC 5952 §5
            for _ in 0..<2 { text.put(UInt8(ascii: ":")) }
            text.put(hex: 0xFFFF)
            text.put(UInt8(ascii: ":"))
            writeDotted(to: &text)
        case .ipv6: writeGroups(to: &text)
        }
        if let length {
            text.put(UInt8(ascii: "/"))
            text.put(decimal: length)
        }
        return text.count
    }

    private func writeDotted(to text: inout ASCIIWriter) {
        var shift: UInt64 = 24
        while true {
            text.put(decimal: UInt8(truncatingIfNeeded: low >> shift))
            if shift == 0 { return }
            text.put(UInt8(ascii: "."))
            shift -= 8
        }
    }

    private func group(_ index: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index & 3)))
    }

    private func writeGroups(to text: inout ASCIIWriter) {
        let gap = longestGap
        var index = 0
        while index < 8 {
            if index == gap.lowerBound, !gap.isEmpty {
                text.put(UInt8(ascii: ":"))
                index = gap.upperBound
                // The gap's second colon: every other group has its own before it.
                if index == 8 { text.put(UInt8(ascii: ":")) }
                continue
            }
            if index > 0 { text.put(UInt8(ascii: ":")) }
            text.put(hex: group(index))
            index += 1
        }
    }

    /// The groups that "::" stands for: the longest run of two or more zeros, the first of equals (RFC 5952).
    private var longestGap: Range<Int> {
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, group(end) == 0 { end += 1 }
            if end - start >= 2, end - start > best.upperBound - best.lowerBound { best = start..<end }
            start = end + 1
        }
        return best
    }
}

/// Puts ASCII into memory that is known to be long enough.
private struct ASCIIWriter {
    private let text: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ text: UnsafeMutableBufferPointer<UInt8>) { self.text = text }

    mutating func put(_ byte: UInt8) {
        text[count] = byte
        count += 1
    }

    mutating func put(decimal value: UInt8) {
        if value >= 100 { put(48 + value / 100) }
        if value >= 10 { put(48 + value / 10 % 10) }
        put(48 + value % 10)
    }

    /// Lower case, without leading zeros (RFC 5952 §4.1, §4.3).
    mutating func put(hex value: UInt16) {
        var shift: UInt16 = value >= 0x1000 ? 12 : value >= 0x100 ? 8 : value >= 0x10 ? 4 : 0
        while true {
            let digit = UInt8(truncatingIfNeeded: value >> shift & 15)
            put(digit < 10 ? 48 + digit : 87 + digit)
            if shift == 0 { return }
            shift -= 4
        }
    }
}
