// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Gates that programs and people hold.
@Suite struct GateTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    private func request(_ number: Int, lane: String = "a", gates: Set<String>) throws -> OutboxRequest {
        var request = try lab.request(number, lane: lane)
        request.gates = gates
        return request
    }

    @Test(
        "OBX-040 An entry waits while any of its gates is held, its lane with it, others do not; lists say why"
    )
    func holding() async throws {
        let outbox = try await lab.open()
        try await outbox.hold(gate: "battery", reason: "12 % left")
        try await outbox.hold(gate: "bat")
        let held = try await outbox.enqueue(request(0, gates: ["battery", "other"]))
        let behind = try await outbox.enqueue(request(1, gates: []))
        let free = try await outbox.enqueue(request(2, lane: "b", gates: ["other", "batter", "battery2"]))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(free.id)
        #expect(try await outbox.entries().map(\.id) == [held.id, behind.id])
        #expect(try await outbox.entry(held.id)?.hold == "gate battery is held: 12 % left")
        #expect(try await outbox.gates().map(\.name) == ["bat", "battery"])
        #expect(try await outbox.release(gate: "battery"))
        #expect(try await !outbox.release(gate: "battery"))
        try await lab.delivered(behind.id)
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)) == [2, 0, 1])
        await outbox.close()
    }

    @Test("OBX-041 A hold survives a restart and is another process's too; it ends with its time")
    func restart() async throws {
        let first = try await lab.open()
        try await first.hold(gate: "g", reason: "maintenance", until: Date(timeIntervalSinceNow: 3_600))
        await first.close()
        let outbox = try await lab.open()
        let other = try await lab.open()
        let held = try await outbox.enqueue(request(0, gates: ["g"]))
        try await outbox.startDelivery(with: OutboxLab.manager())
        #expect(try await other.gates().map(\.reason) == ["maintenance"])
        #expect(
            try await other.entry(held.id)?.hold?.hasPrefix("gate g is held: maintenance, until 2") == true)
        // Held for a moment more, by another process.
        try await other.hold(gate: "g", reason: "maintenance", until: Date(timeIntervalSinceNow: 0.3))
        try await lab.delivered(held.id)
        try await lab.wait { event -> Bool? in if case .gateReleased("g") = event { true } else { nil } }
        #expect(try await other.gates().isEmpty)
        // Released by another process, it opens here.
        try await other.hold(gate: "h")
        let second = try await outbox.enqueue(request(1, gates: ["h"]))
        #expect(try await outbox.entry(second.id)?.hold == "gate h is held")
        try await other.release(gate: "h")
        try await lab.delivered(second.id)
        await other.close()
        await outbox.close()
    }

    @Test("OBX-043 Names and reasons have limits, and so has how many are held")
    func limits() async throws {
        let outbox = try await lab.open()
        for name in ["", "a\u{7}", String(repeating: "x", count: 65)] {
            await #expect(throws: OutboxError.self) { try await outbox.hold(gate: name) }
        }
        await #expect(throws: OutboxError.self) { try await outbox.hold(gate: "g", reason: "a\nb") }
        for number in 0..<OutboxTables.mostGates { try await outbox.hold(gate: "\(number)") }
        await #expect(throws: OutboxError.self) { try await outbox.hold(gate: "one more") }
        try await outbox.hold(gate: "7", reason: "again")
        #expect(try await outbox.gates().first { $0.name == "7" }?.reason == "again")
        await outbox.close()
    }
}

/// Choosing entries by tag, lane and status.
@Suite struct SelectionTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    @Test("OBX-050 Entries are listed and removed by tag, page by page")
    func tags() async throws {
        let outbox = try await lab.open()
        let receipts = try await outbox.enqueue(
            (0..<6).map { number in
                var request = try lab.request(number, lane: number < 3 ? "a" : "b")
                request.tags = number % 2 == 0 ? ["even", "all"] : ["all"]
                return request
            })
        #expect(
            try await outbox.entries().map(\.tags) == (0..<6).map { $0 % 2 == 0 ? ["all", "even"] : ["all"] })
        #expect(try await outbox.entries(tag: "even").map(\.id) == [0, 2, 4].map { receipts[$0].id })
        #expect(try await outbox.entries(lane: "b", tag: "even").map(\.id) == [receipts[4].id])
        #expect(
            try await outbox.entries(tag: "all", after: receipts[1].id, limit: 2).map(\.id)
                == receipts[2...3].map(\.id))
        #expect(try await outbox.remove(OutboxSelection(lane: "a", tag: "even")).count == 2)
        #expect(try await outbox.remove(OutboxSelection(tag: "even")) == [receipts[4].id])
        #expect(try await outbox.entries(tag: "even").isEmpty)
        #expect(try await outbox.counts().waiting == 3)
        await outbox.close()
    }

    @Test("OBX-051 Of the dead letters those with a status, in a lane or with a tag wait again")
    func retrying() async throws {
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        var ids: [OutboxID] = []
        for (status, lane) in [(404, "a"), (422, "a"), (404, "b")] {
            var request = try lab.request(ids.count, lane: lane, path: "/status/\(status)?")
            request.tags = lane == "b" ? ["t"] : []
            let id = try await outbox.enqueue(request).id
            try await lab.wait { event -> Bool? in if case .died(id, _) = event { true } else { nil } }
            ids.append(id)
        }
        try await outbox.pause()
        #expect(try await outbox.entries(OutboxSelection(statusCode: 404)).map(\.id) == [ids[0], ids[2]])
        #expect(try await outbox.retry(OutboxSelection(lane: "a", statusCode: 404)) == [ids[0]])
        #expect(try await outbox.remove(OutboxSelection(state: .dead, statusCode: 422)) == [ids[1]])
        #expect(try await outbox.retry(OutboxSelection(tag: "t")) == [ids[2]])
        // What waits has a status too, that of its last failure; it is no dead letter.
        #expect(try await outbox.retry(OutboxSelection(statusCode: 404)).isEmpty)
        await outbox.close()
    }

    @Test(
        "OBX-052 The head and the first 4 KiB of an answer are kept, with dead letters and results; the limit is settable"
    )
    func replies() async throws {
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        let dead = try await outbox.enqueue(
            lab.request(0, path: "/body?status=422&type=text/plain&text=x&spaces=6000&"))
        let good = try await outbox.enqueue(
            lab.request(1, path: "/body?status=201&type=text/plain&text=x&spaces=6000&"))
        try await lab.delivered(good.id)
        let reply = try #require(try await outbox.reply(to: dead.id))
        #expect(reply.body.count == 4_096 && reply.header.contains("text/plain"))
        let result = try #require(try await outbox.result(of: good.id))
        #expect(result.reply?.statusCode == 201 && result.reply?.body == reply.body)
        await outbox.close()
        let small = try await lab.open { $0.limits.maximumReplySize = 3 }
        try await small.startDelivery(with: OutboxLab.manager())
        let last = try await small.enqueue(
            lab.request(2, path: "/body?status=200&type=text/plain&text=abcdef&"))
        try await lab.delivered(last.id)
        #expect(try await small.result(of: last.id)?.reply?.body == Data("abc".utf8))
        await small.close()
        let block = Array(String(repeating: "X-A: b\r\n", count: 3_000).utf8)
        let head = Delivery.head(block)
        #expect(head.utf8.count <= 8 << 10 && head.hasSuffix("X-A: b\n"))
    }

    @Test(
        "OBX-135 Of an answer that accepts a request 1 KiB of the head is stored, and with a limit of 0 nothing"
    )
    func acceptingReplies() async throws {
        let path = "/body?status=200&type=text/\(String(repeating: "x", count: 1_500))&text=abc&"
        for limit in [4_096, 0] {
            let outbox = try await lab.open { $0.limits.maximumReplySize = limit }
            try await outbox.startDelivery(with: OutboxLab.manager())
            let good = try await outbox.enqueue(lab.request(limit, path: path))
            try await lab.delivered(good.id)
            let result = try #require(try await outbox.result(of: good.id))
            #expect(result.statusCode == 200)
            let reply = result.reply
            #expect(
                limit == 0 ? reply == nil : reply?.header.utf8.count ?? 0 <= 1 << 10 && reply?.body.count == 3
            )
            let dead = try await outbox.enqueue(
                lab.request(limit + 1, path: path.replacing("status=200", with: "status=422")))
            _ = try await outbox.settlement(of: dead.id)
            #expect(try await outbox.reply(to: dead.id)?.header.utf8.count ?? 0 > 1_500)
            await outbox.close()
        }
    }

    @Test("OBX-054 Secrets that a server repeats are not stored with its answer")
    func masked() {
        func masked(_ text: String, _ secrets: [String]) -> String {
            String(decoding: SecretMask.masked(Array(text.utf8), secrets), as: UTF8.self)
        }
        #expect(masked("a Bearer s3cret, s3cret!", ["s3cret"]) == "a Bearer ****, ****!")
        #expect(masked("s3cret", ["s3cret", "other"]) == "****" && masked("s3cre", ["s3cret"]) == "s3cre")
        #expect(masked("abcabcabcd", ["abcd"]) == "abcabc****" && masked("abc", ["abc", ""]) == "abc")
    }
}
