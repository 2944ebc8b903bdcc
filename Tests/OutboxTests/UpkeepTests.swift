// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage
import TestSupport
import Testing

@testable import Outbox

/// The outbox and its own files: of older versions, and too large ones.
@Suite struct UpkeepTests {
    let lab: OutboxLab
    private let url = "http://127.0.0.1:1/x"
    private var database: String { lab.path + "/outbox.sqlite" }

    init() throws { lab = try OutboxLab() }

    private func fill(_ count: Int, size: Int) async throws -> [OutboxReceipt] {
        let outbox = try await lab.open()
        let body = Data(repeating: 7, count: size)
        let receipts = try await outbox.enqueue(
            (0..<count).map { try OutboxRequest(to: url, lane: "\($0 % 3)", body: .data(body)) })
        await outbox.close()
        return receipts
    }

    @Test(
        "FLD-024 A file of the first version is brought up to date, with all that waits in it and where that goes"
    )
    func firstVersion() async throws {
        let receipts = try await fill(5, size: 10)
        try Database(database).execute(
            OutboxLab.beforePlans + """
                ALTER TABLE entries DROP COLUMN refusals; ALTER TABLE lanes DROP COLUMN origin;
                ALTER TABLE entries ADD COLUMN host TEXT NOT NULL DEFAULT '127.0.0.1';
                ALTER TABLE entries DROP COLUMN timeout; ALTER TABLE entries DROP COLUMN tries;
                ALTER TABLE entries DROP COLUMN unanswered; DROP TABLE holds; DROP TABLE limits; DROP TABLE clock;
                PRAGMA user_version = 1
                """)
        let outbox = try await lab.open()
        #expect(try await outbox.entries().map(\.idempotencyKey) == receipts.map(\.idempotencyKey))
        try await outbox.enqueue(OutboxRequest(to: url))
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        await outbox.close()
        #expect(try Database(database).integer("PRAGMA user_version") == 9)
        let origins = try Database(database).all("SELECT DISTINCT origin FROM lanes") { $0.text(0) }
        #expect(origins == ["http://127.0.0.1:1"])
        #expect(lab.events.elements.allSatisfy { if case .damaged = $0 { false } else { true } })
    }

    @Test(
        "UPL-367 A file whose entries have hosts and origins of their own loses none of them, also where it is damaged",
        arguments: [false, true])
    func fifthVersion(isDamaged: Bool) async throws {
        let receipts = try await fill(5, size: 10)
        try Database(database).execute(
            OutboxLab.beforePlans + """
                ALTER TABLE lanes DROP COLUMN origin; UPDATE lanes SET host = 'old';
                ALTER TABLE entries ADD COLUMN host TEXT NOT NULL DEFAULT 'old';
                ALTER TABLE entries ADD COLUMN origin TEXT NOT NULL DEFAULT 'http://old';
                PRAGMA user_version = 5
                """)
        if isDamaged { _ = try DatabaseRecovery(OutboxPaths(folder: lab.path)).run() }
        let outbox = try await lab.open()
        #expect(try await outbox.entries().map(\.idempotencyKey) == receipts.map(\.idempotencyKey))
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        let lanes = try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                let tables = OutboxTables(database)
                try tables.checkLanes()
                try tables.hold("http://127.0.0.1:1", "it refuses")
                return try database.all("SELECT name, head, host, origin FROM lanes ORDER BY name") {
                    "\($0.text(0)) \($0.int(1)) \($0.text(2)) \($0.text(3))"
                }
            }
        }
        #expect(lanes == (0..<3).map { "\($0) \($0 + 1) 127.0.0.1 http://127.0.0.1:1" })
        #expect(try await outbox.entries().map(\.hold) == receipts.map { _ in "it refuses" })
        await outbox.close()
    }

    @Test("Stored limits hold for processes that ask for them, also after damage")
    func storedLimits() async throws {
        let first = try await lab.open {
            $0.limits.maximumEntries = 2
            $0.limits.policy = .dropOldest
        }
        #expect(try await first.storedLimits() == nil)
        try await first.storeLimits()
        await first.close()
        _ = try DatabaseRecovery(OutboxPaths(folder: lab.path)).run()
        let other = try await lab.open()
        #expect(other.limits == OutboxLimits())
        await other.close()
        let second = try await lab.open {
            $0.usesStoredLimits = true
            $0.limits.maximumReplySize = 7
        }
        #expect(second.limits.maximumEntries == 2 && second.limits.policy == .dropOldest)
        #expect(second.limits.maximumReplySize == 7)
        let receipts = try await second.enqueue((0..<3).map { _ in try OutboxRequest(to: url) })
        #expect(try await second.entries().map(\.id) == receipts.suffix(2).map(\.id))
        await second.close()
    }

    @Test("What is free is given back once the outbox has emptied, and nothing of the rest is lost")
    func compaction() async throws {
        let receipts = try await fill(200, size: 60_000)
        let large = try size()
        let outbox = try await lab.open()
        try await outbox.remove(receipts.dropLast(3).map(\.id))
        // Unchanged: SQLite does not return unused space by itself.
        #expect(try size() >= large)
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        #expect(try size() < large / 10)
        #expect(try await outbox.entries().map(\.id) == receipts.suffix(3).map(\.id))
        let next = try await outbox.enqueue(OutboxRequest(to: url))
        #expect(next.id > receipts[199].id)
        await outbox.close()
        #expect(try Database(database).faults(isQuick: false).isEmpty)
    }

    @Test("Little that is free stays: writing the file anew would cost more")
    func littleIsFree() async throws {
        let receipts = try await fill(200, size: 60_000)
        let outbox = try await lab.open()
        try await outbox.remove(receipts.prefix(100).map(\.id))
        let size = try size()
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        #expect(try self.size() == size)
        await outbox.close()
    }

    /// The database's size, with the content of its log.
    private func size() throws -> Int64 {
        let database = try Database(database)
        return try database.integer("PRAGMA page_count") * database.integer("PRAGMA page_size")
    }

    @Test(
        "Who stops gives the delivery away at once, though a child that was forked still has the lock's file")
    func forkedChild() async throws {
        let (first, second) = (try await lab.open(), try await lab.open())
        try await first.startDelivery(with: OutboxLab.manager())
        // A child between fork(2) and execve(2) shares the open file, as a duplicate does.
        let lock = try #require(
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
                .first {
                    number in
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))
                        == lab.path + "/outbox.lock"
                })
        let duplicate = dup(lock)
        defer { close(duplicate) }
        await first.stopDelivery()
        try await second.startDelivery(with: OutboxLab.manager())
        await second.close()
    }
}
