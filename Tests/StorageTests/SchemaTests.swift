// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Storage

@Suite struct SchemaTests {
    let folder: ScratchFolder
    let grown = Schema(
        applicationID: notes.applicationID,
        steps: notes.steps + ["ALTER TABLE notes ADD COLUMN at INTEGER", "UPDATE notes SET at = id * 10"])

    init() throws { folder = try ScratchFolder() }

    func open() throws -> Database { try Database(folder("a.sqlite")) }

    @Test("An older file takes the steps that it lacks, and keeps what it has")
    func migration() throws {
        let database = try open()
        try database.migrate(to: notes)
        try database.run("INSERT INTO notes (text) VALUES ('a')")
        try database.migrate(to: grown)
        try database.migrate(to: grown)
        #expect(try database.integer("SELECT at FROM notes") == 10)
        #expect(try database.integer("PRAGMA user_version") == 3)
    }

    @Test("A step that fails is not taken, and those before it are")
    func failure() throws {
        let database = try open()
        let broken = Schema(
            applicationID: notes.applicationID,
            steps: notes.steps + ["CREATE TABLE more (a); CREATE TABLE notes (b)"])
        #expect(throws: StorageError.self) { try database.migrate(to: broken) }
        #expect(try database.integer("PRAGMA user_version") == 1)
        #expect(try database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'more'") == 0)
        try database.migrate(to: grown)
    }

    @Test("Files of newer versions and of other programs are refused and not touched")
    func strangers() throws {
        let database = try open()
        try database.migrate(to: grown)
        let newer = #expect(throws: StorageError.self) { try database.migrate(to: notes) }
        #expect(newer?.kind == .unknownSchema)
        #expect(newer?.description.contains("version 3") == true)
        let other = #expect(throws: StorageError.self) {
            try database.migrate(to: Schema(applicationID: 7, steps: grown.steps))
        }
        #expect(other?.kind == .unknownSchema)
        #expect(try database.integer("PRAGMA user_version") == 3)
    }

    @Test("Two who make the same file at once both find it made")
    func together() async throws {
        let path = folder("a.sqlite")
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    let database = try Database(path, busyTimeout: 60_000)
                    try database.migrate(to: notes)
                    try database.run("INSERT INTO notes (text) VALUES (?)", [.text("\(number)")])
                }
            }
            try await group.waitForAll()
        }
        #expect(try open().integer("SELECT count(*) FROM notes") == 8)
    }
}
