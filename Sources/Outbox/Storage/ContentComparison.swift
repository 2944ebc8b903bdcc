// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc

/// A content for comparison: bytes, or a file.
enum ComparedContent {
    case bytes([UInt8])
    case file(String)

    /// Whether both contents are equal; unreadable ones are not.
    func isSame(as other: ComparedContent) -> Bool {
        if case .bytes(let mine) = self, case .bytes(let others) = other { return mine == others }
        var left = ContentReader(self)
        var right = ContentReader(other)
        while true {
            guard let mine = left.next(), let others = right.next(), mine == others else { return false }
            if mine.isEmpty { return true }
        }
    }
}

/// Reads a content in pieces of one size, the last of which may be shorter.
private struct ContentReader: ~Copyable {
    private static let piece = 64 << 10
    private var rest: ArraySlice<UInt8> = []
    private var file: OwnedDescriptor?
    private var failed = false

    init(_ content: ComparedContent) {
        switch content {
        case .bytes(let bytes): rest = bytes[...]
        case .file(let path):
            let number = open(path, O_RDONLY | O_CLOEXEC)
            failed = number < 0
            if number >= 0 { file = OwnedDescriptor(adopting: number) }
        }
    }

    /// The next piece, empty at the end; nil on failure.
    mutating func next() -> [UInt8]? {
        if failed { return nil }
        guard let number = file?.number else {
            defer { rest = rest.dropFirst(Self.piece) }
            return Array(rest.prefix(Self.piece))
        }
        var (piece, filled) = ([UInt8](repeating: 0, count: Self.piece), 0)
        while filled < piece.count {
            let count = piece[filled...].withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            filled += count
        }
        piece.removeLast(piece.count - filled)
        return piece
    }
}
