// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Storage

/// The table that most tests use.
let notes = Schema(
    applicationID: 0x5EAC_0001,
    steps: ["CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"])

@Suite struct DatabaseTests {
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    func open() throws -> Database {
        let database = try Database(folder("a.sqlite"), busyTimeout: 0)
        try database.migrate(to: notes)
        return database
    }

    @Test("The file and its companions are for their owner alone, changes are logged ahead and synced")
    func opening() throws {
        let database = try open()
        try database.run("INSERT INTO notes (text) VALUES ('a')")
        for name in ["a.sqlite", "a.sqlite-wal", "a.sqlite-shm"] {
            var status = stat()
            #expect(lstat(folder(name), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
        #expect(database.journalMode == "wal")
        #expect(try database.integer("PRAGMA synchronous") == 2)
        #expect(try database.integer("PRAGMA foreign_keys") == 1)
    }

    @Test("A file that others may read is closed to them")
    func narrowed() throws {
        close(Glibc.open(folder("a.sqlite"), O_CREAT | O_WRONLY, 0o644))
        #expect(chmod(folder("a.sqlite"), 0o644) == 0)
        _ = try open()
        var status = stat()
        #expect(lstat(folder("a.sqlite"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("Values come back as they went in")
    func values() throws {
        let database = try open()
        try database.execute("CREATE TABLE everything (a, b, c, d, e, f, g)")
        let values: [SQLValue] = [
            .null, .integer(.min), .real(-1.5), .text(""), .text("ä\u{0}b"), .bytes([]), .bytes([0, 255]),
        ]
        try database.run("INSERT INTO everything VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        try database.query("SELECT * FROM everything") { row in
            #expect(row.isNull(0) && row.optionalInt64(0) == nil && row.optionalText(0) == nil)
            #expect(row.int64(1) == .min)
            #expect(row.double(2) == -1.5)
            #expect(row.optionalText(3)?.isEmpty == true)
            #expect(row.text(4) == "ä\u{0}b")
            #expect(row.optionalBytes(5) == [])
            #expect(row.bytes(6) == [0, 255])
            return true
        }
        #expect(throws: StorageError.self) { try database.run("INSERT INTO notes (text) VALUES (?)", []) }
    }

    @Test("A statement that is at work is not disturbed by the same one inside")
    func reentrance() throws {
        let database = try open()
        for text in ["a", "b"] { try database.run("INSERT INTO notes (text) VALUES (?)", [.text(text)]) }
        var pairs: [String] = []
        let sql = "SELECT text FROM notes ORDER BY id"
        try database.query(sql) { (outer) throws(StorageError) in
            pairs += try database.all(sql) { outer.text(0) + $0.text(0) }
            return true
        }
        #expect(pairs == ["aa", "ab", "ba", "bb"])
    }

    @Test("A transaction that throws has changed nothing, with what it called; the next one is free to begin")
    func transactions() throws {
        let database = try open()
        let failure = StorageError(.other, "enough", path: "")
        #expect(throws: failure) {
            try database.transaction { () throws(StorageError) in
                try database.run("INSERT INTO notes (text) VALUES ('a')")
                try database.transaction { () throws(StorageError) in
                    _ = try database.run("INSERT INTO notes (text) VALUES ('b')")
                }
                throw failure
            }
        }
        #expect(try database.integer("SELECT count(*) FROM notes") == 0)
        try database.transaction { () throws(StorageError) in
            _ = try database.run("INSERT INTO notes (text) VALUES ('c')")
        }
        #expect(try database.integer("SELECT count(*) FROM notes") == 1)
        #expect(database.lastRow == 1)
    }

    @Test("The data version shows changes of other connections, and not one's own")
    func dataVersion() throws {
        let (one, another) = (try open(), try open())
        let before = try one.dataVersion()
        try one.run("INSERT INTO notes (text) VALUES ('a')")
        #expect(try one.dataVersion() == before)
        try another.run("INSERT INTO notes (text) VALUES ('b')")
        #expect(try one.dataVersion() != before)
        #expect(try one.integer("SELECT count(*) FROM notes") == 2)
    }

    @Test("The log is emptied into the file")
    func checkpoint() throws {
        let database = try open()
        try database.run("INSERT INTO notes (text) VALUES ('a')")
        try database.checkpoint()
        var status = stat()
        #expect(stat(folder("a.sqlite-wal"), &status) == 0)
        #expect(status.st_size == 0)
    }
}
