// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage
import Synchronization
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

    /// Moves the log into the file, so that there is content to damage.
    private func settle() throws {
        let database = try Database(database)
        try database.checkpoint()
    }

    @Test("A damaged page costs what was on it: the rest is carried over, with numbers, keys and order")
    func page() async throws {
        let receipts = try await fill(500)
        try settle()
        // In the middle of what the tables have, behind the pages that describe them.
        let roots = try Database(database).integer("SELECT max(rootpage) FROM sqlite_schema")
        let pages = try Database(database).integer("PRAGMA page_count")
        let start = Int((roots + pages) / 2) * 4096
        try overwrite(start..<start + 4096)
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
        // A second damaged copy does not replace the first.
        try settle()
        try overwrite(0..<100)
        await (try lab.open()).close()
        #expect(
            access(lab.path + "/outbox.damaged-1", F_OK) == 0
                && access(lab.path + "/outbox.damaged-2", F_OK) == 0)
    }

    /// Changes text in the first page of an index, which stays well-formed: only a comparison with the table
    /// detects it.
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
        // Nothing was sent again because of it.
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
        // The newest entry is first in the page.
        try alter(index: "waiting", "lane-1", to: "lanx-1")
        #expect(try Database(database).faults().isEmpty)
        let second = try await lab.open()
        // The others leave, and with them the lane, in which no entry seems to wait any more.
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
        let paths = OutboxPaths(folder: lab.path)
        let bodies = BodyFolder(paths: paths)
        let staged = try bodies.stage(Data(repeating: 1, count: 100_000))
        try bodies.commit(staged)
        _ = try DatabaseRecovery(paths).run()
        #expect(access(paths.body(staged.name), F_OK) == 0)
        bodies.discard(staged)
    }

    @Test("Who has the damaged file open goes over to the new one")
    func others() async throws {
        let other = try await lab.open { $0.checksIntegrity = false }
        try await other.enqueue(OutboxRequest(to: url))
        // Replaces the file, as another process does after it has found damage.
        let paths = OutboxPaths(folder: lab.path)
        let gate = try LockFile(paths.gate)
        gate.lockExclusive()
        #expect(try DatabaseRecovery(paths).run().salvaged == 1)
        gate.unlock()
        let receipt = try await other.enqueue(OutboxRequest(to: url))
        #expect(try await lab.open().entries().map(\.id) == [OutboxID(rawValue: 1), receipt.id])
    }

    @Test(
        "FLD-052 Who replaces a damaged database may be killed before any step: the next start has all that was acknowledged"
    )
    func interrupted() async throws {
        var total = 0
        for kill in 0... {
            let lab = try OutboxLab()
            let outbox = try await lab.open()
            // One entry has its content in a file; all are in the log only.
            for number in 0..<4 {
                let body = Data(repeating: 1, count: number == 0 ? 100_000 : 10)
                try await outbox.enqueue(OutboxRequest(to: url, body: .data(body)))
            }
            // Not closed, so that the log remains. It is not used any more.
            let paths = OutboxPaths(folder: lab.path)
            let steps = Mutex(0)
            let wasKilled: Bool
            // Locked as by the outbox itself, while the other process reads the files.
            let gate = try LockFile(paths.gate)
            gate.lockExclusive()
            do throws(StorageError) {
                _ = try DatabaseRecovery(paths) { () throws(StorageError) in
                    let step = steps.withLock { steps in
                        defer { steps += 1 }
                        return steps
                    }
                    if step == kill { throw StorageError(.other, "killed", path: "") }
                }.run()
                wasKilled = false
            } catch { wasKilled = true }
            gate.unlock()
            let next = try await lab.open()
            #expect(try await next.counts().waiting == 4, "killed before step \(kill)")
            // The begun exchange was finished and reported.
            #expect(paths.isExchangeBegun == false)
            let isReported = lab.events.elements.contains {
                if case .damaged(_, _, 4) = $0 { true } else { false }
            }
            #expect(
                isReported == (wasKilled && access(lab.path + "/outbox.damaged-1", F_OK) == 0 && kill < 6),
                "\(kill)")
            let receipt = try await next.enqueue(OutboxRequest(to: url))
            #expect(receipt.id == OutboxID(rawValue: 5))
            let names = try FileManager.default.contentsOfDirectory(atPath: lab.path + "/outbox.bodies")
            #expect(names.count == 1)
            await next.close()
            await outbox.close()
            total = kill
            if !wasKilled { break }
        }
        #expect(total == 7)
    }

    @Test("FLD-052 Who has the damaged file open writes nothing more into it once the exchange has begun")
    func begunElsewhere() async throws {
        let other = try await lab.open()
        try await other.enqueue(OutboxRequest(to: url))
        let paths = OutboxPaths(folder: lab.path)
        let steps = Mutex(0)
        // The first two are the contents and the name that marks the new database as complete.
        #expect(throws: StorageError.self) {
            try DatabaseRecovery(paths) { () throws(StorageError) in
                let step = steps.withLock { steps in
                    defer { steps += 1 }
                    return steps
                }
                if step == 2 { throw StorageError(.other, "killed", path: "") }
            }.run()
        }
        try #require(paths.isExchangeBegun)
        try await other.enqueue(OutboxRequest(to: url))
        #expect(!paths.isExchangeBegun)
        #expect(try await lab.open().counts().waiting == 2)
        await other.close()
    }

    @Test(
        "FLD-031 A database that is empty or missing beside its contents or its log is damage: told, and the log is read",
        arguments: ["log", "contents", "reserve", "missing"])
    func emptied(kind: String) async throws {
        let outbox = try await lab.open()
        let size = kind == "contents" || kind == "missing" ? 100_000 : 10
        for _ in 0..<3 {
            try await outbox.enqueue(OutboxRequest(to: url, body: .data(Data(repeating: 1, count: size))))
        }
        let log = try Data(contentsOf: URL(filePath: database + "-wal"))
        await outbox.close()
        if kind == "log" {
            // The log that a killed process leaves.
            try log.write(to: URL(filePath: database + "-wal"))
        } else {
            try settle()
            for suffix in DatabaseFile.companions { unlink(database + suffix) }
        }
        try #require(kind == "missing" ? unlink(database) == 0 : truncate(database, 0) == 0)
        #expect(!RequestOutbox.isMissing(at: lab.path))
        let next = try await lab.open { $0.checksIntegrity = false }
        let (aside, salvaged) = try await damage()
        #expect(salvaged == (kind == "log" ? 3 : 0))
        #expect(try await next.counts().waiting == salvaged)
        let kept = try? FileManager.default.contentsOfDirectory(atPath: aside + ".bodies")
        #expect(kept?.count == (size > 10 ? 3 : nil))
        try await next.enqueue(OutboxRequest(to: url))
        await next.close()
        // Only once.
        await (try lab.open()).close()
        #expect(lab.events.elements.count { if case .damaged = $0 { true } else { false } } == 1)
    }

    @Test("FLD-031 An empty file where nothing was taken yet is a new outbox, without a word")
    func newFile() async throws {
        try #require(mkdir(lab.path, 0o700) == 0)
        close(open(database, O_WRONLY | O_CREAT, 0o600))
        let outbox = try await lab.open()
        try await outbox.enqueue(OutboxRequest(to: url))
        await outbox.close()
        #expect(!lab.events.elements.contains { if case .damaged = $0 { true } else { false } })
    }

    @Test("A newer file is refused, and not set aside")
    func newer() async throws {
        _ = try await fill(1)
        try Database(database).execute("PRAGMA user_version = 99")
        let error = await #expect(throws: OutboxError.self) { _ = try await lab.open() }
        #expect(error?.code == .storage && error?.advice.contains("newer version") == true)
        #expect(access(lab.path + "/outbox.damaged-1", F_OK) != 0)
    }

    @Test("OBX-088 a finding of SQLite is one line")
    func finding() async throws {
        _ = try await fill(5)
        try settle()
        // The number of unused pages (Database File Format, 1.3).
        try overwrite(36..<40)
        let faults = try Database(database).faults()
        #expect(faults.first?.hasPrefix("*** in database main *** ") == true, "\(faults)")
        #expect(faults.allSatisfy { !$0.contains("\n") }, "\(faults)")
    }
}
