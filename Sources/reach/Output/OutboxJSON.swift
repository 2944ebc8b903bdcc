// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Outbox
import Reachability
import ServiceCore

/// An outbox's content as JSON, one object on one line.
///
/// A contract with scripts: a field never changes its type or disappears; new ones are appended.
enum OutboxJSON {
    static func write(_ counts: OutboxCounts, _ entries: [OutboxEntry], to line: inout TextLine) {
        line.field(#"{"schema":1,"waiting":"#, counts.waiting)
        line.field(#","dead":"#, counts.dead)
        line.field(#","bytes":"#, counts.bytes)
        line.field(#","oldest":"#, counts.oldest.map(text))
        line.field(#","paused":"#, counts.isPaused)
        line.append(literal: ",\"entries\":")
        line.append(json: entries) { line, entry in
            line.append(literal: "{")
            fields(entry, to: &line)
            line.append(literal: "}")
        }
        line.append(literal: "}\n")
    }

    static func write(_ entry: OutboxEntry, _ reply: OutboxReply?, to line: inout TextLine) {
        line.append(literal: "{\"schema\":1,")
        fields(entry, to: &line)
        self.reply(reply, to: &line)
        line.append(literal: "}\n")
    }

    static func write(_ receipt: OutboxReceipt, _ settlement: EntrySettlement?, to line: inout TextLine) {
        line.field(#"{"schema":1,"id":"#, receipt.id.rawValue)
        line.field(#","idempotencyKey":"#, receipt.idempotencyKey)
        line.field(#","repeated":"#, receipt.isRepeated)
        line.field(#","outcome":"#, settlement?.outcome ?? "queued")
        line.field(#","statusCode":"#, settlement?.statusCode)
        line.field(#","reason":"#, settlement?.reason)
        line.append(literal: ",\"replaced\":")
        line.append(json: receipt.replaced) { line, id in line.append(json: id.rawValue) }
        line.field(#","successor":"#, settlement?.successor?.rawValue)
        reply(settlement?.reply, to: &line)
        line.field(#","file":"#, settlement?.file)
        line.field(#","fileSize":"#, settlement?.fileSize)
        line.append(literal: "}\n")
    }

    static func write(_ gates: [OutboxGate], to line: inout TextLine) {
        line.append(literal: "{\"schema\":1,\"gates\":")
        line.append(json: gates) { line, gate in
            line.field(#"{"name":"#, gate.name)
            line.field(#","reason":"#, gate.reason)
            line.field(#","since":"#, text(gate.since))
            line.field(#","until":"#, gate.until.map(text))
            line.append(literal: "}")
        }
        line.append(literal: "}\n")
    }

    private static func reply(_ reply: OutboxReply?, to line: inout TextLine) {
        line.append(literal: ",\"reply\":")
        guard let reply else { return line.append(literal: "null") }
        line.field(#"{"statusCode":"#, reply.statusCode)
        line.field(#","header":"#, reply.header)
        line.field(#","body":"#, String(decoding: reply.body, as: UTF8.self))
        line.append(literal: "}")
    }

    private static func fields(_ entry: OutboxEntry, to line: inout TextLine) {
        line.field(#""id":"#, entry.id.rawValue)
        line.field(#","state":"#, entry.state.rawValue)
        line.field(#","lane":"#, entry.lane)
        line.field(#","priority":"#, entry.priority)
        line.field(#","method":"#, entry.method)
        line.field(#","url":"#, entry.shownURL)
        line.field(#","network":"#, entry.networkCondition.rawValue)
        line.field(#","idempotencyKey":"#, entry.idempotencyKey)
        line.field(#","bodySize":"#, entry.bodySize)
        line.field(#","created":"#, text(entry.created))
        line.field(#","expires":"#, entry.expires.map(text))
        line.field(#","attempts":"#, entry.attempts)
        line.field(#","nextAttempt":"#, entry.nextAttempt.map(text))
        line.field(#","failure":"#, entry.failure?.kind.rawValue)
        line.field(#","statusCode":"#, entry.failure?.statusCode)
        line.field(#","reason":"#, entry.failure?.message)
        line.field(#","hold":"#, entry.hold)
        line.field(#","maximumAttempts":"#, entry.maximumAttempts)
        line.field(#","replaces":"#, entry.replaces)
        line.append(literal: ",\"tags\":")
        line.append(json: entry.tags) { line, tag in line.append(json: tag) }
        line.field(#","notBefore":"#, entry.notBefore.map(text))
        line.field(#","window":"#, entry.window?.description)
        line.field(#","everySeconds":"#, entry.every?.components.seconds)
        line.append(literal: ",\"gates\":")
        line.append(json: entry.gates) { line, gate in line.append(json: gate) }
        line.field(#","successor":"#, entry.successor?.rawValue)
        line.field(#","file":"#, entry.file)
        line.field(#","sha256":"#, entry.sha256)
        line.append(literal: ",\"mirrors\":")
        line.append(json: entry.mirrors) { line, url in line.append(json: url) }
    }

    /// RFC 3339, as everywhere.
    static func text(_ date: Date) -> String { WallTime(date).text }
}
