// SPDX-License-Identifier: Apache-2.0

import OutboxCore
import Synchronization

/// Hands what happens to those who listen.
final class EventBoard: Sendable {
    private struct State {
        var next = 0
        var listeners: [(number: Int, listener: @Sendable (OutboxEvent) -> Void)] = []
    }

    private let state = Mutex(State())

    func listen(_ listener: @escaping @Sendable (OutboxEvent) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, listener))
            return state.next
        }
    }

    func forget(_ number: Int) { state.withLock { $0.listeners.removeAll { $0.number == number } } }

    func send(_ event: OutboxEvent) {
        for (_, listener) in state.withLock({ $0.listeners }) { listener(event) }
    }
}

/// A subscription to an outbox's events.
public struct OutboxObservation: Sendable {
    let number: Int
    let board: EventBoard
    /// Ends it.
    public func cancel() { board.forget(number) }
}
