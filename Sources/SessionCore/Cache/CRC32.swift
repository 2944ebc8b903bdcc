// SPDX-License-Identifier: Apache-2.0

/// The checksum of zip and Ethernet (ISO 3309; polynomial 0x04C11DB7, reflected): finds what a disk has broken, not who has.
package struct CRC32: Sendable {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    private var state: UInt32 = .max

    package init() {}

    /// Takes further bytes in.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        var value = state
        Self.table.withUnsafeBufferPointer { table in
            for byte in bytes { value = value >> 8 ^ table[Int((value ^ UInt32(byte)) & 0xFF)] }
        }
        state = value
    }

    /// The checksum of what came so far.
    package var value: UInt32 { ~state }

    /// The checksum of some bytes.
    package static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var checksum = CRC32()
        checksum.update(bytes)
        return checksum.value
    }
}
