// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Databases that are too large for being checked before they are used.
@Suite struct LargeFileTests {
    let lab: OutboxLab
    private let url = "http://127.0.0.1:1/x"

    init() throws { lab = try OutboxLab() }

    private func fill(_ count: Int) async throws {
        let outbox = try await lab.open()
        try await outbox.enqueue(
            (0..<count).map { number in
                try OutboxRequest(
                    to: "\(url)?n=\(number)", lane: "\(number % 3)", body: .data(Data("\(number)".utf8)))
            })
        try await outbox.pause()
        await outbox.close()
        // What is in the log is not in the file yet.
        try Database(OutboxPaths(folder: lab.path).database).checkpoint()
    }

    private func openLarge() async throws -> RequestOutbox {
        try await lab.open { $0.largestCheckedAtOnce = 0 }
    }

    private func damage() async throws -> (reason: String, salvaged: Int) {
        try await lab.wait { event in
            if case .damaged(_, let reason, let count) = event { (reason, count) } else { nil }
        }
    }

    @Test("OBX-130 A large database is in use while it is checked, and replaced once damage is found")
    func tables() async throws {
        try await fill(500)
        let path = OutboxPaths(folder: lab.path).database
        let size = Int(try Database(path).integer("PRAGMA page_count")) * 4096
        let descriptor = open(path, O_WRONLY)
        let bytes = [UInt8](repeating: 0xA5, count: 4096)
        // A page in the middle, which no request that is stored touches.
        try #require(pwrite(descriptor, bytes, bytes.count, size / 8192 * 4096) == bytes.count)
        close(descriptor)
        let outbox = try await openLarge()
        let salvaged = try await damage().salvaged
        #expect(salvaged > 0)
        #expect(try await outbox.entries(limit: 1_000).count == salvaged)
        #expect(try await outbox.enqueue(OutboxRequest(to: url)).id > OutboxID(rawValue: 500))
        await outbox.close()
    }

    @Test("OBX-131 Requests of a large database that no lane has are found when the delivery has begun")
    func lanes() async throws {
        try await fill(6)
        try Database(OutboxPaths(folder: lab.path).database).execute("DELETE FROM lanes WHERE name = '1'")
        let outbox = try await openLarge()
        try await outbox.startDelivery(with: OutboxLab.manager())
        let (reason, salvaged) = try await damage()
        #expect(reason == "2 requests are missing from their lanes")
        #expect(salvaged == 6)
        let lanes = try await outbox.read { (tables) throws(StorageError) in
            try tables.database.integer("SELECT count(*) FROM lanes")
        }
        #expect(lanes == 3)
        await outbox.close()
    }

    @Test("OBX-132 A sound large database stays what it is, and is closed while it is checked")
    func sound() async throws {
        try await fill(500)
        let before = FileIdentity(OutboxPaths(folder: lab.path).database)
        let outbox = try await openLarge()
        let receipt = try await outbox.enqueue(OutboxRequest(to: url))
        #expect(receipt.id == OutboxID(rawValue: 501))
        await outbox.close()
        let paths = OutboxPaths(folder: lab.path)
        #expect(DatabaseCheck.run(.tables, paths) == nil && DatabaseCheck.run(.lanes, paths) == nil)
        #expect(before.isSame(as: paths.database))
    }
}
