// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Synchronization

/// Bytes between the sequence that makes a body and the loop that sends it.
final class StreamedBodyBuffer: Sendable {
    fileprivate struct State {
        var chunks: [Data] = []
        /// Bytes of the first chunk that have been read.
        var offset = 0
        /// Bytes that have not been read.
        var size = 0
        var end: Result<Void, SessionError>?
        var isClosed = false
        /// The producer, while there is no room.
        var waiting: UnsafeContinuation<Bool, Never>?
        /// Called when there is something to read.
        var readable: (@Sendable () -> Void)?
    }

    /// The producer waits while so many bytes have not been sent: 256 KiB.
    private static let limit = 256 << 10
    private let state = Mutex(State())

    // MARK: The producer's side

    /// Adds a chunk; returns when there is room for the next, false where no more are wanted.
    func put(_ chunk: Data) async -> Bool {
        guard !chunk.isEmpty else { return !state.withLock { $0.isClosed } }
        let readable = state.withLock { state in
            state.chunks.append(chunk)
            state.size += chunk.count
            return state.readable.take()
        }
        readable?()
        return await withUnsafeContinuation { continuation in
            let hasRoom: Bool? = state.withLock { state in
                if state.isClosed { return false }
                if state.size < Self.limit { return true }
                state.waiting = continuation
                return nil
            }
            if let hasRoom { continuation.resume(returning: hasRoom) }
        }
    }

    /// Whether the producer waits for room.
    var holdsProducer: Bool { state.withLock { $0.waiting != nil } }

    func end(_ result: Result<Void, SessionError>) {
        let readable = state.withLock { state in
            state.end = result
            return state.readable.take()
        }
        readable?()
    }

    // MARK: The loop's side

    func read(into target: UnsafeMutableRawBufferPointer) -> Result<BodyRead, SessionError> {
        let (result, waiting) = state.withLock { state in
            let result = state.read(into: target)
            let hasRoom = state.size < Self.limit / 2
            return (result, hasRoom ? state.waiting.take() : nil)
        }
        waiting?.resume(returning: true)
        return result
    }

    /// Has `callback` called once, at once where something has come meanwhile.
    func whenReadable(_ callback: @escaping @Sendable () -> Void) {
        let isReadable = state.withLock { state in
            guard state.size == 0, state.end == nil else { return true }
            state.readable = callback
            return false
        }
        if isReadable { callback() }
    }

    /// The reader has ended.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            state.chunks = []
            state.readable = nil
            return state.waiting.take()
        }
        waiting?.resume(returning: false)
    }
}

extension StreamedBodyBuffer.State {
    fileprivate mutating func read(
        into target: UnsafeMutableRawBufferPointer
    ) -> Result<BodyRead, SessionError> {
        guard size > 0 else { return end.map { $0.map { .end } } ?? .success(.notYet) }
        var filled = 0
        var done = 0
        while filled < target.count, done < chunks.count {
            let chunk = chunks[done]
            let start = chunk.startIndex + offset
            let count = min(target.count - filled, chunk.endIndex - start)
            chunk.copyBytes(
                to: UnsafeMutableRawBufferPointer(rebasing: target[filled...]), from: start..<(start + count))
            filled += count
            offset += count
            if offset == chunk.count {
                offset = 0
                done += 1
            }
        }
        chunks.removeFirst(done)
        size -= filled
        return .success(.bytes(filled))
    }
}

/// Something that may be done once.
final class SingleUse: Sendable {
    private let hasBegun = Atomic<Bool>(false)

    /// Whether this is the first time.
    func begin() -> Bool { !hasBegun.exchange(true, ordering: .acquiringAndReleasing) }
}
