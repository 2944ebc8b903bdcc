// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Storage
import TestSupport
import Testing

@testable import Outbox

/// What is kept of holds from one process to the next, and what a stopped origin does to others.
@Suite struct StoppedOriginTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    /// The origins that the files say are stopped, or refuse.
    private func refusing(_ outbox: RequestOutbox) async throws -> [String] {
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.read { (database) throws(StorageError) in
                try OutboxTables(database).originRecords().map(\.origin)
            }
        }
    }

    @Test(
        "FLD-024 An origin that was stopped by refusals is stopped for the next process, until it accepts one"
    )
    func restart() async throws {
        let origin = String(lab.origin.url("/").dropLast())
        let first = try await lab.open {
            $0.retries.refusalsInARow = 3
            $0.retries.longest = .seconds(3600)
            $0.retries.first = .seconds(3600)
        }
        let receipts = try await first.enqueue(
            (0..<4).map { try lab.request($0, path: "/retry-after?times=3&status=403&after=&") })
        try await first.startDelivery(with: OutboxLab.manager())
        try await lab.wait { event -> Bool? in if case .held(origin, _, _) = event { true } else { nil } }
        await first.close()
        let seen = lab.outbox.events.elements.count
        // To its shorter pauses an hour is that of a clock which was set back since: it asks at once.
        let next = try await lab.open {
            $0.retries.refusalsInARow = 3
            $0.retries.longestRetryAfter = .milliseconds(1)
        }
        #expect(try await refusing(next) == [origin])
        try await next.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[3].id)
        let reported = lab.outbox.events.elements.dropFirst(seen).compactMap { event -> String? in
            switch event {
            case .held(origin, _, _): "held"
            case .released(origin): "released"
            default: nil
            }
        }
        #expect(reported == ["held", "released"])
        #expect(try await refusing(next).isEmpty)
        await next.close()
    }

    @Test("FLD-024 The lanes of a stopped origin, however many, hold up no other origin")
    func others() async throws {
        let outbox = try await lab.open { $0.maximumDeliveries = 1 }
        let origin = String(lab.origin.url("/").dropLast())
        try await outbox.on { (engine) throws(OutboxError) in
            var record = OriginRefusals.Record(origin: origin, last: WallClock.now)
            (record.since, record.until, record.reason) = (record.last, record.last + 600_000, "it refuses")
            try engine.file.write { [record] (database) throws(StorageError) in
                try OutboxTables(database).store(record)
            }
        }
        try await outbox.enqueue((0..<9).map { try lab.request($0, lane: "stopped-\($0)") })
        var other = try lab.request(9, lane: "other")
        let address = other.url.absoluteString.split(separator: "127.0.0.1", maxSplits: 1)
        other.url = try #require(URL(string: address.joined(separator: "localhost")))
        let receipt = try await outbox.enqueue(other)
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipt.id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [9])
        await outbox.close()
    }

    @Test("FLD-021 The next process says nothing of a portal that an earlier one has met")
    func portal() async throws {
        let first = try await lab.open()
        try await first.follow(.portal)
        try await first.startDelivery(with: OutboxLab.manager())
        let receipt = try await first.enqueue(lab.request(0))
        #expect(try await first.entry(receipt.id)?.hold != nil)
        try await first.pause()
        await first.close()
        let next = try await lab.open()
        try await next.startDelivery(with: OutboxLab.manager())
        let entry = try await next.entry(receipt.id)
        #expect(entry != nil && entry?.hold == nil)
        await next.close()
    }
}
