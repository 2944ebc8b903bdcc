// SPDX-License-Identifier: Apache-2.0

import Glibc
import Storage

/// Carries over what can be read of a damaged database into a new one.
///
/// The new one is complete before the damaged one is moved away, so that whoever is interrupted leaves either the one or the other. Contents
/// of entries that could not be read are kept beside the damaged one: it may still say what they were.
struct Salvage {
    private let places: OutboxPlaces

    init(_ places: OutboxPlaces) { self.places = places }

    /// - Returns: where the damaged one lies now, and how many entries were carried over.
    func run() throws(StorageError) -> (aside: String, salvaged: Int) {
        for path in [places.successor] + DatabaseFile.companions.map({ places.successor + $0 }) {
            unlink(path)
        }
        let (salvaged, known) = try carryOver()
        let aside = places.damaged.next
        let bodies = BodyFolder(places: places)
        let lost = bodies.unclaimed { known.contains($0) }
        try bodies.link(lost, into: DamagedCopies.bodies(aside))
        // The log first: the file is what tells which number is free, so after an interruption both get the same one.
        for suffix in DatabaseFile.companions { rename(places.database + suffix, aside + suffix) }
        if rename(places.database, aside) != 0, errno != ENOENT {
            throw DatabaseFile.failure("cannot move the damaged database to \(aside)", places.database)
        }
        if rename(places.successor, places.database) != 0 {
            throw DatabaseFile.failure("cannot put the new database in its place", places.successor)
        }
        try DatabaseFile.syncFolder(of: places.database)
        bodies.remove(lost)
        places.damaged.trim()
        return (aside, salvaged)
    }

    /// - Returns: how many entries, and the files of their contents.
    private func carryOver() throws(StorageError) -> (count: Int, files: Set<String>) {
        let new = try Database(places.successor)
        try new.migrate(to: .outbox)
        var count = 0
        // Where not even that works, there is nothing to be carried over.
        if let old = try? Database(places.database) {
            count = try new.transaction { () throws(StorageError) in try copy(from: old, to: new) }
        }
        try new.checkpoint()
        let files = try new.all("SELECT file FROM contents WHERE file IS NOT NULL") { $0.text(0) }
        return (count, Set(files))
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
            if let reply = row(old, "replies", id) { _ = try? insert(reply, "replies", new) }
            count += 1
        }
        if let limits = try? old.first("SELECT * FROM limits", [], { $0.row }) {
            _ = try? insert(limits, "limits", new)
        }
        if let clock = try? old.first("SELECT * FROM clock", [], { $0.row }) {
            _ = try? insert(clock, "clock", new)
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

    /// The numbers of the entries, from both ends of the table towards the damage, and singly where it lies between.
    private func identifiers(_ old: Database) -> [Int64] {
        let (lower, isWhole) = scan(
            old, "SELECT id FROM entries NOT INDEXED WHERE id > ? ORDER BY id LIMIT 1", 0)
        if isWhole { return lower }
        let (upper, _) = scan(
            old, "SELECT id FROM entries NOT INDEXED WHERE id < ? ORDER BY id DESC LIMIT 1", .max)
        let first = lower.last ?? 0
        guard let last = upper.last, last > first + 1 else { return Array(Set(lower + upper)).sorted() }
        // As many as a database has at most by default.
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
            // A damaged table may lead in a circle.
            guard found.last.map({ start == 0 ? next > $0 : next < $0 }) ?? true else {
                return (found, false)
            }
            found.append(next)
        }
    }

    private func row(_ old: Database, _ table: String, _ id: Int64) -> [(name: String, value: SQLValue)]? {
        (try? old.first("SELECT * FROM \(table) NOT INDEXED WHERE id = ?", [.integer(id)]) { $0.row }) ?? nil
    }

    private func insert(_ row: [(name: String, value: SQLValue)], _ table: String, _ new: Database)
        throws(StorageError)
    {
        let names = row.map(\.name).joined(separator: ", ")
        let marks = row.map { _ in "?" }.joined(separator: ", ")
        try new.run("INSERT INTO \(table) (\(names)) VALUES (\(marks))", row.map(\.value))
    }
}
