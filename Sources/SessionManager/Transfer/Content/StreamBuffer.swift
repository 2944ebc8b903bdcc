// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Synchronization

/// Content between the loop, which brings it, and its reader.
final class StreamBuffer: Sendable {
    fileprivate struct State {
        var chunks: [Data] = []
        var size = 0
        /// All that has come, read or not.
        var total: Int64 = 0
        var end: Result<Void, SessionError>?
        var waiting: UnsafeContinuation<Void, Never>?
        /// Resumes a paused transfer.
        var resume: (@Sendable () -> Void)?
        var isPaused = false
    }

    fileprivate enum Step {
        case chunk(Data, resume: (@Sendable () -> Void)?)
        case end(Result<Void, SessionError>)
        case taken
        case wait
    }

    /// A transfer that is so many bytes ahead of its reader pauses: 256 KiB.
    fileprivate static var limit: Int { 256 << 10 }
    private let state = Mutex(State())

    // MARK: The reader's side

    /// What a reader gets.
    enum Reading {
        case chunk(Data)
        case end
        /// Another reader is waiting.
        case taken
    }

    func next() async throws(SessionError) -> Reading {
        while true {
            switch state.withLock({ $0.next() }) {
            case .chunk(let chunk, let resume):
                resume?()
                return .chunk(chunk)
            case .end(let result):
                try result.get()
                return .end
            case .taken: return .taken
            case .wait:
                await withUnsafeContinuation { continuation in
                    let isReady = state.withLock { state in
                        guard state.chunks.isEmpty, state.end == nil, state.waiting == nil else {
                            return true
                        }
                        state.waiting = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            }
        }
    }

    // MARK: The loop's side

    /// How many bytes have come: the reader has them, or will have them.
    var total: Int64 { state.withLock { $0.total } }

    func onResume(_ resume: @escaping @Sendable () -> Void) { state.withLock { $0.resume = resume } }

    func put(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        let (answer, waiting): (SinkAnswer, UnsafeContinuation<Void, Never>?) = state.withLock { state in
            guard state.size < Self.limit else {
                state.isPaused = true
                return (.full, nil)
            }
            state.chunks.append(Data(bytes))
            state.size += bytes.count
            state.total += Int64(bytes.count)
            return (.consumed, state.waiting.take())
        }
        waiting?.resume()
        return answer
    }

    func end(_ result: Result<Void, SessionError>) {
        let waiting = state.withLock { state in
            state.end = state.end ?? result
            state.resume = nil
            return state.waiting.take()
        }
        waiting?.resume()
    }
}

extension StreamBuffer.State {
    /// Takes the next chunk, or what there is instead.
    fileprivate mutating func next() -> StreamBuffer.Step {
        if waiting != nil { return .taken }
        guard !chunks.isEmpty else { return end.map { .end($0) } ?? .wait }
        let chunk = chunks.removeFirst()
        size -= chunk.count
        let resumes = isPaused && size < StreamBuffer.limit / 2
        if resumes { isPaused = false }
        return .chunk(chunk, resume: resumes ? resume : nil)
    }
}
