// SPDX-License-Identifier: Apache-2.0

import OutboxCore
import Synchronization

/// Hands what happens to those who listen.
final class EventBoard: Sendable {
    private struct State {
        var next = 0
        var isClosed = false
        var listeners: [(number: Int, hear: @Sendable (OutboxEvent) -> Void, end: @Sendable () -> Void)] = []
    }

    private let state = Mutex(State())

    /// - Parameter end: Called where it still listens when there is nothing to hear any more.
    func listen(
        _ listener: @escaping @Sendable (OutboxEvent) -> Void, end: @escaping @Sendable () -> Void = {}
    ) -> Int {
        let (number, isClosed) = state.withLock { state in
            state.next += 1
            if !state.isClosed { state.listeners.append((state.next, listener, end)) }
            return (state.next, state.isClosed)
        }
        if isClosed { end() }
        return number
    }

    /// Nothing happens any more.
    func close() {
        let listeners = state.withLock { state in
            defer { (state.listeners, state.isClosed) = ([], true) }
            return state.listeners
        }
        for listener in listeners { listener.end() }
    }

    func forget(_ number: Int) { state.withLock { $0.listeners.removeAll { $0.number == number } } }

    func send(_ event: OutboxEvent) {
        for listener in state.withLock({ $0.listeners }) { listener.hear(event) }
    }
}

/// A subscription to an outbox's events.
public struct OutboxObservation: Sendable {
    let number: Int
    let board: EventBoard
    /// Ends it.
    public func cancel() { board.forget(number) }
}
