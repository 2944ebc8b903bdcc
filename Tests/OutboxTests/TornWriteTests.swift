// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage
import TestSupport
import Testing

@testable import Outbox

@Suite struct TornWriteTests {
    private let lab: OutboxLab
    init() throws { lab = try OutboxLab() }

    /// The files after a loss of power, in the best case.
    private struct Snapshot {
        var files: [String: Data]
        /// The entries acknowledged by then.
        var receipts: [OutboxReceipt]
    }

    private func snapshot(_ receipts: [OutboxReceipt]) throws -> Snapshot {
        var files: [String: Data] = [:]
        for name in ["outbox.sqlite", "outbox.sqlite-wal"] {
            files[name] = try Data(contentsOf: URL(filePath: lab.path + "/" + name))
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: lab.path + "/outbox.bodies") {
            files["outbox.bodies/" + name] = try Data(
                contentsOf: URL(filePath: lab.path + "/outbox.bodies/" + name))
        }
        return Snapshot(files: files, receipts: receipts)
    }

    /// Stores requests one by one, every fifth of them large, and copies the files after each.
    private func record(_ count: Int) async throws -> [Snapshot] {
        let outbox = try await lab.open()
        var receipts: [OutboxReceipt] = []
        var snapshots = [try snapshot([])]
        for number in 0..<count {
            let size = number % 5 == 4 ? 70_000 : 10
            receipts.append(
                try await outbox.enqueue(
                    OutboxRequest(
                        to: "http://127.0.0.1:1/\(number)", lane: "\(number % 2)",
                        body: .data(Data(repeating: UInt8(number), count: size)))))
            snapshots.append(try snapshot(receipts))
        }
        return snapshots
    }

    /// Opens the files at another path and compares them with the acknowledged entries.
    private func check(_ snapshot: Snapshot, _ note: String) async throws {
        let lab = try OutboxLab()
        for folder in [lab.path, lab.path + "/outbox.bodies"] { mkdir(folder, 0o700) }
        for (name, data) in snapshot.files { try data.write(to: URL(filePath: lab.path + "/" + name)) }
        let outbox = try await lab.open()
        let entries = try await outbox.entries()
        #expect(lab.events.elements.isEmpty, "\(note): \(lab.events.elements)")
        let known = Set(entries.map { "\($0.id) \($0.idempotencyKey)" })
        for receipt in snapshot.receipts {
            #expect(known.contains("\(receipt.id) \(receipt.idempotencyKey)"), "\(note) lost \(receipt.id)")
        }
        // Only the entry that was being written may exist without having been acknowledged.
        #expect(entries.count <= snapshot.receipts.count + 1, "\(note)")
        #expect(try await outbox.counts().waiting == entries.count, "\(note)")
        for entry in entries where entry.bodySize > PreparedEntry.largestInline {
            let file = try await outbox.on { (engine) throws(OutboxError) in
                try engine.file.read { (database) throws(StorageError) in
                    try database.first(
                        "SELECT file FROM contents WHERE id = ?", [.integer(entry.id.rawValue)]
                    ) {
                        $0.text(0)
                    }
                }
            }
            #expect(
                snapshot.files["outbox.bodies/" + (file ?? "")]?.count == 70_000,
                "\(note): a content is missing")
        }
        try await outbox.enqueue(OutboxRequest(to: "http://127.0.0.1:1/after"))
        await outbox.close()
    }

    @Test(
        "A log that was cut or filled with noise in the midst of a commit costs nothing that was acknowledged"
    )
    func tornLog() async throws {
        let snapshots = try await record(20)
        var generator = SeededGenerator(seed: 42)
        for (before, after) in zip(snapshots, snapshots.dropFirst()) {
            let log = "outbox.sqlite-wal"
            let (old, new) = (before.files[log]?.count ?? 0, after.files[log]?.count ?? 0)
            // While the log only grows, the former content stays unchanged.
            guard new > old, before.files["outbox.sqlite"] == after.files["outbox.sqlite"] else { continue }
            for _ in 0..<4 {
                let cut = Int.random(in: old..<new, using: &generator)
                var torn = after
                torn.receipts = before.receipts
                torn.files[log] = after.files[log]?.prefix(cut)
                if Bool.random(using: &generator) {
                    torn.files[log]?.append(
                        Data((0..<(new - cut)).map { _ in UInt8.random(in: 0...255, using: &generator) }))
                }
                try await check(torn, "cut at \(cut) of \(new), \(before.receipts.count) acknowledged")
            }
            try await check(after, "whole, \(after.receipts.count) acknowledged")
        }
        #expect(snapshots.last?.receipts.count == 20)
    }
}
