// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the bytes of a task in both directions; written by the loop, read by everybody.
final class ByteCounters: Sendable {
    /// Which way bytes go.
    enum Direction: Sendable {
        case sent, received
    }

    private struct Counter: ~Copyable, Sendable {
        let completed = Atomic<Int64>(0)
        /// −1 while nobody knows.
        let total = Atomic<Int64>(-1)
    }

    private let sent = Counter()
    private let received = Counter()
    /// Whether somebody wants to hear of each change.
    let isWatched = Atomic<Bool>(false)

    /// How far one direction is.
    func snapshot(_ direction: Direction) -> TransferProgress.Snapshot {
        switch direction {
        case .sent: Self.snapshot(sent)
        case .received: Self.snapshot(received)
        }
    }

    /// Notes a change; the count never goes back.
    ///
    /// - Returns: whether somebody wants to hear of it.
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
