// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Which process delivers, if several have the outbox open.
@Suite struct DelivererTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    @Test("One delivers, others enqueue and wait; when it stops, another may")
    func processes() async throws {
        let (deliverer, other) = (try await lab.open(), try await lab.open())
        try await deliverer.startDelivery(with: OutboxLab.manager())
        let error = await #expect(throws: OutboxError.self) {
            try await other.startDelivery(with: OutboxLab.manager())
        }
        #expect(error?.code == .deliveredElsewhere && error?.message.contains("\(getpid())") == true)
        let receipt = try await other.enqueue(lab.request(0))
        guard case .left(let result) = try await other.settlement(of: receipt.id) else {
            Issue.record("it was not delivered")
            return
        }
        #expect(result.outcome == .delivered && result.statusCode == 200)
        await deliverer.stopDelivery()
        try await other.startDelivery(with: OutboxLab.manager())
        let second = try await deliverer.enqueue(lab.request(1))
        try await lab.delivered(second.id)
        await other.close()
        #expect(try await deliverer.settlement(of: OutboxID(rawValue: 999)) == .unknown)
    }

    @Test(
        "OBX-077 A content that the disk has cut or lengthened is not sent as if it were whole",
        arguments: [0, 1_000, 250_000])
    func damagedContent(size: Int) async throws {
        let outbox = try await lab.open()
        var request = try lab.request(0)
        request.body = .data(Data(repeating: 1, count: 200_000))
        let damaged = try await outbox.enqueue(request)
        let bodies = OutboxPaths(folder: lab.outbox.path).bodies
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: bodies).first)
        try #require(truncate("\(bodies)/\(name)", off_t(size)) == 0)
        let whole = try await outbox.enqueue(lab.request(1))
        try await outbox.startDelivery(with: OutboxLab.manager())
        let failure = try await lab.died(damaged.id)
        #expect(failure.kind == .unsendable)
        #expect(failure.message.contains("\(size) of 200000 bytes"), "\(failure.message)")
        try await lab.delivered(whole.id)
        await outbox.close()
    }

    @Test("A start that fails leaves the delivery to the next who tries")
    func failedStart() async throws {
        let (outbox, other) = (try await lab.open(), try await lab.open())
        // The sweep for contents without an entry finds one, and no table to compare with.
        try Data("x".utf8).write(to: URL(filePath: lab.outbox.path + "/outbox.bodies/stray"))
        let database = try Database(lab.outbox.path + "/outbox.sqlite")
        try database.execute("ALTER TABLE contents RENAME TO elsewhere")
        let manager = OutboxLab.manager()
        let error = await #expect(throws: OutboxError.self) { try await outbox.startDelivery(with: manager) }
        #expect(error?.code == .storage)
        try database.execute("ALTER TABLE elsewhere RENAME TO contents")
        try await other.startDelivery(with: manager)
        await other.stopDelivery()
        try await outbox.startDelivery(with: manager)
        let receipt = try await outbox.enqueue(lab.request(0))
        try await lab.delivered(receipt.id)
        await outbox.close()
    }

    @Test("A failure of its files is reported once, and so is the recovery")
    func health() async throws {
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        let database = try Database(lab.outbox.path + "/outbox.sqlite")
        try database.execute("ALTER TABLE lanes RENAME TO elsewhere")
        for _ in 0..<3 { try await outbox.on { (engine) throws(OutboxError) in engine.startReady() } }
        try database.execute("ALTER TABLE elsewhere RENAME TO lanes")
        try await outbox.on { (engine) throws(OutboxError) in engine.startReady() }
        try await outbox.on { (engine) throws(OutboxError) in engine.startReady() }
        let reported = lab.outbox.events.elements.compactMap { event -> String? in
            switch event {
            case .storageFailed(let sentence): sentence.contains("no such table") ? "failed" : sentence
            case .storageRecovered: "recovered"
            default: nil
            }
        }
        #expect(reported == ["failed", "recovered"])
        await outbox.close()
    }

    @Test("Stopping takes back what is on its way, and it is sent again")
    func stopping() async throws {
        let outbox = try await lab.open()
        let gate = "\(lab.account)-gate"
        let receipt = try await outbox.enqueue(
            OutboxRequest(to: lab.origin.url("/hold/\(gate)?key=\(lab.account)"), body: .data(Data())))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.origin.wait(for: lab.account, [.count: 1])
        await outbox.stopDelivery()
        let entry = try #require(try await outbox.entry(receipt.id))
        #expect(entry.attempts == 0 && entry.state == .waiting)
        try await lab.origin.release(gate)
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipt.id)
        #expect(try await lab.origin.count(lab.account) == 2)
        await outbox.close()
    }
}
