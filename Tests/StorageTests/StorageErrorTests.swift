// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Storage

@Suite struct StorageErrorTests {
    let folder: ScratchFolder
    var path: String { folder("a.sqlite") }

    init() throws { folder = try ScratchFolder() }

    func open() throws -> Database {
        let database = try Database(path, busyTimeout: 0)
        try database.migrate(to: notes)
        return database
    }

    /// The error of what has to fail.
    func failure(_ body: () throws(StorageError) -> Void) -> StorageError? {
        do throws(StorageError) { try body() } catch { return error }
        return nil
    }

    @Test("A file that another connection writes to is locked, and says so")
    func locked() throws {
        let (one, another) = (try open(), try open())
        let error = try one.transaction { () throws(StorageError) in
            failure { () throws(StorageError) in try another.transaction {} }
        }
        #expect(error?.kind == .locked)
        #expect(error?.description.contains(path) == true)
        #expect(error?.description.contains("another program") == true)
        try another.transaction {}
    }

    @Test("A full disk says so, and what was there stays")
    func full() throws {
        let database = try open()
        try database.run("INSERT INTO notes (text) VALUES ('a')")
        try database.execute("PRAGMA max_page_count = 4")
        let text = String(repeating: "x", count: 100_000)
        let error = failure { () throws(StorageError) in
            try database.transaction { () throws(StorageError) in
                _ = try database.run("INSERT INTO notes (text) VALUES (?)", [.text(text)])
            }
        }
        #expect(error?.kind == .diskFull)
        #expect(error?.advice.contains("free some space") == true)
        #expect(try database.integer("SELECT count(*) FROM notes") == 1)
        try database.run("UPDATE notes SET text = 'b'")
    }

    @Test("A database opened for reading refuses changes")
    func readOnly() throws {
        try open().checkpoint()
        let reader = try Database(reading: path)
        let error = failure { () throws(StorageError) in try reader.execute("DELETE FROM notes") }
        #expect(error?.kind == .readOnly)
    }

    @Test("A file that is no database is distinguished from a damaged one, and neither is changed")
    func damage() throws {
        try write(Array("This is a letter, and no database at all. ".utf8), to: path)
        #expect(failure { () throws(StorageError) in _ = try Database(path) }?.kind == .notADatabase)
        #expect(try read(path).starts(with: Array("This is".utf8)))

        unlink(path)
        do {
            let database = try open()
            try database.transaction { () throws(StorageError) in
                for number in 0..<2_000 {
                    try database.run("INSERT INTO notes (text) VALUES (?)", [.text("note \(number)")])
                }
            }
            #expect(try database.faults() == [])
            try database.checkpoint()
        }
        var bytes = try read(path)
        for index in 4096 * 3..<4096 * 4 { bytes[index] = 0xA5 }
        try write(bytes, to: path)
        let database = try open()
        #expect(try database.faults().isEmpty == false)
        let error = failure { () throws(StorageError) in
            _ = try database.integer("SELECT count(text) FROM notes")
        }
        #expect(error?.kind == .corrupt)
        #expect(error?.kind.isDamage == true)
    }

    @Test("A folder that is not there, and a path that is no file")
    func paths() throws {
        let missing = failure { () throws(StorageError) in _ = try Database(folder("b/c.sqlite")) }
        #expect(missing?.kind == .cannotOpen)
        #expect(missing?.advice.contains("folder exists") == true)
        mkdir(folder("d"), 0o700)
        #expect(failure { () throws(StorageError) in _ = try Database(folder("d")) }?.kind == .cannotOpen)
    }

    @Test("A wrong statement names the error")
    func wrong() throws {
        let database = try open()
        let error = failure { () throws(StorageError) in try database.run("SELECT a FROM nowhere") }
        #expect(error?.kind == .other)
        #expect(error?.message == "no such table: nowhere")
        let rule = failure { () throws(StorageError) in
            try database.run("INSERT INTO notes (text) VALUES (NULL)")
        }
        #expect(rule?.kind == .constraint)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    private func read(_ path: String) throws -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        try #require(count > 0)
        return Array(bytes[..<count])
    }
}
