// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// A body that is made while it is sent: the chunks of an asynchronous sequence.
///
///     request.body = .stream(StreamedBody(measurements.map { $0.line }))
///
/// Without a length it is sent chunked (RFC 9112 §7.1). At most 256 KiB and one chunk wait to be sent: the
/// sequence is not asked for more until the network has taken some. While it has nothing, the time-outs of
/// the task stand still. Cancelling the task cancels the Swift task that iterates.
public struct StreamedBody: BodySource {
    /// The bytes that the chunks have together; nil where that is not known.
    public let length: Int64?
    private let feed: @Sendable (StreamedBodyBuffer) -> Task<Void, Never>
    /// Nil where a sequence can be made as often as it is needed.
    private let use: SingleUse?

    /// The body that a sequence makes once.
    ///
    /// It cannot be sent again: a redirect that keeps the method, a challenge or a retry asks the delegate
    /// for a new body, and fails with ``SessionError/Code/requestBodyStreamExhausted`` where there is none.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil)
    where Chunks.Element == Data {
        self.length = length
        use = SingleUse()
        feed = { Self.feed(chunks, into: $0) }
    }

    /// A body that can be sent again.
    ///
    /// - Parameter makeChunks: makes a sequence from the first byte; must not wait, as transfers wait for it.
    public init<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil, rewindingBy makeChunks: @escaping @Sendable () -> Chunks
    ) where Chunks.Element == Data {
        self.length = length
        use = nil
        feed = { Self.feed(makeChunks(), into: $0) }
    }

    /// Whether it can be sent again.
    public var isRewindable: Bool { use == nil }

    /// A reader that starts at the first byte; the sequence is iterated from now on.
    ///
    /// - Throws: ``SessionError/Code/requestBodyStreamExhausted`` for a second one of what is iterated once.
    public func makeReader() throws(SessionError) -> any BodyReader {
        if let use, !use.begin() {
            throw SessionError(
                .requestBodyStreamExhausted, "the sequence that makes the body has been iterated already",
                advice: "make the body with a closure that makes sequences")
        }
        let buffer = StreamedBodyBuffer()
        return StreamedBodyReader(buffer, task: feed(buffer))
    }

    private static func feed<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, into buffer: StreamedBodyBuffer
    ) -> Task<Void, Never> where Chunks.Element == Data {
        Task.detached {
            do {
                for try await chunk in chunks {
                    guard await buffer.put(chunk) else { return }
                }
                buffer.end(.success(()))
            } catch let error as SessionError {
                buffer.end(.failure(error))
            } catch {
                let reason = "what makes the body has failed: \(error)"
                buffer.end(.failure(SessionError(.requestBodyStreamExhausted, reason, underlying: error)))
            }
        }
    }
}

/// What the transferring thread reads; its end ends the iteration.
package final class StreamedBodyReader: BodyReader {
    private let buffer: StreamedBodyBuffer
    private let task: Task<Void, Never>

    init(_ buffer: StreamedBodyBuffer, task: Task<Void, Never>) {
        self.buffer = buffer
        self.task = task
    }

    /// Whether the sequence has to wait until something is read.
    package var holdsSequence: Bool { buffer.holdsProducer }

    deinit {
        task.cancel()
        buffer.close()
    }

    package func read(into target: UnsafeMutableRawBufferPointer) throws(SessionError) -> BodyRead {
        try buffer.read(into: target).get()
    }

    package func whenReadable(_ callback: @escaping @Sendable () -> Void) { buffer.whenReadable(callback) }
}
