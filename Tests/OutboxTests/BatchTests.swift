// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Requests of a lane that leave as one.
@Suite struct BatchTests {
    private let lab: BatchLab

    init() throws { lab = try BatchLab() }

    @Test("OBX-217 Requests of a lane leave as one, in order, with one key; each has its result")
    func joined() async throws {
        let outbox = try await lab.open(count: 3)
        let receipts = try await outbox.enqueue(BatchLab.samples(0..<6))
        try await outbox.startDelivery(with: lab.manager())
        for receipt in receipts { try await lab.outbox.delivered(receipt.id) }
        #expect(lab.bodies == ["[0,1,2]", "[3,4,5]"])
        #expect(Set(lab.keys).count == 2 && lab.keys.allSatisfy { $0.hasPrefix("batch-") })
        for receipt in receipts {
            let result = try await outbox.result(of: receipt.id)
            #expect(result?.outcome == .delivered && result?.statusCode == 200)
        }
        #expect(try await outbox.counts() == OutboxCounts())
        #expect(try await state(outbox).isEmpty)
        await outbox.close()
    }

    @Test(
        "OBX-218 A batch that is not full waits and holds up no other lane; the request that fills it sends it"
    )
    func waits() async throws {
        let outbox = try await lab.open(count: 3)
        try await outbox.startDelivery(with: lab.manager())
        try await outbox.enqueue(BatchLab.samples(0..<2))
        let other = try await outbox.enqueue(BatchLab.sample(7, lane: "other"))
        try await lab.outbox.delivered(other.id)
        #expect(lab.bodies == ["7"])
        #expect(try await outbox.counts().waiting == 2)
        let last = try await outbox.enqueue(BatchLab.sample(2))
        try await lab.outbox.delivered(last.id)
        #expect(lab.bodies == ["7", "[0,1,2]"])
        await outbox.close()
    }

    @Test("OBX-219 The oldest request does not wait longer than the rule says, nor after a flush")
    func age() async throws {
        let outbox = try await lab.open(age: .milliseconds(300))
        try await outbox.startDelivery(with: lab.manager())
        let receipts = try await outbox.enqueue(BatchLab.samples(0..<2))
        try await lab.outbox.delivered(receipts[1].id)
        #expect(lab.bodies == ["[0,1]"])
        await outbox.close()
        let patient = try await lab.open()
        try await patient.startDelivery(with: lab.manager())
        let more = try await patient.enqueue(BatchLab.samples(2..<5))
        try await patient.flush()
        try await lab.outbox.delivered(more[2].id)
        #expect(lab.bodies == ["[0,1]", "[2,3,4]"])
        await patient.close()
    }

    @Test("OBX-220 Lines are compressed once, and sent again with the same bytes, key and kind")
    func lines() async throws {
        let outbox = try await lab.open(count: 50, form: .lines) { $0.compression = .gzip }
        let receipts = try await outbox.enqueue(
            (0..<50).map { number in
                try BatchLab.sample(number) {
                    $0.headerFields[.contentType] = "application/json"
                    $0.body = .data(Data("{\"watts\": \(number)}".utf8))
                }
            })
        try await outbox.startDelivery(with: lab.manager { _, number in .status(number < 2 ? 503 : 200) })
        try await lab.outbox.delivered(receipts[49].id)
        let sent = lab.sent.elements
        #expect(sent.count == 3 && Set(sent.map(\.body)).count == 1 && Set(lab.keys).count == 1)
        #expect(sent[0].value(forHeader: "Content-Encoding") == "gzip")
        #expect(sent[0].value(forHeader: "Content-Type") == "application/x-ndjson")
        #expect(sent[0].body.starts(with: [0x1F, 0x8B]) && sent[0].body.count < 400)
        await outbox.close()
    }

    @Test("OBX-221 Other requests end a batch, and those that cannot be joined are sent as they are")
    func others() async throws {
        let outbox = try await lab.open(count: 100)
        try await outbox.enqueue([
            BatchLab.sample(0), BatchLab.sample(1), BatchLab.sample(2, path: "other"), BatchLab.sample(3),
            BatchLab.sample(4) { $0.headerFields[.contentEncoding] = "br" }, BatchLab.sample(5),
            BatchLab.sample(6) { $0.body = nil },
        ])
        let last = try await outbox.enqueue(BatchLab.sample(7))
        try await outbox.startDelivery(with: lab.manager())
        try await outbox.flush()
        try await lab.outbox.delivered(last.id)
        #expect(lab.bodies == ["[0,1]", "[2]", "[3]", "4", "[5]", "", "[7]"])
        #expect(lab.sent.elements.map(\.path)[1] == "/other")
        await outbox.close()
    }

    @Test("OBX-222 A content in a file of its own joins too")
    func files() async throws {
        let large = String(repeating: "9", count: PreparedEntry.largestInline + 1)
        let outbox = try await lab.open(count: 3)
        let receipts = try await outbox.enqueue([
            BatchLab.sample(1), BatchLab.sample(2) { $0.body = .data(Data("\"\(large)\"".utf8)) },
            BatchLab.sample(3),
        ])
        try await outbox.startDelivery(with: lab.manager())
        try await lab.outbox.delivered(receipts[2].id)
        #expect(lab.bodies == ["[1,\"\(large)\",3]"])
        #expect(BodyFolder(paths: OutboxPaths(folder: lab.outbox.path)).count == 0)
        await outbox.close()
    }

    @Test("OBX-223 The batch is on the disk before it leaves; after a restart the same one is sent again")
    func restart() async throws {
        let outbox = try await lab.open(count: 3)
        let receipts = try await outbox.enqueue(BatchLab.samples(0..<3))
        let path = lab.outbox.path + "/outbox.sqlite"
        let stored = EventLog<String>()
        try await outbox.startDelivery(
            with: lab.manager { _, _ in
                stored.append(
                    try Database(path).first("SELECT members FROM batches", []) { $0.text(0) } ?? "none")
                return .silence
            })
        _ = await stored.wait(forCount: 1, within: .seconds(60))
        // As if the process had been killed: nothing is known of the answer.
        await outbox.close()
        #expect(stored.elements == ["\(receipts[0].id) 1 1"])
        let next = try await lab.open(count: 5)
        let more = try await next.enqueue(BatchLab.samples(3..<8))
        try await next.startDelivery(with: lab.manager())
        try await lab.outbox.delivered(more[4].id)
        #expect(lab.bodies == ["[0,1,2]", "[0,1,2]", "[3,4,5,6,7]"])
        #expect(lab.keys[0] == lab.keys[1] && lab.keys[1] != lab.keys[2])
        await next.close()
    }

    @Test(
        "OBX-224 A batch some of whose requests have gone while it was gathering waits for others in their place"
    )
    func removedMeanwhile() async throws {
        let outbox = try await lab.open(count: 3)
        try await outbox.startDelivery(with: lab.manager())
        let receipts = try await outbox.enqueue(BatchLab.samples(0..<2))
        try await outbox.remove([receipts[1].id])
        let third = try await outbox.enqueue(BatchLab.sample(2))
        let other = try await outbox.enqueue(BatchLab.sample(9, lane: "other"))
        try await lab.outbox.delivered(other.id)
        #expect(lab.bodies == ["9"])
        let fourth = try await outbox.enqueue(BatchLab.sample(3))
        try await lab.outbox.delivered(fourth.id)
        #expect(lab.bodies == ["9", "[0,2,3]"])
        _ = third
        await outbox.close()
    }

    private func state(_ outbox: RequestOutbox) async throws -> BatchState {
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.read { (database) throws(StorageError) in
                try OutboxTables(database).batch(of: "samples")
            }
        }
    }
}
