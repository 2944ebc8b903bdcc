// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Hands events to everybody who listens, in order.
///
/// The manager and its sessions hold it: when it goes, nothing happens any more.
final class EventHub: Sendable {
    private struct Listener {
        let hear: @Sendable (SessionEvent) -> Void
        let end: (@Sendable () -> Void)?
    }

    private struct State: ~Copyable {
        var next = 0
        var listeners = NumberedItems<Listener>()
    }

    private let state = Mutex(State())
    /// Read without the lock, since mostly nobody listens.
    private let isWanted = Atomic<Bool>(false)

    deinit {
        for listener in state.withLock({ $0.listeners.all }) { listener.end?() }
    }

    /// Adds a listener, which is called on the thread where something happens and has to return soon.
    ///
    /// - Parameter end: Called where it still listens when there is nothing to hear any more.
    func listen(
        _ listener: @escaping @Sendable (SessionEvent) -> Void, end: (@Sendable () -> Void)? = nil
    ) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.add(Listener(hear: listener, end: end), state.next)
            isWanted.store(true, ordering: .relaxed)
            return state.next
        }
    }

    func forget(_ number: Int) {
        state.withLock { state in
            state.listeners.remove(number)
            isWanted.store(!state.listeners.isEmpty, ordering: .relaxed)
        }
    }

    /// Whether anybody listens.
    var isListened: Bool { isWanted.load(ordering: .relaxed) }

    /// - Parameter task: the one that was made to do something; where it has ended since, nothing is sent: nothing follows its end.
    func send(_ event: @autoclosure () -> SessionEvent, unlessEnded task: SessionTask? = nil) {
        guard isWanted.load(ordering: .relaxed) else { return }
        let event = event()
        // Under the lock, so that all see the same order; listeners only put the event away.
        state.withLock { state in
            // A task has ended before its end is sent, which waits for this lock.
            if let task, task.state == .completed { return }
            state.listeners.forEach { $0.hear(event) }
        }
    }
}
