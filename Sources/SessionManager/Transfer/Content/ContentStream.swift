// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore
import Synchronization

/// The content of a response, chunk by chunk as it comes.
///
/// A slow reader slows the server down: at most 256 KiB wait here, then the transfer pauses. May be iterated
/// once, by one task: leaving the loop, or releasing the stream, cancels what is left.
public final class ContentStream: AsyncSequence, Sendable {
    private let buffer: StreamBuffer
    /// The task that brings it.
    public let task: SessionTask

    init(_ buffer: StreamBuffer, task: SessionTask) {
        self.buffer = buffer
        self.task = task
    }

    deinit { task.cancel() }

    /// A pass over the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        private let pass: Pass

        fileprivate init(_ stream: ContentStream) { pass = Pass(stream) }

        /// The next chunk, not empty; nil at the end.
        ///
        /// - Throws: what broke the transfer off; ``SessionError/Code/resourceUnavailable`` while another
        ///   task waits for a chunk, which goes on.
        public mutating func next() async throws(SessionError) -> Data? {
            let (buffer, task) = (pass.stream.buffer, pass.stream.task)
            let reading = await withTaskCancellationHandler {
                () async -> Result<StreamBuffer.Reading, SessionError> in
                do throws(SessionError) { return .success(try await buffer.next()) } catch {
                    return .failure(error)
                }
            } onCancel: {
                task.cancel()
            }
            switch try reading.get() {
            case .chunk(let chunk): return chunk
            case .end: return nil
            case .taken:
                pass.isRefused.store(true, ordering: .relaxed)
                throw SessionError(
                    .resourceUnavailable, "another task is reading this content: a stream has one reader",
                    advice: "read it in one task, and hand the chunks on")
            }
        }
    }

    /// A pass over the chunks.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Ends the transfer with the iterator, though the stream may be kept.
    private final class Pass: Sendable {
        let stream: ContentStream
        /// Whether another pass has the content.
        let isRefused = Atomic(false)
        init(_ stream: ContentStream) { self.stream = stream }
        deinit { if !isRefused.load(ordering: .relaxed) { stream.task.cancel() } }
    }
}

/// Hands the content on to a reader.
final class StreamSink: ContentSink {
    private let buffer: StreamBuffer

    init(_ buffer: StreamBuffer) { self.buffer = buffer }

    func begin(length: Int64?) {}
    func consume(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        bytes.isEmpty ? .consumed : buffer.put(bytes)
    }
}
