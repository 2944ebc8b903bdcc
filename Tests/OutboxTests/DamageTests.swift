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

    /// Changes text in the first page of an index, which stays well formed: only a comparison with the table shows it.
    private func alter(index: String, _ text: String, to other: String) throws {
        let page = try Database(database).integer(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", [.text(index)])
        var bytes = try Data(contentsOf: URL(filePath: database))
        let range = try #require(
            bytes[Int(page - 1) * 4096..<Int(page) * 4096].firstRange(of: Data(text.utf8)))
        bytes.replaceSubrange(range, with: Data(other.utf8))
        let descriptor = open(database, O_WRONLY)
        defer { close(descriptor) }
        try #require(bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
    }

    @Test(
        "Damage of an index alone, which the check does not see, is met by a new file when it shows",
        arguments: [("sqlite_autoindex_entries_1", "key-1", "kex-1"), ("waiting", "lane-1", "lanx-1")])
    func index(name: String, text: String, other: String) async throws {
        let origin = try await Origin.shared
        let first = try await lab.open()
        let receipts = try await first.enqueue(
            (0..<3).map { number in
                var request = try OutboxRequest(
                    to: origin.url("/post?key=\(lab.folder.path.suffix(6))&n=\(number)"),
                    lane: "lane-\(number)")
                request.idempotencyKey = "key-\(number)"
                return request
            })
        await first.close()
        try settle()
        try alter(index: name, text, to: other)
        #expect(try Database(database).faults().isEmpty)
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        for receipt in receipts { try await lab.delivered(receipt.id) }
        #expect(try await damage().path.hasSuffix("outbox.damaged-1"))
        #expect(try await outbox.counts() == OutboxCounts())
        // Nothing was sent again for it.
        #expect(
            OutboxLab.numbers(try await origin.statistics(String(lab.folder.path.suffix(6)))).sorted() == [
                0, 1, 2,
            ])
        await outbox.close()
        #expect(try Database(database).faults(isQuick: false).isEmpty)
    }

    @Test("A request that damage of an index has hidden from its lane is found with the next start")
    func hidden() async throws {
        let origin = try await Origin.shared
        let account = OutboxLab.account()
        let first = try await lab.open()
        let receipts = try await first.enqueue(
            (0..<3).map { number in
                try OutboxRequest(to: origin.url("/post?key=\(account)&n=\(number)"), lane: "lane-1")
            })
        await first.close()
        try settle()
        // The newest lies first in the page.
        try alter(index: "waiting", "lane-1", to: "lanx-1")
        #expect(try Database(database).faults().isEmpty)
        let second = try await lab.open()
        // The others leave, and with them the lane, in which nothing seems to wait any more.
        try await second.remove(receipts[..<2].map(\.id))
        #expect(try Database(database).integer("SELECT count(*) FROM lanes") == 0)
        try await second.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[2].id)
        #expect(OutboxLab.numbers(try await origin.statistics(account)) == [2])
        await second.close()
    }

    @Test(
        "Contents whose entries cannot be read any more are kept beside the damaged database, of the last three"
    )
    func lostContents() async throws {
        for round in 1...5 {
            let outbox = try await lab.open()
            let body = Data(repeating: UInt8(round), count: 100_000)
            try await outbox.enqueue(OutboxRequest(to: url, body: .data(body)))
            await outbox.close()
            try settle()
            try overwrite(0..<100)
            let next = try await lab.open()
            #expect(try await next.counts() == OutboxCounts())
            try await next.pause()
            try await next.startDelivery(with: OutboxLab.manager())
            await next.close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: lab.path + "/outbox.bodies").isEmpty)
            let folder = lab.path + "/outbox.damaged-\(round).bodies"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.count == 1)
            #expect(try Data(contentsOf: URL(filePath: folder + "/" + names[0])) == body)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: lab.path).filter {
            $0.hasPrefix("outbox.damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        #expect(left.sorted() == (3...5).flatMap { ["outbox.damaged-\($0)", "outbox.damaged-\($0).bodies"] })
    }

    @Test("A content that is just being stored stays where it is")
    func stagedContent() async throws {
        await (try lab.open()).close()
        let places = OutboxPlaces(folder: lab.path)
        let bodies = BodyFolder(places: places)
        let staged = try bodies.stage(Data(repeating: 1, count: 100_000))
        try bodies.keep(staged)
        _ = try Salvage(places).run()
        #expect(access(places.body(staged.name), F_OK) == 0)
        bodies.discard(staged)
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
