// SPDX-License-Identifier: Apache-2.0

import Glibc
import Storage

/// Copies the readable entries of a damaged database into a new one, and replaces the damaged one by it.
///
/// The new database is complete and on the disk before the damaged one is moved; its name then marks the
/// exchange as begun, and the next process that opens the outbox finishes it if this one is killed. Until
/// then the damaged database and its log stay in place. Contents of unreadable entries are stored beside the
/// damaged database, which may still name them.
struct DatabaseRecovery {
    private let paths: OutboxPaths
    /// Called before each step that an interruption may follow; tests throw from it.
    private let willStep: () throws(StorageError) -> Void

    init(_ paths: OutboxPaths, willStep: @escaping () throws(StorageError) -> Void = {}) {
        self.paths = paths
        self.willStep = willStep
    }

    /// - Returns: the new path of the damaged database, and how many entries were copied.
    func run() throws(StorageError) -> (aside: String, salvaged: Int) {
        for suffix in [""] + DatabaseFile.companions { unlink(paths.draft + suffix) }
        // A deleted database gets a placeholder: contents may lie beside it.
        if DatabaseFile.size(paths.database) == nil { close(PrivateFile.make(paths.database)) }
        let (salvaged, known) = try carryOver()
        try sync(paths.draft)
        let bodies = BodyFolder(paths: paths)
        let lost = bodies.unclaimed { known.contains($0) }
        try willStep()
        try bodies.link(lost, into: DamagedCopies.bodies(paths.damaged.next))
        try move(paths.draft, to: paths.successor)
        try DatabaseFile.syncFolder(of: paths.successor)
        let aside = try exchange()
        bodies.remove(lost)
        return (aside, salvaged)
    }

    /// Finishes an exchange that another process has begun.
    func finish() throws(StorageError) -> (aside: String, salvaged: Int) {
        let aside = try exchange()
        let count = try Database(paths.database).integer("SELECT count(*) FROM entries")
        return (aside, Int(count))
    }

    /// Replaces the damaged database by the complete one; completed steps are not repeated.
    private func exchange() throws(StorageError) -> String {
        let aside = paths.damaged.next
        // The log first: the number of the damaged copy follows from the database file, so a repetition finds
        // the same number. No log may stay beside the new database, since SQLite would apply it.
        for suffix in DatabaseFile.companions {
            try move(paths.database + suffix, to: aside + suffix, mayBeMissing: true)
        }
        try move(paths.database, to: aside, mayBeMissing: true)
        try DatabaseFile.syncFolder(of: paths.database)
        try move(paths.successor, to: paths.database)
        try DatabaseFile.syncFolder(of: paths.database)
        try willStep()
        paths.damaged.trim()
        return aside
    }

    private func move(_ path: String, to other: String, mayBeMissing: Bool = false) throws(StorageError) {
        try willStep()
        guard rename(path, other) != 0, !(mayBeMissing && errno == ENOENT) else { return }
        throw DatabaseFile.failure("cannot move it to \(other)", path)
    }

    /// Syncs a closed database to the disk.
    private func sync(_ path: String) throws(StorageError) {
        // SQLite removes or empties the log with the last connection, once its content is in the file.
        guard DatabaseFile.size(path + DatabaseFile.companions[0]) ?? 0 == 0 else {
            throw StorageError(.inputOutput, "its log of changes is still needed", path: path)
        }
        for suffix in DatabaseFile.companions { unlink(path + suffix) }
        let number = PrivateFile.openFile(path, O_RDWR)
        guard number >= 0 else { throw DatabaseFile.failure("cannot open it", path) }
        defer { close(number) }
        guard fsync(number) == 0 else { throw DatabaseFile.failure("cannot sync it", path) }
    }

    /// - Returns: how many entries, and the files of their contents.
    private func carryOver() throws(StorageError) -> (count: Int, files: Set<String>) {
        let new = try Database(paths.draft)
        try new.migrate(to: .outbox)
        var count = 0
        // If the old database cannot be opened, nothing is copied.
        if hasContent(), let old = try? Database(paths.database) {
            count = try new.transaction { () throws(StorageError) in try copy(from: old, to: new) }
        }
        try new.checkpoint()
        let files = try new.all("SELECT file FROM contents WHERE file IS NOT NULL") { $0.text(0) }
        return (count, Set(files))
    }

    /// Whether there is content to read; an empty file gets a first page: SQLite deletes a log beside an
    /// empty file, and the log may hold all of a small outbox.
    private func hasContent() -> Bool {
        guard DatabaseFile.size(paths.database) ?? 0 == 0 else { return true }
        let log = PrivateFile.openFile(paths.database + DatabaseFile.companions[0], O_RDONLY)
        guard log >= 0 else { return false }
        defer { close(log) }
        // sqlite.org/fileformat2.html#wal_file_format: the size of a page is at byte 8, big-endian.
        var number = [UInt8](repeating: 0, count: 4)
        guard pread(log, &number, 4, 8) == 4 else { return false }
        let page = number.reduce(0) { $0 << 8 | Int($1) }
        guard (512...65_536).contains(page), page & (page - 1) == 0 else { return false }
        return truncate(paths.database, page) == 0
    }

    private func copy(from old: Database, to new: Database) throws(StorageError) -> Int {
        var count = 0
        for id in identifiers(old) {
            guard let entry = row(old, "entries", id), let content = row(old, "contents", id),
                (try? insert(entry, "entries", new)) != nil
            else { continue }
            guard (try? insert(content, "contents", new)) != nil else {
                try new.run("DELETE FROM entries WHERE id = ?", [.integer(id)])
                continue
            }
            for table in ["replies", "plans", "downloads"] {
                if let found = row(old, table, id) { _ = try? insert(found, table, new) }
            }
            count += 1
        }
        // What cannot be read of these is lost, and the entries are sent without it.
        for table in ["tags", "gates", "batches", "spending", "leftovers"] {
            let rows = (try? old.all("SELECT * FROM \(table)") { $0.row }) ?? []
            for row in rows { _ = try? insert(row, table, new) }
        }
        for table in ["limits", "clock"] {
            guard let row = try? old.first("SELECT * FROM \(table)", [], { $0.row }) else { continue }
            _ = try? insert(row, table, new)
        }
        let paused = (try? old.integer("SELECT paused FROM totals")) ?? 0
        try new.run("UPDATE totals SET paused = ?", [.integer(paused == 0 ? 0 : 1)])
        let last = (try? old.integer("SELECT seq FROM sqlite_sequence WHERE name = 'entries'")) ?? 0
        try new.run(
            "INSERT OR REPLACE INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'entries', max(?, (SELECT coalesce(max(id), 0) FROM entries)))",
            [.integer(last)])
        try OutboxTables(new).rebuild()
        return count
    }

    /// The IDs of the entries, from both ends of the table towards the damage, and one by one between.
    private func identifiers(_ old: Database) -> [Int64] {
        let (lower, isWhole) = scan(
            old, "SELECT id FROM entries NOT INDEXED WHERE id > ? ORDER BY id LIMIT 1", 0)
        if isWhole { return lower }
        let (upper, _) = scan(
            old, "SELECT id FROM entries NOT INDEXED WHERE id < ? ORDER BY id DESC LIMIT 1", .max)
        let first = lower.last ?? 0
        guard let last = upper.last, last > first + 1 else { return Array(Set(lower + upper)).sorted() }
        // The default limit of entries in a database.
        let between = (first + 1..<last).prefix(100_000)
        return lower + between + upper.reversed()
    }

    private func scan(_ old: Database, _ sql: String, _ start: Int64) -> (found: [Int64], isWhole: Bool) {
        var found: [Int64] = []
        while true {
            let next: Int64?
            do throws(StorageError) {
                next = try old.first(sql, [.integer(found.last ?? start)]) { $0.int64(0) }
            } catch { return (found, false) }
            guard let next else { return (found, true) }
            // A damaged table may contain a cycle.
            guard found.last.map({ start == 0 ? next > $0 : next < $0 }) ?? true else {
                return (found, false)
            }
            found.append(next)
        }
    }

    private func row(_ old: Database, _ table: String, _ id: Int64) -> [(name: String, value: SQLValue)]? {
        (try? old.first("SELECT * FROM \(table) NOT INDEXED WHERE id = ?", [.integer(id)]) { $0.row }) ?? nil
    }

    /// Those of earlier versions' entries.
    private static let formerColumns: Set<String> = ["host", "origin"]

    private func insert(_ row: [(name: String, value: SQLValue)], _ table: String, _ new: Database)
        throws(StorageError)
    {
        let row = row.filter { !Self.formerColumns.contains($0.name) }
        let names = row.map(\.name).joined(separator: ", ")
        let marks = row.map { _ in "?" }.joined(separator: ", ")
        try new.run("INSERT INTO \(table) (\(names)) VALUES (\(marks))", row.map(\.value))
    }
}
