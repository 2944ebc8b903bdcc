// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Where the content of a response goes; on the loop's thread.
protocol ContentSink: AnyObject {
    /// The content begins; `length` as the server says, nil where it does not.
    func begin(length: Int64?) throws(SessionError)
    /// Consumes the next bytes, or none of them: they come again after ``TransferEngine/resume(_:)``.
    func consume(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer
}

/// What a sink did with bytes.
enum SinkAnswer {
    case consumed
    /// Nothing: the transfer is to pause.
    case full
}

/// Keeps the content in memory.
final class MemorySink: ContentSink {
    private(set) var data = Data()
    private let limit: Int64
    /// What the server announces, as far as it may be kept.
    private var announced: Int64 = 0
    /// Whether what is too much is an error, or is left out.
    private let isStrict: Bool

    /// Refuses content that is longer than `limit`.
    init(limit: Int64) {
        self.limit = limit
        isStrict = true
    }

    /// Keeps the beginning of the content.
    init(keeping limit: Int64) {
        self.limit = limit
        isStrict = false
    }

    func begin(length: Int64?) throws(SessionError) {
        guard let length else { return }
        if length <= limit { announced = length }
    }

    func consume(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer {
        guard Int64(data.count) + Int64(bytes.count) <= limit else {
            data.append(contentsOf: bytes.prefix(max(Int(clamping: limit) - data.count, 0)))
            if !isStrict { return .consumed }
            throw SessionError(
                .dataLengthExceedsMaximum, "the response has more than \(limit) bytes",
                remedy: .moreContentOrFile)
        }
        if data.isEmpty {
            // Mostly small content comes at once.
            if Int64(bytes.count) >= announced, let start = bytes.baseAddress {
                data = Data(bytes: start, count: bytes.count)
                return .consumed
            }
            // What the server announces is reserved only as far as a lie costs little.
            data.reserveCapacity(Int(min(announced, 1 << 20)))
        }
        data.append(contentsOf: bytes)
        return .consumed
    }
}

/// Throws the content away, as of a redirect that is followed.
final class DiscardingSink: ContentSink {
    private let limit: Int64
    private var count: Int64 = 0

    /// Gives up after so many bytes: another connection is cheaper then.
    init(limit: Int64) { self.limit = limit }

    func begin(length: Int64?) {}

    func consume(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer {
        count += Int64(bytes.count)
        guard count <= limit else {
            throw SessionError(
                .dataLengthExceedsMaximum, "the content that is not needed is longer than \(limit) bytes")
        }
        return .consumed
    }
}

/// Holds the content back until it is decided where it goes; on the loop's thread.
final class DeferredSink: ContentSink {
    private var target: (any ContentSink)?
    private var length: Int64?

    /// Whether the decision has been made.
    var isOpen: Bool { target != nil }

    func begin(length: Int64?) { self.length = length }

    func consume(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer {
        guard let target else { return .full }
        return try target.consume(bytes)
    }

    /// Lets the content through.
    func open(_ target: any ContentSink) throws(SessionError) {
        try target.begin(length: length)
        self.target = target
    }
}
