// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Storage

/// How an entry ended.
public enum OutboxSettlement: Sendable, Equatable {
    /// It was removed from the outbox.
    case left(OutboxResult)
    /// It is a dead letter.
    case dead(OutboxEntry)
    /// No such entry is known.
    case unknown
}

// The entries of an outbox, also while another process delivers.
extension RequestOutbox {
    /// Entries, the oldest first.
    ///
    /// - Parameters:
    ///   - state: only those in this state; nil for all.
    ///   - lane: only those of this lane; nil for all.
    ///   - tag: only those with this tag; nil for all.
    ///   - after: only those after this ID; the last of a page begins the next.
    ///   - limit: the most entries.
    public func entries(
        state: OutboxEntry.State? = nil, lane: String? = nil, tag: String? = nil, after: OutboxID? = nil,
        limit: Int = 1_000
    ) async throws -> [OutboxEntry] {
        try await entries(
            OutboxSelection(state: state, lane: lane, tag: tag), after: after, limit: limit)
    }

    /// The entries of a selection, the oldest first, after an ID, at most `limit`.
    public func entries(_ selection: OutboxSelection, after: OutboxID? = nil, limit: Int = 1_000)
        async throws -> [OutboxEntry]
    {
        try await readEntries { (tables) throws(StorageError) in
            try tables.entries(selection, after: after, limit: limit, now: WallClock.now)
        }
    }

    /// An entry; nil if there is none with this ID.
    public func entry(_ id: OutboxID) async throws -> OutboxEntry? {
        try await readEntries { (tables) throws(StorageError) in try tables.entry(id).map { [$0] } ?? [] }
            .first
    }

    /// Entries, each with the reason why the manager holds it.
    private func readEntries(
        _ body: @escaping @Sendable (OutboxTables) throws(StorageError) -> [OutboxEntry]
    ) async throws -> [OutboxEntry] {
        try await on { (engine) throws(OutboxError) in
            var entries = try engine.file.read { (database) throws(StorageError) in
                try body(OutboxTables(database))
            }
            guard !engine.inFlight.isEmpty else { return entries }
            for index in entries.indices where entries[index].hold == nil {
                entries[index].hold = engine.inFlight[entries[index].id]?.task.holdReason
            }
            return entries
        }
    }

    /// The server's answer to a dead letter; nil if there was none.
    public func reply(to id: OutboxID) async throws -> OutboxReply? {
        try await read { (tables) throws(StorageError) in try tables.reply(id) }
    }

    /// How an entry left; nil if it is still stored, or unknown.
    public func result(of id: OutboxID) async throws -> OutboxResult? {
        try await read { (tables) throws(StorageError) in try tables.result(id) }
    }

    /// The number of entries, their size and age.
    public func counts() async throws -> OutboxCounts {
        try await read { (tables) throws(StorageError) in try tables.counts() }
    }

    /// Waits until an entry was delivered, dropped or removed, or has become a dead letter, by any process.
    ///
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    public func settlement(of id: OutboxID) async throws -> OutboxSettlement {
        let waiter = SettlementWaiter(id)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait(waiter, $0) }
        } onCancel: {
            forget(waiter)
        }
    }

    /// Makes dead letters wait again, in their old order in their lanes; all without IDs.
    ///
    /// One stays dead while a newer one with its name waits (``OutboxRequest/replaces``).
    ///
    /// - Returns: those that were dead letters.
    @discardableResult
    public func retry(_ ids: [OutboxID]? = nil) async throws -> [OutboxID] {
        guard let ids else { return try await retry(OutboxSelection()) }
        return try await retry { (_) throws(StorageError) in ids }
    }

    /// Makes the dead letters of a selection wait again, for example those that got 404.
    ///
    /// - Returns: those that wait again.
    @discardableResult
    public func retry(_ selection: OutboxSelection) async throws -> [OutboxID] {
        var selection = selection
        selection.state = .dead
        return try await retry { [selection] (tables) throws(StorageError) in
            try tables.identifiers(selection)
        }
    }

    private func retry(_ chosen: @escaping @Sendable (OutboxTables) throws(StorageError) -> [OutboxID])
        async throws -> [OutboxID]
    {
        try await on { (engine) throws(OutboxError) in
            let revived = try engine.file.write { (database) throws(StorageError) -> [OutboxID] in
                let tables = OutboxTables(database)
                return try tables.revive(chosen(tables))
            }
            engine.broadcaster.publish(.retried(revived))
            engine.startReady()
            return revived
        }
    }

    /// Removes entries; one in flight may still arrive.
    ///
    /// - Returns: those that existed.
    @discardableResult
    public func remove(_ ids: [OutboxID]) async throws -> [OutboxID] {
        try await remove { (_) throws(StorageError) in ids }
    }

    /// Removes the entries of a selection; one in flight may still arrive.
    ///
    /// - Returns: those that were removed.
    @discardableResult
    public func remove(_ selection: OutboxSelection) async throws -> [OutboxID] {
        try await remove { (tables) throws(StorageError) in try tables.identifiers(selection) }
    }

    private func remove(_ chosen: @escaping @Sendable (OutboxTables) throws(StorageError) -> [OutboxID])
        async throws -> [OutboxID]
    {
        try await on { (engine) throws(OutboxError) in
            var files: [String] = []
            let removed = try engine.file.write { (database) throws(StorageError) -> [OutboxID] in
                files = []
                let (tables, now) = (OutboxTables(database), WallClock.now)
                var removed: [OutboxID] = []
                for id in try chosen(tables)
                where try tables.remove(id, as: .removed, now: now, files: &files) {
                    removed.append(id)
                }
                try engine.trimResults(tables, removed.count)
                return removed
            }
            engine.bodies.remove(files)
            engine.broadcaster.publish(.removed(removed))
            engine.recall()
            engine.answerWaiters()
            engine.startReady()
            return removed
        }
    }

    /// Pauses delivery in every process until ``resume()``; stored, so it survives restarts.
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
            engine.startReady()
        }
    }

    /// Makes all waiting entries due at once; in the process that delivers, batches do not wait for others.
    public func flush() async throws {
        try await on { (engine) throws(OutboxError) in
            let asked = engine.refusals.makeDue(at: WallClock.now)
            try engine.file.write { (database) throws(StorageError) in
                let tables = OutboxTables(database)
                try tables.makeDue()
                for record in asked { try tables.store(record) }
            }
            engine.flushBatches()
            engine.startReady()
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
        guard try await storedLimits() != limits else { return }
        try await on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                try OutboxTables(database).store(limits)
            }
        }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxTables) throws(StorageError) -> Value
    ) async throws -> Value {
        try await on { (engine) throws(OutboxError) in
            try engine.file.read { (database) throws(StorageError) in try body(OutboxTables(database)) }
        }
    }
}

/// A call that waits until an entry is settled.
///
/// Unchecked because the compiler cannot see threads: made by the caller, and from then on used on the
/// outbox's thread alone.
final class SettlementWaiter: @unchecked Sendable {
    let id: OutboxID
    var continuation: CheckedContinuation<OutboxSettlement, any Error>?
    /// Whether the wait was given up, perhaps before it began.
    var isForgotten = false

    init(_ id: OutboxID) { self.id = id }

    func end(_ result: Result<OutboxSettlement, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}
