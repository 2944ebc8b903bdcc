// SPDX-License-Identifier: Apache-2.0

import Reachability
import Synchronization

/// How far one direction of a task is; readable from any thread at any time.
///
/// Cancelling, pausing and resuming it does the same to the task.
public final class TransferProgress: Sendable {
    /// A moment of it.
    public struct Snapshot: Sendable, Equatable {
        /// Bytes so far; never decreases.
        public var completedBytes: Int64
        /// Bytes in all; nil while unknown, as with chunked or compressed content.
        public var totalBytes: Int64?

        /// A moment.
        public init(completedBytes: Int64, totalBytes: Int64?) {
            self.completedBytes = completedBytes
            self.totalBytes = totalBytes
        }

        /// The part that is done, 0 to 1; 0 while the total is unknown.
        public var fractionCompleted: Double {
            guard let totalBytes else { return 0 }
            return totalBytes > 0 ? min(1, Double(completedBytes) / Double(totalBytes)) : 1
        }

        /// Whether only bytes can be shown and no fraction.
        public var isIndeterminate: Bool { totalBytes == nil }
    }

    /// At most one before the newest, so that a fast transfer shows a moment before its end.
    private let calls = Mutex(PendingCalls<Snapshot>())
    private let counters: ByteCounters
    private let direction: ByteCounters.Direction
    private let handler: (@Sendable (Snapshot) -> Void)?
    private let queue: DeliveryQueue?
    private let control: @Sendable (Control) -> Void

    enum Control: Sendable { case cancel, pause, resume }

    init(
        of counters: ByteCounters, _ direction: ByteCounters.Direction, queue: DeliveryQueue?,
        handler: (@Sendable (Snapshot) -> Void)?, control: @escaping @Sendable (Control) -> Void
    ) {
        self.counters = counters
        self.direction = direction
        self.queue = queue
        self.handler = handler
        self.control = control
        if handler != nil { counters.isWatched.store(true, ordering: .releasing) }
    }

    /// How far it is.
    public var snapshot: Snapshot { counters.snapshot(direction) }
    /// Bytes so far.
    public var completedBytes: Int64 { snapshot.completedBytes }
    /// Bytes in all; nil while unknown.
    public var totalBytes: Int64? { snapshot.totalBytes }
    /// The part that is done, 0 to 1.
    public var fractionCompleted: Double { snapshot.fractionCompleted }

    /// Cancels the task.
    public func cancel() { control(.cancel) }
    /// Suspends the task.
    public func pause() { control(.pause) }
    /// Resumes the task.
    public func resume() { control(.resume) }

    /// Has the handler called with what is now, if there is one; on the loop's thread.
    func bytesChanged() {
        guard handler != nil, let queue else { return }
        let begins = calls.withLock { calls in
            if calls.values.count >= 2 { calls.values.removeLast() }
            calls.values.append(snapshot)
            return calls.begin()
        }
        // The closure keeps the object: the last moment arrives although the task has released it.
        if begins {
            queue.submit { while let next = self.calls.withLock({ $0.next() }) { self.handler?(next) } }
        }
    }
}

/// Values that one call after the other gets, in order; kept behind a lock.
package struct PendingCalls<Value> {
    package var values: [Value] = []
    private var areDelivered = false

    package init() {}

    /// Begins the delivery of the values; false where it is under way.
    package mutating func begin() -> Bool {
        defer { areDelivered = true }
        return !areDelivered
    }

    /// The next value; nil ends the delivery.
    package mutating func next() -> Value? {
        guard values.isEmpty else { return values.removeFirst() }
        areDelivered = false
        return nil
    }
}

/// Counts the bytes of a task in both directions; written by the loop, read by any thread.
final class ByteCounters: Sendable {
    /// Which way bytes go.
    enum Direction: Sendable { case sent, received }

    private struct Counter: ~Copyable, Sendable {
        let completed = Atomic<Int64>(0)
        /// −1 while unknown.
        let total = Atomic<Int64>(-1)
    }

    private let sent = Counter()
    private let received = Counter()
    /// Whether each change is to be reported.
    let isWatched = Atomic<Bool>(false)

    /// How far one direction is.
    func snapshot(_ direction: Direction) -> TransferProgress.Snapshot {
        switch direction {
        case .sent: Self.snapshot(sent)
        case .received: Self.snapshot(received)
        }
    }

    /// Records a change; the count never decreases; true if the change is to be reported.
    func update(_ direction: Direction, to count: Int64, of all: Int64?) -> Bool {
        let hasChanged =
            switch direction {
            case .sent: Self.update(sent, count, all)
            case .received: Self.update(received, count, all)
            }
        return hasChanged && isWatched.load(ordering: .acquiring)
    }

    private static func snapshot(_ counter: borrowing Counter) -> TransferProgress.Snapshot {
        let all = counter.total.load(ordering: .relaxed)
        return TransferProgress.Snapshot(
            completedBytes: counter.completed.load(ordering: .relaxed), totalBytes: all < 0 ? nil : all)
    }

    private static func update(_ counter: borrowing Counter, _ count: Int64, _ all: Int64?) -> Bool {
        let before = counter.completed.load(ordering: .relaxed)
        let sum = all ?? -1
        guard count > before || sum != counter.total.load(ordering: .relaxed) else { return false }
        if count > before { counter.completed.store(count, ordering: .relaxed) }
        if sum >= 0 { counter.total.store(sum, ordering: .relaxed) }
        return true
    }
}
