// SPDX-License-Identifier: Apache-2.0

import Glibc
import SessionCore

/// Gathers the head of a server's answer to an upgrade, and knows how much content follows one that refuses.
struct UpgradeHead {
    /// So much of a refusal's content is read.
    private static let contentLimit: Int64 = 64 << 10

    private var lines: [UInt8] = []
    /// Where the current line begins.
    private var lineStart = 0
    private var contentCount: Int64 = 0
    /// Whether what came is no head, or too long a one.
    private(set) var isBroken = false

    /// Reads on; the lines of a head once it is whole, without the empty one.
    mutating func next(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> [UInt8]? {
        while position < bytes.count, !isBroken {
            let byte = bytes[position]
            position += 1
            lines.append(byte)
            if byte == 0 || lines.count > Transfer.headLimit || !Self.beginsAsHTTP(lines) { isBroken = true }
            guard byte == 0x0A else { continue }
            let length = lines.count - lineStart
            lineStart = lines.count
            guard length == 1 || length == 2 && lines[lines.count - 2] == 0x0D else { continue }
            var head: [UInt8] = []
            swap(&head, &lines)
            lineStart = 0
            head.removeLast(length)
            return head
        }
        return nil
    }

    /// Whether it may become a status line: what a server of another protocol says is not waited for.
    private static func beginsAsHTTP(_ lines: [UInt8]) -> Bool {
        guard lines.count <= 5, let last = lines.last else { return true }
        return last == Array("HTTP/".utf8)[lines.count - 1]
    }

    /// How much content is read after the head of a refusal: what it announces, as far as that is little.
    func contentLeft(_ transfer: Transfer) -> Int {
        guard let response = transfer.response, transfer.hasContent(response), !transfer.facts.isChunked,
            let length = transfer.facts.length
        else { return 0 }
        return Int(min(length, Self.contentLimit) - contentCount)
    }

    mutating func contentCame(_ count: Int) { contentCount += Int64(count) }
}

/// Bytes on their way to a connection: they stay where they are until they have left, as TLS wants
/// (SSL_write(3)).
struct OutputPiece: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer?
    private var start = 0
    private var end = 0

    deinit { memory?.deallocate() }

    var isEmpty: Bool { start == end }

    /// Takes what `body` writes into room for so many bytes; called when it is empty.
    mutating func fill(upTo size: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) {
        let room = memory ?? .allocate(byteCount: size, alignment: 8)
        memory = room
        start = 0
        end = body(room)
    }

    mutating func fill(_ bytes: [UInt8]) {
        release()
        fill(upTo: bytes.count) { room in
            room.copyBytes(from: bytes)
            return bytes.count
        }
    }

    /// Sends as much as the connection takes.
    mutating func write(to connection: TakenConnection) -> TakenConnection.Result {
        guard let memory else { return .bytes(0) }
        let result = connection.write(UnsafeRawBufferPointer(rebasing: memory[start..<end]))
        if case .bytes(let count) = result { start += count }
        return result
    }

    /// Frees the memory; called when it is empty.
    mutating func release() {
        memory?.deallocate()
        memory = nil
    }
}
