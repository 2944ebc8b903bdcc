// SPDX-License-Identifier: Apache-2.0

/// Cuts the bytes of a connection into messages, each of which ends with a NUL.
package struct VarlinkFramer: Sendable {
    private var bytes: [UInt8] = []
    /// Where the first message that has not been taken begins.
    private var start = 0
    /// Before it no NUL is left, so that a long message is looked through once.
    private var searched = 0
    private let limit: Int

    /// - Parameter limit: The longest message in bytes, without its NUL.
    package init(limit: Int) { self.limit = limit }

    /// What comes next.
    package enum Next: Sendable, Equatable {
        case message([UInt8])
        /// The rest has not arrived.
        case incomplete
        /// It is longer than allowed.
        case tooLong
    }

    /// Whether a message has begun and not ended.
    package var isInside: Bool { bytes.count > start }
    /// The bytes that are kept.
    package var count: Int { bytes.count - start }

    /// Takes bytes in.
    package mutating func append(_ more: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The next message.
    package mutating func next() -> Next {
        while searched < bytes.count, bytes[searched] != 0 { searched += 1 }
        guard searched - start <= limit else { return .tooLong }
        guard searched < bytes.count else {
            // An idle connection keeps no memory.
            if start == bytes.count { (bytes, start, searched) = ([], 0, 0) }
            return .incomplete
        }
        defer {
            searched += 1
            start = searched
        }
        return .message(Array(bytes[start..<searched]))
    }
}
