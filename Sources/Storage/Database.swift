// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Glibc

/// A database in a file, for one thread: not `Sendable`, so that it stays with the object that made it.
///
/// A transaction's changes are on the disk when it returns (write-ahead log, `synchronous=FULL`), and several
/// processes may use the file. Calls wait for the disk, so they do not belong on the network's loop.
package final class Database {
    package let path: String
    private let handle: DatabaseHandle
    /// A statement, which is compiled again if it is requested while it is in use.
    private final class Compiled {
        let statement: Statement
        var isInUse = false
        init(_ statement: Statement) { self.statement = statement }
    }

    /// By their text.
    private var statements: [String: Compiled] = [:]
    /// SQLite's journal mode: `wal`, or another word where the file system has no shared memory.
    package let journalMode: String

    /// Opens or makes the file, for its owner alone (0600); its folder has to exist.
    ///
    /// - Parameter busyTimeout: how long a call waits for other processes, in milliseconds.
    package init(_ path: String, busyTimeout: Int32 = 10_000) throws(StorageError) {
        try DatabaseFile.create(path)
        self.path = path
        handle = try DatabaseHandle(opening: path, writes: true)
        csqlite_busy_timeout(handle.pointer, busyTimeout)
        let mode = try Self.setWriteAhead(handle, busyTimeout)
        journalMode = mode
        // Without a write-ahead log, EXTRA also syncs the folder after the journal is deleted
        // (sqlite.org/pragma.html#pragma_synchronous). The page cache is bounded to 2 MiB.
        try execute(
            """
            PRAGMA synchronous = \(mode == "wal" ? "FULL" : "EXTRA"); PRAGMA foreign_keys = ON;
            PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF
            """)
        // Setting the journal mode has read the file, and with it the log.
        if mode == "wal" { try DatabaseFile.syncLog(of: path) }
    }

    /// Opens a database for reading only, for instance to recover the content of a damaged one.
    package init(reading path: String) throws(StorageError) {
        try DatabaseFile.check(path)
        self.path = path
        journalMode = ""
        handle = try DatabaseHandle(opening: path, writes: false)
        csqlite_busy_timeout(handle.pointer, 1_000)
    }

    /// Repeats after SQLITE_BUSY, which two processes that create the file get regardless of the time-out.
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
                // SQLite signals no freed lock, so this polls, once in the life of a file.
                usleep(10_000)
                waited += 10
            }
        }
    }

    /// Runs statements without values and ignores their rows.
    package func execute(_ sql: String) throws(StorageError) {
        let code = csqlite_exec(handle.pointer, sql)
        guard code == CSQLITE_OK else { throw handle.error(code) }
    }

    /// Runs one statement with values and calls `row` for each row, until it returns false.
    ///
    /// The compiled statement is cached by its text, so the text should not vary.
    package func query(
        _ sql: String, _ values: [SQLValue] = [], row: (Statement) throws(StorageError) -> Bool
    ) throws(StorageError) {
        // Looked up once: hashing the text costs as much as binding the values.
        let known = statements[sql]
        let isUnused = !(known?.isInUse ?? false)
        let compiled: Compiled
        if let known, isUnused {
            compiled = known
        } else {
            compiled = Compiled(try Statement(sql, of: handle, keeps: isUnused))
            if isUnused { statements[sql] = compiled }
        }
        let statement = compiled.statement
        compiled.isInUse = true
        defer {
            statement.reset()
            compiled.isInUse = false
        }
        try statement.bind(values)
        while try statement.step() {
            guard try row(statement) else { return }
        }
    }

    /// Runs one statement with values, ignores its rows, and returns how many it changed.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> Int {
        try query(sql, values) { _ in true }
        return Int(csqlite_changes(handle.pointer))
    }

    /// The first row as `read` returns it; nil without a row.
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

    /// Each row as `read` returns it.
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

    /// The integer in the first row; 0 without a row.
    package func integer(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> Int64 {
        try first(sql, values) { $0.int64(0) } ?? 0
    }

    /// The row ID of the last INSERT.
    package var lastRow: Int64 { csqlite_last_row(handle.pointer) }

    /// A number that changes when another connection has changed the database (`PRAGMA data_version`).
    package func dataVersion() throws(StorageError) -> Int64 { try integer("PRAGMA data_version") }

    /// Runs `body` with all its changes on disk, or none.
    ///
    /// Acquires the write lock at once (`BEGIN IMMEDIATE`): a transaction that reads first and writes later
    /// could be refused half-way. A nested call is part of the outer transaction.
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

    /// The faults that SQLite finds in the file; empty if it is sound.
    ///
    /// - Parameters:
    ///   - isQuick: whether indices are not compared with their tables (`PRAGMA quick_check`).
    ///   - table: the only table that is checked, without the list of unused pages; nil for the whole file.
    package func faults(isQuick: Bool = true, of table: String? = nil) throws(StorageError) -> [String] {
        do throws(StorageError) {
            let scope = table.map { "'\($0)'" } ?? "20"
            let found = try all("PRAGMA \(isQuick ? "quick_check" : "integrity_check")(\(scope))") {
                $0.text(0)
            }
            // A finding has a heading on a line of its own.
            return found == ["ok"]
                ? [] : found.map { $0.split(separator: "\n").joined(separator: " ") }
        } catch {
            // Damage that stops the check itself is a finding.
            guard error.kind.isDamage else { throw error }
            return [error.message]
        }
    }

    /// Moves the log's content into the file and truncates the log, if no other connection reads it.
    package func checkpoint() throws(StorageError) {
        try query("PRAGMA wal_checkpoint(TRUNCATE)") { _ in true }
    }
}
