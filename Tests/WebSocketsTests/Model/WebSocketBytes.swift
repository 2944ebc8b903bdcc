// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WebSockets

/// Reads bytes that come in pieces of one size.
func decode(
    _ bytes: [UInt8], piece: Int = .max, limit: Int = 1 << 20
) -> [WebSocketDecoder.Item] {
    var decoder = WebSocketDecoder(maximumMessageSize: limit)
    var items: [WebSocketDecoder.Item] = []
    var start = 0
    repeat {
        let part = Array(bytes[start...].prefix(piece))
        start += part.count
        part.withUnsafeBytes { part in
            var position = 0
            while let item = decoder.next(part, &position) { items.append(item) }
        }
    } while start < bytes.count
    return items
}

/// A frame as a server sends it.
func frame(_ first: UInt8, _ content: [UInt8], length: [UInt8]? = nil) -> [UInt8] {
    let count = content.count
    let shortest: [UInt8] =
        count <= 125
        ? [UInt8(count)]
        : count <= 0xFFFF
            ? [126, UInt8(count >> 8), UInt8(count & 0xFF)]
            : [127] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
    return [first] + (length ?? shortest) + content
}

/// What a client's frames are to a server that checks their masks: their first bytes and contents.
struct ClientFrame: Equatable {
    var first: UInt8
    var content: [UInt8]

    static func all(_ bytes: [UInt8]) -> [ClientFrame] {
        var frames: [ClientFrame] = []
        var rest = bytes[...]
        while rest.count >= 6, rest[rest.startIndex + 1] & 0x80 != 0 {
            let first = rest.removeFirst()
            var length = Int(rest.removeFirst() & 0x7F)
            if length > 125 {
                let size = length == 126 ? 2 : 8
                length = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(size)
            }
            let key = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
            let content = rest.prefix(length).enumerated().map { $1 ^ key[$0 & 3] }
            rest = rest.dropFirst(length)
            frames.append(ClientFrame(first: first, content: content))
        }
        return frames
    }
}
