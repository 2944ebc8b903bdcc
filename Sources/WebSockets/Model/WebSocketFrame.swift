// SPDX-License-Identifier: Apache-2.0

/// What a frame is (RFC 6455 §5.2).
package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue & 8 != 0 }
}

/// The beginning of a frame that a client sends (RFC 6455 §5.2), and its masking (§5.3).
package struct WebSocketFrameHead: Sendable {
    /// The longest beginning: two bytes, a length of 64 bits, the key.
    package static let longest = 14
    /// The most content of a control frame (§5.5).
    package static let controlLimit = 125

    private let opcode: WebSocketOpcode
    private let isFinal: Bool
    private let length: Int
    private let key: UInt32

    /// - Parameter key: new and unpredictable for each frame.
    package init(_ opcode: WebSocketOpcode, isFinal: Bool, length: Int, key: UInt32) {
        self.opcode = opcode
        self.isFinal = isFinal
        self.length = length
        self.key = key
    }

    /// How many bytes ``write(to:)`` writes.
    package var size: Int { 6 + (length <= 125 ? 0 : length <= 0xFFFF ? 2 : 8) }

    /// Writes it to the beginning of a buffer that has room for it.
    package func write(to buffer: UnsafeMutableRawBufferPointer) {
        buffer[0] = opcode.rawValue | (isFinal ? 0x80 : 0)
        var end = 2
        if length <= 125 {
            buffer[1] = 0x80 | UInt8(length)
        } else {
            let count = length <= 0xFFFF ? 2 : 8
            buffer[1] = 0x80 | (count == 2 ? 126 : 127)
            for index in 0..<count {
                buffer[2 + index] = UInt8(truncatingIfNeeded: length >> (8 * (count - 1 - index)))
            }
            end += count
        }
        for index in 0..<4 { buffer[end + index] = UInt8(truncatingIfNeeded: key >> (24 - 8 * index)) }
    }

    /// Masks a part of the content, or unmasks it.
    ///
    /// - Parameter offset: where the part is in the content.
    package static func mask(_ bytes: UnsafeMutableRawBufferPointer, key: UInt32, from offset: Int) {
        guard let start = bytes.baseAddress else { return }
        // The first byte of the key is its highest; turned to the part's beginning, and written twice.
        let shift = 8 * (offset & 3)
        let turned = key << shift | key >> (32 - shift)
        let word = UInt64(bigEndian: UInt64(turned) << 32 | UInt64(turned))
        var index = 0
        while index + 8 <= bytes.count {
            let masked = start.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ word
            start.storeBytes(of: masked, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < bytes.count {
            bytes[index] ^= UInt8(truncatingIfNeeded: word.littleEndian >> UInt64(8 * (index & 7)))
            index += 1
        }
    }
}
