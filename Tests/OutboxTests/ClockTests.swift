// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage
import TestSupport
import Testing

@testable import Outbox

/// A device's clock that is set while requests wait: it starts in 1970, and is corrected over the network.
@Suite struct ClockTests {
    private static let hour: Int64 = 3_600_000
    /// From 1970 to 2026.
    private static let jump: Int64 = 1_767_312_000_000

    private struct Times: Equatable {
        var created: Int64
        var expires: Int64?
        var next: Int64
    }

    private func times(_ database: Database) throws -> [Times] {
        try database.all("SELECT created, expires, next FROM entries ORDER BY id") {
            Times(created: $0.int64(0), expires: $0.optionalInt64(1), next: $0.int64(2))
        }
    }

    @Test("what was taken since the machine was started moves with the clock, ahead and back; no more")
    func follows() throws {
        let lab = try TablesLab()
        let (database, tables) = (lab.database, lab.tables)
        func insert(_ lane: String, expires: Int64?, at now: Int64) throws {
            var request = try OutboxRequest(to: "http://example.com/", lane: lane)
            request.expires = expires.map { WallClock.date($0) }
            _ = try lab.insert(request, at: now)
        }
        try tables.follow(ClockReading(wall: 500, elapsed: 500, boot: "a"))
        try insert("before", expires: Self.hour, at: 1_000)
        // A machine that is started again counts anew.
        var clock = ClockReading(wall: 9_000, elapsed: 8_000, boot: "b")
        try tables.follow(clock)
        try insert("hour", expires: 9_000 + Self.hour, at: 9_000)
        try insert("ever", expires: nil, at: 9_000)
        // A date that was known without a clock.
        try insert("date", expires: Self.jump + Self.hour, at: 9_000)
        let id = OutboxID(rawValue: 2)
        try tables.postpone(id, lane: "hour", OutboxFailure(.server, "x"), next: 10_000)
        let before = try times(database)

        // The two clocks are not read at the same instant.
        clock = ClockReading(wall: 9_999, elapsed: 8_000, boot: "b")
        try tables.follow(clock)
        #expect(try times(database) == before)

        clock = ClockReading(wall: Self.jump + 10_000, elapsed: 9_000, boot: "b")
        try tables.follow(clock)
        try tables.follow(clock)
        let shift = Self.jump
        #expect(
            try times(database) == [
                before[0],
                Times(created: 9_000 + shift, expires: 9_000 + Self.hour + shift, next: 10_000 + shift),
                Times(created: 9_000 + shift, expires: nil, next: 0),
                Times(created: 9_000 + shift, expires: Self.jump + Self.hour, next: 0),
            ])
        #expect(try tables.expired(now: clock.wall, limit: 10) == [OutboxID(rawValue: 1)])
        #expect(try tables.nextDeadline(after: shift + 9_999) == shift + 10_000)

        try tables.follow(ClockReading(wall: 11_000, elapsed: 10_000, boot: "b"))
        #expect(try times(database)[1] == before[1])
        // Without a boot ID from the kernel nothing is moved.
        try tables.follow(ClockReading(wall: shift, elapsed: 10_000, boot: ""))
        #expect(try times(database)[1] == before[1])
    }

    @Test("what expires within the hour is delivered, not dropped, when the clock is set meanwhile")
    func delivered() async throws {
        let lab = try await DeliveryLab()
        let outbox = try await lab.open()
        var request = try lab.request(0)
        request.expires = Date(timeIntervalSinceNow: 3_600)
        let receipt = try await outbox.enqueue(request)
        // As if it had been stored in 1970.
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                let jump = SQLValue.integer(Self.jump)
                try database.run("UPDATE entries SET created = created - ?1, expires = expires - ?1", [jump])
                try database.run("UPDATE clock SET start = start - ?", [jump])
            }
        }
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipt.id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [0])
        await outbox.close()
    }
}
