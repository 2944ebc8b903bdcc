// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Outbox
import ReachabilityCore
import ServiceCore
import Testing

@testable import reach

@Suite("What is in the outbox, as text and JSON")
struct OutboxViewTests {
    private let moment = Date(timeIntervalSince1970: 1_767_323_045.678)

    private func entry(
        _ id: Int64, _ state: OutboxEntry.State = .waiting, lane: String = "default", attempts: Int = 0,
        next: Date? = nil, url: String = "https://api.example.com/samples", _ failure: OutboxFailure? = nil
    ) -> OutboxEntry {
        OutboxEntry(
            id: OutboxID(rawValue: id), state: state, lane: lane, priority: 1, method: "POST",
            url: url, networkCondition: .wifiOrWired, idempotencyKey: "k-\(id)", bodySize: 1_234,
            created: moment, expires: id == 1 ? moment + 3_600 : nil, attempts: attempts,
            nextAttempt: next, failure: failure)
    }

    private var entries: [OutboxEntry] {
        [
            entry(1),
            entry(
                9, lane: "log\u{1B}[31m", attempts: 3, next: moment + 8,
                OutboxFailure(.network, "the connection broke")),
            entry(
                10, .dead, attempts: 1, OutboxFailure(.refused, "the server answered 422", statusCode: 422)),
        ]
    }

    private var counts: OutboxCounts {
        var counts = OutboxCounts()
        (counts.waiting, counts.dead, counts.bytes, counts.oldest) = (4, 1, 6_170, moment)
        counts.isPaused = true
        return counts
    }

    private let reply = OutboxReply(
        statusCode: 422, header: "Content-Type: text/plain\n", body: Data("too\u{7} salty\nby far".utf8))

    @Test("text")
    func text() throws {
        let now = WallTime(moment) + .seconds(75)
        let wide = Style(hasColor: false, isUnicode: true, width: nil)
        try Golden.check(OutboxText.list(counts, entries, now: now, wide), "queue-list-piped.txt")
        let narrow = Style(hasColor: true, isUnicode: false, width: 50)
        try Golden.check(OutboxText.list(counts, entries, now: now, narrow), "queue-list-50-color.txt")
        for (name, style) in [("80", Style(width: 80)), ("40", Style(width: 40))] {
            let text = OutboxText.list(counts, entries, now: now, style)
            try Golden.check(text, "queue-list-\(name).txt")
            for line in text.split(separator: "\n") where !line.contains("https://") {
                #expect(SafeText.width(String(line)) <= style.width ?? .max, "\(line)")
            }
            try Golden.check(OutboxText.show(entries[2], reply, style), "queue-show-\(name).txt")
        }
        try Golden.check(OutboxText.show(entries[2], reply, wide), "queue-show.txt")
        #expect(OutboxText.list(OutboxCounts(), [], now: now, wide) == "the outbox is empty\n")
    }

    @Test("OBX-076 what only some entries have, and gates, as text and JSON")
    func planned() throws {
        let planned = OutboxEntry(
            id: OutboxID(rawValue: 12), state: .scheduled, lane: "state", priority: 0, method: "POST",
            url: "https://api.example.com/state", networkCondition: .any, idempotencyKey: "k-12", bodySize: 9,
            created: moment, expires: nil, attempts: 0, nextAttempt: moment + 5_400, failure: nil,
            replaces: "meter-state", tags: ["meter", "night"], notBefore: moment + 3_600,
            window: OutboxWindow("sat,sun 22:00-06:00"), every: .seconds(86_400), gates: ["battery"])
        let held = OutboxEntry(
            id: OutboxID(rawValue: 13), state: .waiting, lane: "log", priority: 0, method: "POST",
            url: "https://api.example.com/log", networkCondition: .any, idempotencyKey: "k-13", bodySize: 9,
            created: moment, expires: nil, attempts: 0, nextAttempt: nil, failure: nil,
            hold: "gate battery is held: below 20 %", gates: ["battery"], successor: OutboxID(rawValue: 14))
        let gates = [
            OutboxGate(name: "battery", reason: "below 20 %", since: moment, until: moment + 3_600),
            OutboxGate(name: "maintenance", reason: "", since: moment, until: nil),
        ]
        let style = Style(width: 80)
        let text =
            OutboxText.list(counts, [planned, held], now: WallTime(moment), style)
            + OutboxText.show(planned, nil, style) + OutboxText.gates(gates, style)
            + OutboxText.gates([], style)
        try Golden.check(text, "queue-planned-80.txt")
        for line in text.split(separator: "\n") { #expect(SafeText.width(String(line)) <= 80, "\(line)") }
        var line = TextLine()
        OutboxJSON.write(planned, reply, to: &line)
        OutboxJSON.write(held, nil, to: &line)
        OutboxJSON.write(gates, to: &line)
        let receipt = OutboxReceipt(
            id: OutboxID(rawValue: 14), idempotencyKey: "k", replaced: [OutboxID(rawValue: 13)])
        let result = OutboxResult(
            id: receipt.id, outcome: .replaced, statusCode: nil, date: moment,
            successor: OutboxID(rawValue: 15),
            reply: reply)
        OutboxJSON.write(receipt, EntrySettlement(.left(result)), to: &line)
        try Golden.check(line.text, "queue-planned.json")
    }

    @Test("JSON")
    func json() throws {
        var line = TextLine()
        OutboxJSON.write(counts, entries, to: &line)
        OutboxJSON.write(entries[2], reply, to: &line)
        OutboxJSON.write(entries[0], nil, to: &line)
        let receipt = OutboxReceipt(id: OutboxID(rawValue: 7), idempotencyKey: "k")
        OutboxJSON.write(receipt, nil, to: &line)
        OutboxJSON.write(receipt, EntrySettlement(.dead(entries[2])), to: &line)
        OutboxJSON.write(
            receipt,
            EntrySettlement(
                .left(OutboxResult(id: receipt.id, outcome: .delivered, statusCode: 201, date: moment))),
            to: &line)
        try Golden.check(line.text, "queue.json")
    }

    @Test("user and password of a URL are shown nowhere")
    func userInURL() throws {
        let secret = entry(1, url: "https://ann:s3cret@api.example.com/samples?a=b")
        let style = Style(hasColor: false, isUnicode: true, width: nil)
        let url = "POST https://api.example.com/samples?a=b\n"
        #expect(OutboxText.list(counts, [secret], now: WallTime(moment), style).contains(url))
        #expect(OutboxText.show(secret, nil, style).contains(url))
        var line = TextLine()
        OutboxJSON.write(counts, [secret], to: &line)
        OutboxJSON.write(secret, nil, to: &line)
        #expect(line.text.split(separator: "\"url\":\"https://api.example.com/samples?a=b\"").count == 3)
        #expect(!line.text.contains("s3cret") && !line.text.contains("ann"))
    }

    @Test("exit codes of what was not delivered")
    func exitCodes() {
        let codes = [OutboxFailure.Kind.network, .security, .server, .refused, .unsendable, .local].map {
            ExitCode($0).rawValue
        }
        #expect(codes == [6, 7, 5, 4, 4, 69])
    }
}
