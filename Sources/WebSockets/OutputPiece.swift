// SPDX-License-Identifier: Apache-2.0

import SessionManager

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
