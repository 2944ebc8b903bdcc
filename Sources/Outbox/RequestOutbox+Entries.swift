// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Storage

/// How an entry ended.
public enum OutboxSettlement: Sendable, Equatable {
    /// It is out of the outbox.
    case left(OutboxResult)
    /// It is a dead letter.
    case dead(OutboxEntry)
    /// No such entry is known.
    case unknown
}

// What is in an outbox, also while another process delivers.
extension RequestOutbox {
    /// Entries, the oldest first.
    ///
    /// - Parameters:
    ///   - state: only those; nil for all.
    ///   - lane: only those of this lane; nil for all.
    ///   - after: only later ones than this: the last of a list begins the next.
    ///   - limit: at most so many.
    public func entries(
        state: OutboxEntry.State? = nil, lane: String? = nil, after: OutboxID? = nil, limit: Int = 1_000
    ) async throws -> [OutboxEntry] {
        try await read { (tables) throws(StorageError) in
            try tables.entries(state: state, lane: lane, after: after, limit: limit)
        }
    }

    /// An entry; nil where there is none with this number.
    public func entry(_ id: OutboxID) async throws -> OutboxEntry? {
        try await read { (tables) throws(StorageError) in try tables.entry(id) }
    }

    /// What the server said to a dead letter; nil where it said nothing.
    public func reply(to id: OutboxID) async throws -> OutboxReply? {
        try await read { (tables) throws(StorageError) in try tables.reply(id) }
    }

    /// How an entry left; nil where it is still there, or unknown.
    public func result(of id: OutboxID) async throws -> OutboxResult? {
        try await read { (tables) throws(StorageError) in try tables.result(id) }
    }

    /// How many entries there are, how large, and how old.
    public func counts() async throws -> OutboxCounts {
        try await read { (tables) throws(StorageError) in try tables.counts() }
    }

    /// Waits until an entry was delivered, dropped or removed, or has become a dead letter; whichever process
    /// does it.
    ///
    /// - Throws: `CancellationError` where the task is cancelled meanwhile.
    public func settlement(of id: OutboxID) async throws -> OutboxSettlement {
        let waiter = SettlementWaiter(id)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait(waiter, $0) }
        } onCancel: {
            forget(waiter)
        }
    }

    /// Lets dead letters wait again, at their old places in their lanes; all where no numbers are given.
    ///
    /// - Returns: those that were dead letters.
    @discardableResult
    public func retry(_ ids: [OutboxID]? = nil) async throws -> [OutboxID] {
        try await on { (engine) throws(OutboxError) in
            let revived = try engine.file.write { (database) throws(StorageError) in
                try OutboxTables(database).revive(ids)
            }
            engine.broadcaster.publish(.retried(revived))
            engine.pump()
            return revived
        }
    }

    /// Removes entries; one in flight may still arrive.
    ///
    /// - Returns: those that were there.
    @discardableResult
    public func remove(_ ids: [OutboxID]) async throws -> [OutboxID] {
        try await on { (engine) throws(OutboxError) in
            var files: [String] = []
            let removed = try engine.file.write { (database) throws(StorageError) -> [OutboxID] in
                files = []
                let (tables, now) = (OutboxTables(database), WallClock.now)
                var removed: [OutboxID] = []
                for id in ids where try tables.remove(id, as: .removed, now: now, files: &files) {
                    removed.append(id)
                }
                try tables.trimResults()
                return removed
            }
            engine.bodies.remove(files)
            engine.broadcaster.publish(.removed(removed))
            engine.recall()
            engine.answerWaiters()
            engine.pump()
            return removed
        }
    }

    /// Lets nothing more leave, whichever process delivers, until ``resume()``; stored, so it outlives
    /// restarts.
    public func pause() async throws { try await setPaused(true) }

    /// Ends the pause.
    public func resume() async throws { try await setPaused(false) }

    private func setPaused(_ isPaused: Bool) async throws {
        try await on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                _ = try database.run("UPDATE totals SET paused = ?", [SQLValue(isPaused)])
            }
            try engine.readPause()
            engine.recall()
            engine.pump()
        }
    }

    /// Has everything that waits for its next try sent as soon as its turn comes.
    public func flush() async throws {
        try await on { (engine) throws(OutboxError) in
            let asked = engine.refusals.hurry(at: WallClock.now)
            try engine.file.write { (database) throws(StorageError) in
                let tables = OutboxTables(database)
                try tables.hurry()
                for record in asked { try tables.store(record) }
            }
            engine.pump()
        }
    }

    /// The limits stored in it; nil without any.
    package func storedLimits() async throws -> OutboxLimits? {
        let base = limits
        return try await read { (tables) throws(StorageError) in try tables.limits(base: base) }
    }

    /// Stores ``limits`` in it, for processes without limits of their own.
    package func storeLimits() async throws {
        let limits = limits
        try await on { (engine) throws(OutboxError) in
            let kept = try engine.file.read { (database) throws(StorageError) in
                try OutboxTables(database).limits(base: limits)
            }
            guard kept != limits else { return }
            try engine.file.write { (database) throws(StorageError) in
                try OutboxTables(database).store(limits)
            }
        }
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxTables) throws(StorageError) -> Value
    ) async throws -> Value {
        try await on { (engine) throws(OutboxError) in
            try engine.file.read { (database) throws(StorageError) in try body(OutboxTables(database)) }
        }
    }
}

/// A call that waits for an entry to leave.
///
/// Unchecked because the compiler cannot see threads: made by the caller, and from then on used on the
/// outbox's thread alone.
final class SettlementWaiter: @unchecked Sendable {
    let id: OutboxID
    var continuation: CheckedContinuation<OutboxSettlement, any Error>?
    /// The wait was given up, perhaps before it began.
    var isForgotten = false

    init(_ id: OutboxID) { self.id = id }

    func end(_ result: Result<OutboxSettlement, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}
