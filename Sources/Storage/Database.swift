// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Glibc

/// A database in a file, for one thread: not `Sendable`, so that it stays with the object that made it.
///
/// What a transaction has changed is on the disk when it returns (write-ahead log, `synchronous=FULL`), and several processes may use the
/// file. Its calls wait for the disk, so they do not belong on the loop of the network.
package final class Database {
    package let path: String
    private let handle: DatabaseHandle
    /// Compiled statements by their text.
    private var statements: [String: Statement] = [:]
    /// Those that are at work: a statement that is asked for again meanwhile is compiled again.
    private var inUse: Set<String> = []
    /// How changes are kept: `wal`; another word where the file system has no shared memory.
    package let journalMode: String

    /// Opens or makes it; the file is for its owner alone (0600), its folder has to exist.
    ///
    /// - Parameter busyTimeout: how long a call waits for other processes, in milliseconds.
    package init(_ path: String, busyTimeout: Int32 = 10_000) throws(StorageError) {
        try DatabaseFile.create(path)
        self.path = path
        handle = try DatabaseHandle(opening: path, writes: true)
        csqlite_busy_timeout(handle.pointer, busyTimeout)
        let mode = try Self.setWriteAhead(handle, busyTimeout)
        journalMode = mode
        // Without a log of changes, EXTRA also syncs the folder after the journal is deleted (sqlite.org/pragma.html#pragma_synchronous).
        // What is deleted is overwritten only by chance otherwise, and the page cache is bounded to 2 MiB.
        try execute(
            """
            PRAGMA synchronous = \(mode == "wal" ? "FULL" : "EXTRA"); PRAGMA foreign_keys = ON;
            PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF
            """)
    }

    /// Opens it for reading alone, for instance to save what can be saved of a damaged one.
    package init(reading path: String) throws(StorageError) {
        try DatabaseFile.check(path)
        self.path = path
        journalMode = ""
        handle = try DatabaseHandle(opening: path, writes: false)
        csqlite_busy_timeout(handle.pointer, 1_000)
    }

    /// Two processes that make the same file at once find it locked, whatever the busy time-out: neither may wait for the other.
    private static func setWriteAhead(_ handle: DatabaseHandle, _ patience: Int32) throws(StorageError)
        -> String
    {
        var waited: Int32 = 0
        while true {
            do throws(StorageError) {
                let statement = try Statement("PRAGMA journal_mode = WAL", of: handle, keeps: false)
                return try statement.step() ? statement.text(0) : ""
            } catch {
                guard error.kind == .locked, waited < patience else { throw error }
                // SQLite tells nobody when a lock is free; this is a thread of the database's own, once in the life of a file.
                usleep(10_000)
                waited += 10
            }
        }
    }

    /// Runs statements that need no values and whose rows nobody wants.
    package func execute(_ sql: String) throws(StorageError) {
        let code = csqlite_exec(handle.pointer, sql)
        guard code == CSQLITE_OK else { throw handle.error(code) }
    }

    /// Runs one statement with values and has `row` called for each row, until it returns false.
    ///
    /// Compiled once and kept, so the text should not vary.
    package func query(
        _ sql: String, _ values: [SQLValue] = [], row: (Statement) throws(StorageError) -> Bool
    ) throws(StorageError) {
        let statement: Statement
        let isKept = inUse.insert(sql).inserted
        defer { if isKept { inUse.remove(sql) } }
        if isKept, let kept = statements[sql] {
            statement = kept
        } else {
            statement = try Statement(sql, of: handle, keeps: isKept)
            if isKept { statements[sql] = statement }
        }
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() {
            guard try row(statement) else { return }
        }
    }

    /// Runs one statement with values, whose rows nobody wants.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> Int {
        try query(sql, values) { _ in true }
        return Int(csqlite_changes(handle.pointer))
    }

    /// The first row's values as `read` takes them, or nil where there is no row.
    package func first<Value>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (Statement) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        var value: Value?
        try query(sql, values) { (statement) throws(StorageError) in
            value = try read(statement)
            return false
        }
        return value
    }

    /// Each row's values as `read` takes them.
    package func all<Value>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (Statement) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        var found: [Value] = []
        try query(sql, values) { (statement) throws(StorageError) in
            found.append(try read(statement))
            return true
        }
        return found
    }

    /// The whole number in the first row; 0 where there is none.
    package func integer(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> Int64 {
        try first(sql, values) { $0.int64(0) } ?? 0
    }

    /// The row that the last INSERT made.
    package var lastRow: Int64 { csqlite_last_row(handle.pointer) }

    /// A number that differs from before where another connection has changed something (`PRAGMA data_version`).
    package func dataVersion() throws(StorageError) -> Int64 { try integer("PRAGMA data_version") }

    /// Runs `body` with all its changes on disk, or none.
    ///
    /// It takes the right to write at once (`BEGIN IMMEDIATE`), waiting for others as long as the busy time-out allows: a transaction that
    /// reads first and writes later could be refused in its midst. One inside another is a part of it.
    package func transaction<Value>(_ body: () throws(StorageError) -> Value) throws(StorageError) -> Value {
        if csqlite_is_in_transaction(handle.pointer) { return try body() }
        try run("BEGIN IMMEDIATE")
        do throws(StorageError) {
            let value = try body()
            try run("COMMIT")
            return value
        } catch {
            // Some failures, a full disk among them, have rolled back already.
            if csqlite_is_in_transaction(handle.pointer) { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    /// What SQLite finds wrong with the file; empty where it is sound.
    ///
    /// - Parameter isQuick: whether indices are not compared with their tables (`PRAGMA quick_check`).
    package func faults(isQuick: Bool = true) throws(StorageError) -> [String] {
        do throws(StorageError) {
            let found = try all("PRAGMA \(isQuick ? "quick_check" : "integrity_check")(20)") { $0.text(0) }
            return found == ["ok"] ? [] : found
        } catch {
            // What keeps the check itself from going on.
            guard error.kind.isDamage else { throw error }
            return [error.message]
        }
    }

    /// Moves the log's content into the file and makes the log empty, where nobody else reads it.
    package func checkpoint() throws(StorageError) {
        try query("PRAGMA wal_checkpoint(TRUNCATE)") { _ in true }
    }
}
