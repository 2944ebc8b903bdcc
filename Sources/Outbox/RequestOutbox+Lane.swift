// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Storage

/// How much of a lane is kept, for contents of which the newest count.
package struct LaneBounds: Sendable, Equatable {
    /// The most bytes of content, dead letters included.
    package var bytes: Int64
    /// How long dead letters are kept.
    package var deadLetters: Duration

    package init(bytes: Int64, deadLetters: Duration) {
        self.bytes = bytes
        self.deadLetters = deadLetters
    }
}

extension RequestOutbox {
    /// Drops dead letters of a lane that are too old, and then the oldest of its entries, dead letters first,
    /// until the others fit.
    ///
    /// One in flight may still arrive.
    ///
    /// - Returns: those that were dropped.
    /// - Throws: ``OutboxError``.
    @discardableResult
    package func trim(lane: String, to bounds: LaneBounds) async throws -> [OutboxID] {
        try await on { (engine) throws(OutboxError) -> [OutboxID] in
            var (dropped, files): ([OutboxID], [String]) = ([], [])
            try engine.file.write { (database) throws(StorageError) in
                (dropped, files) = ([], [])
                let (tables, now) = (OutboxTables(database), WallClock.now)
                for id in try tables.surplus(lane: lane, bounds, now: now)
                where try tables.remove(id, as: .dropped, now: now, files: &files) { dropped.append(id) }
                if !dropped.isEmpty { try tables.trimResults() }
            }
            guard !dropped.isEmpty else { return dropped }
            engine.bodies.remove(files)
            for id in dropped { engine.broadcaster.publish(.dropped(id)) }
            engine.recall()
            engine.answerWaiters()
            engine.startReady()
            return dropped
        }
    }
}

extension OutboxTables {
    /// The entries of a lane that are too many, in the order in which they go.
    func surplus(lane: String, _ bounds: LaneBounds, now: Int64) throws(StorageError) -> [OutboxID] {
        // Each in an index; a lane without dead letters reads those of others.
        let (dead, waiting) = ("INDEXED BY dead WHERE state = 1", "INDEXED BY waiting WHERE state = 0")
        var surplus: [OutboxID] = []
        let limit = now - bounds.deadLetters.milliseconds
        var bytes: Int64 = -bounds.bytes
        for part in [dead, waiting] {
            bytes += try database.integer(
                "SELECT coalesce(sum(size), 0) FROM entries \(part) AND lane = ?", [.text(lane)])
        }
        for part in [dead, waiting] {
            try database.query(
                "SELECT id, size, created FROM entries \(part) AND lane = ? ORDER BY id", [.text(lane)]
            ) { row in
                guard bytes > 0 || part == dead && row.int64(2) < limit else { return false }
                surplus.append(OutboxID(rawValue: row.int64(0)))
                bytes -= row.int64(1)
                return true
            }
        }
        return surplus
    }
}
