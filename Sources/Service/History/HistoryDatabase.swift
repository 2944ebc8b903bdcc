// SPDX-License-Identifier: Apache-2.0

import Glibc
package import ReachabilityCore
package import ServiceCore
import SessionCore
package import Storage

/// The history's database; for one thread.
package final class HistoryDatabase {
    /// The file in the state directory.
    package static let fileName = "history.sqlite"

    package static let schema = Schema(
        applicationID: 0x7265_6868,
        steps: [
            """
            CREATE TABLE runs (
                id INTEGER PRIMARY KEY AUTOINCREMENT, began INTEGER NOT NULL, seen INTEGER NOT NULL,
                seen_boot INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE changes (
                id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, wall INTEGER NOT NULL, boot INTEGER NOT NULL,
                is_status INTEGER NOT NULL, status INTEGER NOT NULL, online INTEGER NOT NULL, interface TEXT, medium TEXT,
                generation INTEGER NOT NULL, reason TEXT NOT NULL, code TEXT NOT NULL);
            CREATE INDEX changes_wall ON changes (wall);
            """,
            // Clocks are set, so age follows the order of writing, and no query uses the wall clock.
            "DROP INDEX changes_wall",
            // What was found behind each uplink; without a name behind the path in use.
            """
            CREATE TABLE lines (
                id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, wall INTEGER NOT NULL, boot INTEGER NOT NULL,
                interface TEXT, state TEXT NOT NULL, reason TEXT NOT NULL)
            """,
        ])

    let database: Database
    /// The new path of a damaged file; nil if the file was sound.
    package private(set) var setAside: String?

    /// Opens the history for writing; a damaged file is moved aside, and a new one begun.
    ///
    /// - Parameter isSuspect: whether the file was found damaged in use, and is checked completely.
    package init(_ path: String, isSuspect: Bool = false) throws(StorageError) {
        do throws(StorageError) { database = try Self.open(path, isSuspect) } catch {
            guard error.kind.isDamage else { throw error }
            setAside = try Self.setAside(path)
            database = try Self.open(path, false)
        }
    }

    /// Opens the history for reading, beside a service that writes.
    package init(reading path: String) throws(StorageError) {
        database = try Database(reading: path)
        try database.check(Self.schema)
    }

    private static func open(_ path: String, _ isSuspect: Bool) throws(StorageError) -> Database {
        let database = try Database(path, busyTimeout: 2000)
        let faults = try database.faults(isQuick: !isSuspect)
        guard faults.isEmpty else { throw StorageError(.corrupt, faults[0], path: path) }
        try database.migrate(to: schema)
        return database
    }

    private static func setAside(_ path: String) throws(StorageError) -> String {
        let copies = DamagedCopies(of: path)
        let target = copies.next
        // The log first: the file's name shows the next free number, also after an interruption.
        for companion in DatabaseFile.companions { rename(path + companion, target + companion) }
        guard rename(path, target) == 0 else { throw DatabaseFile.failure("cannot be set aside", path) }
        copies.trim()
        return target
    }

    // MARK: Writing

    /// Begins a run.
    package func beginRun(at wall: WallTime, boot: Int64) throws(StorageError) -> Int64 {
        try database.run(
            "INSERT INTO runs (began, seen, seen_boot) VALUES (?1, ?1, ?2)",
            [.integer(wall.nanoseconds), .integer(boot)])
        return database.lastRow
    }

    /// Records that the run was alive at this moment.
    package func beat(_ run: Int64, at wall: WallTime, boot: Int64, isEnd: Bool = false) throws(StorageError)
    {
        try database.run(
            "UPDATE runs SET seen = ?, seen_boot = ?, ended = ? WHERE id = ?",
            [.integer(wall.nanoseconds), .integer(boot), SQLValue(isEnd), .integer(run)])
    }

    /// Stores changes, all or none; this is a sign of life as well.
    package func append(_ records: [HistoryRecord]) throws(StorageError) {
        guard let last = records.last else { return }
        try database.transaction { () throws(StorageError) in
            for record in records {
                if let internet = record.internet {
                    try database.run(
                        "INSERT INTO lines (run, wall, boot, interface, state, reason) VALUES (?, ?, ?, ?, ?, ?)",
                        [
                            .integer(record.run), .integer(record.wall.nanoseconds), .integer(record.boot),
                            SQLValue(record.interface), .text(internet.rawValue), .text(record.reason),
                        ])
                    continue
                }
                try database.run(
                    """
                    INSERT INTO changes
                    (run, wall, boot, is_status, status, online, interface, medium, generation, reason, code)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        .integer(record.run), .integer(record.wall.nanoseconds), .integer(record.boot),
                        SQLValue(record.isStatus), .integer(Int64(record.status.rawValue)),
                        SQLValue(record.isOnline), SQLValue(record.interface), SQLValue(record.medium),
                        .integer(Int64(truncatingIfNeeded: record.generation)), .text(record.reason),
                        .text(record.code),
                    ])
            }
            try beat(last.run, at: last.wall, boot: last.boot)
        }
    }

    /// Removes changes that are too old or too many, and runs without changes.
    ///
    /// The last change before the limit stays, since its state reaches into the remaining time. A change is
    /// old if it was stored before the first one that is not: a device without a battery for its clock writes
    /// 1970 at each start, which says nothing about the changes before. The time of a change follows from the
    /// run's last sign of life, as in the time line.
    package func prune(before limit: WallTime, keeping entries: Int64) throws(StorageError) {
        try database.transaction { () throws(StorageError) in
            try database.run(
                """
                DELETE FROM changes WHERE id < (
                    SELECT max(id) FROM changes WHERE id < coalesce((
                        SELECT changes.id FROM changes CROSS JOIN runs ON runs.id = changes.run
                        WHERE changes.boot - runs.seen_boot + runs.seen >= ? ORDER BY changes.id LIMIT 1
                    ), 9223372036854775807))
                """, [.integer(limit.nanoseconds)])
            try database.run(
                "DELETE FROM changes WHERE id <= (SELECT max(id) FROM changes) - ?", [.integer(entries)])
            try pruneLines(limit, entries)
            try database.run(
                """
                DELETE FROM runs WHERE id < (SELECT max(id) FROM runs) AND id NOT IN (SELECT run FROM changes)
                AND id NOT IN (SELECT run FROM lines)
                """)
        }
    }

    /// The same for the internet: of each uplink the last change before the limit stays, if it is of the same
    /// run as the first one after it.
    private func pruneLines(_ limit: WallTime, _ entries: Int64) throws(StorageError) {
        try database.run(
            """
            WITH first(id) AS (SELECT coalesce((
                SELECT lines.id FROM lines CROSS JOIN runs ON runs.id = lines.run
                WHERE lines.boot - runs.seen_boot + runs.seen >= ? ORDER BY lines.id LIMIT 1
            ), 9223372036854775807))
            DELETE FROM lines WHERE id < (SELECT id FROM first) AND id NOT IN (
                SELECT max(id) FROM lines WHERE id < (SELECT id FROM first) AND run = coalesce(
                    (SELECT run FROM lines WHERE id = (SELECT id FROM first)), (SELECT max(run) FROM lines))
                GROUP BY interface)
            """, [.integer(limit.nanoseconds)])
        try database.run(
            "DELETE FROM lines WHERE id <= (SELECT max(id) FROM lines) - ?", [.integer(entries)])
    }
}
