// SPDX-License-Identifier: Apache-2.0

package import Synchronization

/// Subscribers under the IDs that end their subscriptions, in the order in which they came; few, so arrays.
package struct SubscriberList<Subscriber> {
    /// Stored, not computed: generic code of another module costs 3,400 instructions for a list of one.
    package private(set) var all: [Subscriber] = []
    private var ids: [Int] = []
    private var lastID = 0

    package init() {}

    /// Adds a subscriber; returns its ID.
    package mutating func add(_ subscriber: Subscriber) -> Int {
        lastID += 1
        all.append(subscriber)
        ids.append(lastID)
        return lastID
    }

    /// Removes a subscriber; nil where it has been removed already.
    @discardableResult
    package mutating func remove(_ id: Int) -> Subscriber? {
        guard let index = ids.firstIndex(of: id) else { return nil }
        ids.remove(at: index)
        return all.remove(at: index)
    }

    /// Removes all subscribers and returns them.
    package mutating func removeAll() -> [Subscriber] {
        defer { (all, ids) = ([], []) }
        return all
    }
}

/// Calls its subscribers with each event, on the thread that publishes it; its end ends all subscriptions.
package final class EventBroadcaster<Event: Sendable>: Sendable {
    private struct Subscriber {
        let handle: @Sendable (Event) -> Void
        let end: (@Sendable () -> Void)?
    }

    private struct State {
        var subscribers = SubscriberList<Subscriber>()
        var isClosed = false
    }

    private let state = Mutex(State())
    private let isOrdered: Bool
    /// Read without the lock, since mostly there are no subscribers.
    @usableFromInline let isObserved = Atomic<Bool>(false)

    /// - Parameter isOrdered: whether all subscribers get the events of several threads in the same order;
    ///   handlers then run under the broadcaster's lock, and must not call the broadcaster.
    package init(isOrdered: Bool) { self.isOrdered = isOrdered }

    deinit { close() }

    /// Adds a subscriber, whose `handle` returns soon; returns the ID that ends the subscription.
    ///
    /// - Parameter end: called when the broadcaster is closed before the subscription ends, or already was.
    package func subscribe(
        _ handle: @escaping @Sendable (Event) -> Void, onEnd end: (@Sendable () -> Void)? = nil
    ) -> Int {
        let id = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            isObserved.store(true, ordering: .relaxed)
            return state.subscribers.add(Subscriber(handle: handle, end: end))
        }
        if id == nil { end?() }
        return id ?? 0
    }

    /// Ends a subscription without calling its `onEnd`.
    package func unsubscribe(_ id: Int) {
        _ = state.withLock { state in
            // Released after the lock: what a handler holds may end other subscriptions.
            let removed = state.subscribers.remove(id)
            isObserved.store(!state.subscribers.all.isEmpty, ordering: .relaxed)
            return removed
        }
    }

    /// Ends all subscriptions; later events are dropped.
    package func close() {
        let subscribers = state.withLock { state in
            state.isClosed = true
            isObserved.store(false, ordering: .relaxed)
            return state.subscribers.removeAll()
        }
        for subscriber in subscribers { subscriber.end?() }
    }

    @inlinable
    package var hasSubscribers: Bool { isObserved.load(ordering: .relaxed) }

    /// Publishes an event, which is made only where there are subscribers.
    @inlinable
    package func publish(_ event: @autoclosure () -> Event) {
        if hasSubscribers { deliver(event()) { false } }
    }

    /// Publishes an event, unless a condition holds that is read in the order of the events.
    @inlinable
    package func publish(_ event: @autoclosure () -> Event, unless isStale: () -> Bool) {
        if hasSubscribers { deliver(event(), unless: isStale) }
    }

    @usableFromInline
    func deliver(_ event: Event, unless isStale: () -> Bool) {
        let subscribers = state.withLock { state -> [Subscriber] in
            guard !isStale() else { return [] }
            let all = state.subscribers.all
            guard isOrdered else { return all }
            for subscriber in all { subscriber.handle(event) }
            return []
        }
        for subscriber in subscribers { subscriber.handle(event) }
    }
}
