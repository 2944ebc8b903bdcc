// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Waits for the completion blocks of several tasks.
public final class CompletionGroup: Sendable {
    private struct State {
        var count = 0
        var waiting: [UnsafeContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// A group without members.
    public init() {}

    /// Returns when every completion block of its tasks has returned; at once where there is none.
    public func wait() async {
        await withUnsafeContinuation { continuation in
            let isEmpty = state.withLock { state in
                guard state.count > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }

    func enter() { state.withLock { $0.count += 1 } }

    func leave() {
        let waiting: [UnsafeContinuation<Void, Never>] = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
