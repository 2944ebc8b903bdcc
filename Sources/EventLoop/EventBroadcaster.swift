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

/// Calls its subscribers with each event, in the same order all of them; its end ends all subscriptions.
///
/// An event is delivered on the thread that publishes it; while another thread delivers, that one does it
/// next. No lock is held meanwhile: a handler that resumes a Swift task waits for that task's own
/// lock, whose holder may be a cancellation that ends a subscription.
package final class EventBroadcaster<Event: Sendable>: Sendable {
    private struct Subscriber {
        let handle: @Sendable (Event) -> Void
        let end: (@Sendable () -> Void)?
    }

    /// An event, or the end where it is nil, and who gets it.
    private struct Delivery {
        let event: Event?
        let subscribers: [Subscriber]
    }

    private struct State {
        var subscribers = SubscriberList<Subscriber>()
        var isClosed = false
        /// Whether a thread is delivering.
        var isDelivering = false
        /// What that thread delivers next.
        var pending: [Delivery] = []
    }

    private let state = Mutex(State())
    /// Read without the lock, since mostly there are no subscribers.
    @usableFromInline let isObserved = Atomic<Bool>(false)

    package init() {}

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

    /// Ends a subscription without calling its `onEnd`; events that are being delivered may still come.
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
        deliver { state in
            state.isClosed = true
            isObserved.store(false, ordering: .relaxed)
            return Delivery(event: nil, subscribers: state.subscribers.removeAll())
        }
    }

    @inlinable
    package var hasSubscribers: Bool { isObserved.load(ordering: .relaxed) }

    /// Publishes an event, which is made only where there are subscribers.
    @inlinable
    package func publish(_ event: @autoclosure () -> Event) {
        if hasSubscribers { enqueue(event(), unless: { false }) }
    }

    /// Publishes an event, unless a condition holds that is read in the order of the events.
    @inlinable
    package func publish(_ event: @autoclosure () -> Event, unless isStale: () -> Bool) {
        if hasSubscribers { enqueue(event(), unless: isStale) }
    }

    @usableFromInline
    func enqueue(_ event: Event, unless isStale: () -> Bool) {
        deliver { state in isStale() ? nil : Delivery(event: event, subscribers: state.subscribers.all) }
    }

    private func deliver(_ make: (inout State) -> Delivery?) {
        var next: Delivery? = state.withLock { state in
            guard let delivery = make(&state), !delivery.subscribers.isEmpty else { return nil }
            guard !state.isDelivering else {
                state.pending.append(delivery)
                return nil
            }
            state.isDelivering = true
            return delivery
        }
        while let delivery = next {
            for subscriber in delivery.subscribers {
                if let event = delivery.event { subscriber.handle(event) } else { subscriber.end?() }
            }
            next = state.withLock { state in
                guard state.pending.isEmpty else { return state.pending.removeFirst() }
                state.isDelivering = false
                return nil
            }
        }
    }
}
