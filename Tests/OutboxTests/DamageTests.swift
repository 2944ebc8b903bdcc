// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage
import TestSupport
import Testing

@testable import Outbox

@Suite struct DamageTests {
    let lab: OutboxLab
    var database: String { lab.path + "/outbox.sqlite" }
    private let url = "http://127.0.0.1:1/x"

    init() throws { lab = try OutboxLab() }

    private func fill(_ count: Int) async throws -> [OutboxReceipt] {
        let outbox = try await lab.open()
        let receipts = try await outbox.enqueue(
            (0..<count).map { number in
                try OutboxRequest(
                    to: "\(url)?n=\(number)", lane: "\(number % 3)", body: .data(Data("\(number)".utf8)))
            })
        try await outbox.pause()
        await outbox.close()
        return receipts
    }

    private func overwrite(_ range: Range<Int>) throws {
        let descriptor = open(database, O_WRONLY)
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 0xA5, count: range.count)
        try #require(pwrite(descriptor, bytes, bytes.count, range.lowerBound) == bytes.count)
    }

    private func damage() async throws -> (path: String, salvaged: Int) {
        try await lab.wait { event in
            if case .damaged(let path, _, let count) = event { (path, count) } else { nil }
        }
    }

    /// Moves the log into the file, so that there is something to damage.
    private func settle() throws {
        let database = try Database(database)
        try database.checkpoint()
    }

    @Test("A damaged page costs what was on it: the rest is carried over, with numbers, keys and order")
    func page() async throws {
        let receipts = try await fill(500)
        try settle()
        let size = try Database(database).integer("PRAGMA page_count") * 4096
        // Somewhere in the midst of the tables.
        try overwrite(Int(size / 2 / 4096) * 4096..<Int(size / 2 / 4096) * 4096 + 4096)
        let outbox = try await lab.open()
        let (path, salvaged) = try await damage()
        #expect(path.hasSuffix("outbox.damaged-1") && access(path, F_OK) == 0)
        #expect(salvaged > 0)
        let entries = try await outbox.entries(limit: 1_000)
        #expect(entries.count == salvaged)
        let keys = Dictionary(uniqueKeysWithValues: receipts.map { ($0.id, $0.idempotencyKey) })
        #expect(entries.allSatisfy { keys[$0.id] == $0.idempotencyKey })
        #expect(try await outbox.counts().waiting == salvaged)
        let next = try await outbox.enqueue(OutboxRequest(to: url))
        #expect(next.id > receipts[499].id)
        await outbox.close()
    }

    @Test("What is no database any more is set aside, and a new one begun")
    func header() async throws {
        _ = try await fill(5)
        try settle()
        try overwrite(0..<100)
        let outbox = try await lab.open()
        #expect(try await damage().salvaged == 0)
        #expect(try await outbox.counts() == OutboxCounts())
        try await outbox.enqueue(OutboxRequest(to: url))
        await outbox.close()
        // A second one does not take the place of the first.
        try settle()
        try overwrite(0..<100)
        await (try lab.open()).close()
        #expect(
            access(lab.path + "/outbox.damaged-1", F_OK) == 0
                && access(lab.path + "/outbox.damaged-2", F_OK) == 0)
    }

    @Test("Who has the damaged file open goes over to the new one")
    func others() async throws {
        let other = try await lab.open { $0.checksIntegrity = false }
        try await other.enqueue(OutboxRequest(to: url))
        // The file is replaced, as after damage that somebody else has found.
        let places = OutboxPlaces(folder: lab.path)
        #expect(try Salvage(places).run().salvaged == 1)
        let receipt = try await other.enqueue(OutboxRequest(to: url))
        #expect(try await lab.open().entries().map(\.id) == [OutboxID(rawValue: 1), receipt.id])
    }

    @Test("Who was interrupted in the midst of it has lost nothing")
    func interrupted() async throws {
        _ = try await fill(3)
        try settle()
        // Between moving the one away and the other into its place.
        rename(database, database + ".new")
        for suffix in DatabaseFile.companions { unlink(database + suffix) }
        #expect(try await lab.open().counts().waiting == 3)
    }

    @Test("A newer file is refused, and not set aside")
    func newer() async throws {
        _ = try await fill(1)
        try Database(database).execute("PRAGMA user_version = 99")
        let error = await #expect(throws: OutboxError.self) { _ = try await lab.open() }
        #expect(error?.code == .storage && error?.advice.contains("newer version") == true)
        #expect(access(lab.path + "/outbox.damaged-1", F_OK) != 0)
    }
}
