// SPDX-License-Identifier: Apache-2.0

/// Validates UTF-8 that comes in parts (RFC 3629 §4): text that cannot be completed is refused at its first
/// wrong byte.
package struct UTF8Validation: Sendable {
    /// How many bytes of the current character are still to come.
    private var missing: UInt8 = 0
    /// What the next of them may be; only the second byte of a character has narrower bounds.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    package init() {}

    /// Whether no character is incomplete.
    package var isComplete: Bool { missing == 0 }

    /// Takes the next part; false where no text begins so.
    package mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                while index + 8 <= bytes.count,
                    start.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                {
                    index += 8
                }
                guard index < bytes.count else { return true }
            }
            let byte = bytes[index]
            index += 1
            if missing > 0 {
                guard byte >= lowest, byte <= highest else { return false }
                (lowest, highest) = (0x80, 0xBF)
                missing -= 1
            } else if byte >= 0x80 {
                guard begins(byte) else { return false }
            }
        }
        return true
    }

    /// The first byte of a longer character.
    private mutating func begins(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF:
            missing = 2
            // No longer form than needed, and no surrogates.
            if byte == 0xE0 { lowest = 0xA0 }
            if byte == 0xED { highest = 0x9F }
        case 0xF0...0xF4:
            missing = 3
            if byte == 0xF0 { lowest = 0x90 }
            if byte == 0xF4 { highest = 0x8F }
        default: return false
        }
        return true
    }
}
