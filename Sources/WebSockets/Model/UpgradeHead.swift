// SPDX-License-Identifier: Apache-2.0

/// Gathers the head of a server's answer to an upgrade, and knows how much content follows one that refuses.
package struct UpgradeHead: Sendable {
    /// The most bytes of a refusal's content that are read.
    private static let contentLimit: Int64 = 64 << 10

    /// The longest head that is accepted.
    private let limit: Int
    private var lines: [UInt8] = []
    /// Where the current line begins.
    private var lineStart = 0
    private var contentCount: Int64 = 0
    /// Whether what came is no head, or too long a one.
    package private(set) var isBroken = false

    package init(limit: Int) { self.limit = limit }

    /// Reads on; the lines of a head once it is whole, without the empty one.
    package mutating func next(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> [UInt8]? {
        while position < bytes.count, !isBroken {
            let byte = bytes[position]
            position += 1
            if lines.count == lineStart, byte == 0x20 || byte == 0x09 { unfold() }
            lines.append(byte)
            if byte == 0 || lines.count > limit || !Self.beginsAsHTTP(lines) { isBroken = true }
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

    /// Has a folded line continue the one before, behind spaces (RFC 9112 §5.2).
    private mutating func unfold() {
        guard lineStart > 1 else { return }
        lines[lineStart - 1] = 0x20
        if lines[lineStart - 2] == 0x0D { lines[lineStart - 2] = 0x20 }
    }

    /// Whether it may become a status line: what a server of another protocol says is not waited for.
    private static func beginsAsHTTP(_ lines: [UInt8]) -> Bool {
        guard lines.count <= 5, let last = lines.last else { return true }
        return last == Array("HTTP/".utf8)[lines.count - 1]
    }

    /// How much content of a refusal is still to be read: what it announces, as far as that is little.
    package func contentLeft(of announced: Int64) -> Int {
        Int(min(announced, Self.contentLimit) - contentCount)
    }

    package mutating func contentCame(_ count: Int) { contentCount += Int64(count) }
}
