// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage
import TestSupport
import Testing

@testable import Outbox

@Suite struct LaneBoundsTests {
    let lab: OutboxLab
    init() throws { lab = try OutboxLab() }

    private func store(_ outbox: RequestOutbox, _ lane: String, _ count: Int) async throws -> [OutboxID] {
        let body = OutboxRequest.Body.data(Data(repeating: 1, count: 100))
        let requests = try (0..<count).map { _ in
            try OutboxRequest(to: "http://127.0.0.1:1/x", lane: lane, body: body)
        }
        return try await outbox.enqueue(requests).map(\.id)
    }

    /// Makes entries dead letters, which were stored so long ago.
    private func kill(_ ids: [OutboxID], age: Int64) throws {
        let database = try Database(lab.path + "/outbox.sqlite")
        for id in ids {
            try database.run(
                "UPDATE entries SET state = 1, created = created - ? WHERE id = ?",
                [.integer(age), .integer(id.rawValue)])
        }
        try OutboxTables(database).rebuild()
    }

    @Test("OBX-125 a bounded lane drops its oldest, dead letters first, and no entry of another lane")
    func bounds() async throws {
        let outbox = try await lab.open()
        let others = try await store(outbox, "other", 3)
        let ids = try await store(outbox, "bounded", 8)
        try kill([ids[2], ids[5]], age: 0)
        let wide = LaneBounds(bytes: 800, deadLetters: .seconds(60))
        #expect(try await outbox.trim(lane: "bounded", to: wide).isEmpty)
        let narrow = LaneBounds(bytes: 450, deadLetters: .seconds(60))
        #expect(try await outbox.trim(lane: "bounded", to: narrow) == [ids[2], ids[5], ids[0], ids[1]])
        #expect(try await outbox.entries(lane: "bounded").map(\.id) == [ids[3], ids[4], ids[6], ids[7]])
        #expect(try await outbox.entries(lane: "other").map(\.id) == others)
        #expect(try await outbox.counts().bytes == 700)
        #expect(try await outbox.result(of: ids[0])?.outcome == .dropped)
        try await lab.wait { event -> Bool? in if case .dropped(ids[1]) = event { true } else { nil } }
    }

    @Test("OBX-126 dead letters of a bounded lane go when they are old, however few bytes they have")
    func age() async throws {
        let outbox = try await lab.open()
        let others = try await store(outbox, "other", 1)
        let ids = try await store(outbox, "bounded", 4)
        try kill([ids[0], others[0]], age: 120_000)
        try kill([ids[1]], age: 10_000)
        let bounds = LaneBounds(bytes: 1_000_000, deadLetters: .seconds(60))
        #expect(try await outbox.trim(lane: "bounded", to: bounds) == [ids[0]])
        #expect(try await outbox.counts().dead == 2)
        #expect(try await outbox.counts().waiting == 2)
    }
}
