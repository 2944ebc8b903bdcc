// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Synchronization

/// The head of a response, or why none comes.
typealias ResponseHeadFuture = Future<Result<SessionResponse, SessionError>>

/// A value that is set once, and that one reader waits for.
final class Future<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: UnsafeContinuation<Value, Never>?
    }

    private let state = Mutex(State())

    /// The value, where it is set already.
    var current: Value? { state.withLock { $0.value } }

    /// Sets the value; only the first call has an effect.
    func fulfil(_ value: Value) {
        let waiting: UnsafeContinuation<Value, Never>? = state.withLock { state in
            guard state.value == nil else { return nil }
            state.value = value
            return state.waiting.take()
        }
        waiting?.resume(returning: value)
    }

    /// The value, once it is set.
    var value: Value {
        get async {
            await withUnsafeContinuation { continuation in
                let value = state.withLock { state in
                    if state.value == nil { state.waiting = continuation }
                    return state.value
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}
