// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Synchronization

/// The head of a response, for the reader that waits for it.
final class ResponseHeadFuture: Sendable {
    private struct State {
        var result: Result<SessionResponse, SessionError>?
        var waiting: UnsafeContinuation<Result<SessionResponse, SessionError>, Never>?
    }

    private let state = Mutex(State())

    /// Sets the value; only the first call has an effect.
    func fulfil(_ result: Result<SessionResponse, SessionError>) {
        let waiting: UnsafeContinuation<Result<SessionResponse, SessionError>, Never>? = state.withLock {
            state in
            guard state.result == nil else { return nil }
            state.result = result
            return state.waiting.take()
        }
        waiting?.resume(returning: result)
    }

    /// The head, where it was given already.
    var given: SessionResponse? { state.withLock { try? $0.result?.get() } }

    /// The value, once it is there; for one reader.
    var value: Result<SessionResponse, SessionError> {
        get async {
            await withUnsafeContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiting = continuation }
                    return state.result
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }
}
