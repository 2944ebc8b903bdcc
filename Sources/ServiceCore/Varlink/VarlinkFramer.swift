// SPDX-License-Identifier: Apache-2.0

/// Splits the bytes of a connection into messages, each of which ends with a NUL.
package struct VarlinkFramer: Sendable {
    private var bytes: [UInt8] = []
    /// The start of the first message that was not returned yet.
    private var start = 0
    /// The bytes before it have no NUL, so a long message is searched once.
    private var searched = 0
    private let limit: Int

    /// - Parameter limit: The longest message in bytes, without its NUL.
    package init(limit: Int) { self.limit = limit }

    /// The next part of the input.
    package enum Next: Sendable, Equatable {
        case message([UInt8])
        /// The rest has not arrived.
        case incomplete
        /// The message is longer than allowed.
        case tooLong
    }

    /// Whether a message has begun and not ended.
    package var isInside: Bool { bytes.count > start }
    /// The number of stored bytes.
    package var count: Int { bytes.count - start }

    /// Appends received bytes.
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
            // An idle connection holds no memory.
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
