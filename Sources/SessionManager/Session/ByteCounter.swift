// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the bytes of one direction; written by the loop, read by everybody.
final class ByteCounter: Sendable {
    private let completed = Atomic<Int64>(0)
    /// −1 while nobody knows.
    private let total = Atomic<Int64>(-1)
    private let listeners = Mutex<[@Sendable () -> Void]>([])
    private let isWatched = Atomic<Bool>(false)

    var snapshot: TransferProgress.Snapshot {
        let all = total.load(ordering: .relaxed)
        return TransferProgress.Snapshot(
            completedBytes: completed.load(ordering: .relaxed), totalBytes: all < 0 ? nil : all)
    }

    /// Has `body` called after each change as well, on the loop's thread.
    func whenChanged(_ body: @escaping @Sendable () -> Void) {
        listeners.withLock { $0.append(body) }
        isWatched.store(true, ordering: .releasing)
    }

    /// Notes a change; the count never goes back.
    func update(_ count: Int64, of all: Int64?) {
        let before = completed.load(ordering: .relaxed)
        let sum = all ?? -1
        guard count > before || sum != total.load(ordering: .relaxed) else { return }
        if count > before { completed.store(count, ordering: .relaxed) }
        if sum >= 0 { total.store(sum, ordering: .relaxed) }
        if isWatched.load(ordering: .acquiring) { for body in listeners.withLock({ $0 }) { body() } }
    }
}
