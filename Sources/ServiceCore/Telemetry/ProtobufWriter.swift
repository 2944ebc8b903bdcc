// SPDX-License-Identifier: Apache-2.0

/// Writes messages of Protocol Buffers (protobuf.dev/programming-guides/encoding), as far as remote write
/// needs them.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    private enum WireType: UInt64 { case varint = 0, fixed64 = 1, delimited = 2 }

    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func begin(_ field: UInt64, _ type: WireType) {
        append(varint: field << 3 | type.rawValue)
    }

    /// A field of the type int64; negative ones have ten bytes.
    mutating func field(_ number: UInt64, _ value: Int64) {
        begin(number, .varint)
        append(varint: UInt64(bitPattern: value))
    }

    /// A field of the type double, by its bits; zero is what a missing one means.
    mutating func field(_ number: UInt64, bits: UInt64) {
        guard bits != 0 else { return }
        begin(number, .fixed64)
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
    }

    mutating func field(_ number: UInt64, _ text: String) {
        begin(number, .delimited)
        append(varint: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func field(_ number: UInt64, _ message: ProtobufWriter) {
        begin(number, .delimited)
        append(varint: UInt64(message.bytes.count))
        bytes.append(contentsOf: message.bytes)
    }
}
