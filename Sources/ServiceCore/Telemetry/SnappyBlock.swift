// SPDX-License-Identifier: Apache-2.0

/// The block format of snappy (github.com/google/snappy, format_description.txt), which remote write wants.
package enum SnappyBlock {
    /// Compresses by taking the last offset that began with the same four bytes.
    package static func compress(_ input: [UInt8]) -> [UInt8] {
        var output = ProtobufWriter()
        output.append(varint: UInt64(input.count))
        var bytes = output.bytes
        // By a hash of four bytes, one more than the offset where they were last.
        var slots = [Int](repeating: 0, count: 1 << tableBits)
        var (literal, position) = (0, 0)
        while position + 4 <= input.count {
            let word = word(input, position)
            let slot = Int((word &* 0x1E35_A7BD) >> (32 - tableBits))
            let earlier = slots[slot] - 1
            slots[slot] = position + 1
            guard earlier >= 0, position - earlier <= longestOffset, self.word(input, earlier) == word else {
                position += 1
                continue
            }
            var length = 4
            while position + length < input.count, input[earlier + length] == input[position + length] {
                length += 1
            }
            append(literal: input[literal..<position], to: &bytes)
            append(copyOf: length, from: position - earlier, to: &bytes)
            position += length
            literal = position
        }
        append(literal: input[literal...], to: &bytes)
        return bytes
    }

    private static let tableBits: UInt32 = 12
    /// What a copy with two bytes of offset reaches.
    private static let longestOffset = 65_535

    private static func word(_ input: [UInt8], _ index: Int) -> UInt32 {
        UInt32(input[index]) | UInt32(input[index + 1]) << 8 | UInt32(input[index + 2]) << 16
            | UInt32(input[index + 3]) << 24
    }

    /// A tag with the length less one, or with how many bytes of it follow.
    private static func append(literal: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        guard !literal.isEmpty else { return }
        var rest = literal.count - 1
        if rest < 60 {
            bytes.append(UInt8(rest << 2))
        } else {
            let start = bytes.count
            bytes.append(0)
            while rest > 0 {
                bytes.append(UInt8(truncatingIfNeeded: rest))
                rest >>= 8
            }
            bytes[start] = UInt8((59 + bytes.count - start - 1) << 2)
        }
        bytes.append(contentsOf: literal)
    }

    /// Copies of at most 64 bytes, the last one of at least four.
    private static func append(copyOf length: Int, from offset: Int, to bytes: inout [UInt8]) {
        var rest = length
        while rest > 0 {
            let part = rest > 64 ? min(64, rest - 4) : rest
            if part < 12, offset < 2048 {
                bytes.append(UInt8((part - 4) << 2 | 1 | (offset >> 8) << 5))
                bytes.append(UInt8(truncatingIfNeeded: offset))
            } else {
                bytes.append(UInt8((part - 1) << 2 | 2))
                bytes.append(UInt8(truncatingIfNeeded: offset))
                bytes.append(UInt8(truncatingIfNeeded: offset >> 8))
            }
            rest -= part
        }
    }
}
