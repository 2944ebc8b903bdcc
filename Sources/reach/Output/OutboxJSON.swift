// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Outbox
import Reachability
import ServiceCore

/// What is in an outbox as JSON, one object on one line.
///
/// A contract with scripts: a field never changes its type and none goes away; new ones come at the end.
enum OutboxJSON {
    static func write(_ counts: OutboxCounts, _ entries: [OutboxEntry], to line: inout TextLine) {
        line.append(literal: "{\"schema\":1,\"waiting\":")
        line.append(counts.waiting)
        line.append(literal: ",\"dead\":")
        line.append(counts.dead)
        line.append(literal: ",\"bytes\":")
        line.append(counts.bytes)
        line.append(literal: ",\"oldest\":")
        line.append(json: counts.oldest.map(text))
        line.append(literal: ",\"paused\":")
        line.append(json: counts.isPaused)
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
        line.append(literal: ",\"reply\":")
        if let reply {
            line.append(literal: "{\"statusCode\":")
            line.append(reply.statusCode)
            line.append(literal: ",\"header\":")
            line.append(json: reply.header)
            line.append(literal: ",\"body\":")
            line.append(json: String(decoding: reply.body, as: UTF8.self))
            line.append(literal: "}")
        } else {
            line.append(literal: "null")
        }
        line.append(literal: "}\n")
    }

    static func write(_ receipt: OutboxReceipt, _ settlement: OutboxSettlement?, to line: inout TextLine) {
        var (outcome, status, reason) = ("queued", Int?.none, String?.none)
        switch settlement {
        case .left(let result)?: (outcome, status) = (result.outcome.rawValue, result.statusCode)
        case .dead(let entry)?:
            (outcome, status, reason) = ("dead", entry.failure?.statusCode, entry.failure?.message)
        case .unknown?: outcome = "unknown"
        case nil: break
        }
        write(receipt, outcome: outcome, status, reason, to: &line)
    }

    static func write(
        _ receipt: OutboxReceipt, outcome: String, _ status: Int?, _ reason: String?, to line: inout TextLine
    ) {
        line.append(literal: "{\"schema\":1,\"id\":")
        line.append(receipt.id.rawValue)
        line.append(literal: ",\"idempotencyKey\":")
        line.append(json: receipt.idempotencyKey)
        line.append(literal: ",\"repeated\":")
        line.append(json: receipt.isRepeated)
        line.append(literal: ",\"outcome\":")
        line.append(json: outcome)
        line.append(literal: ",\"statusCode\":")
        line.append(json: status)
        line.append(literal: ",\"reason\":")
        line.append(json: reason)
        line.append(literal: "}\n")
    }

    private static func fields(_ entry: OutboxEntry, to line: inout TextLine) {
        line.append(literal: "\"id\":")
        line.append(entry.id.rawValue)
        line.append(literal: ",\"state\":")
        line.append(json: entry.state.rawValue)
        line.append(literal: ",\"lane\":")
        line.append(json: entry.lane)
        line.append(literal: ",\"priority\":")
        line.append(entry.priority)
        line.append(literal: ",\"method\":")
        line.append(json: entry.method)
        line.append(literal: ",\"url\":")
        line.append(json: entry.shownURL)
        line.append(literal: ",\"network\":")
        line.append(json: entry.networkCondition.rawValue)
        line.append(literal: ",\"idempotencyKey\":")
        line.append(json: entry.idempotencyKey)
        line.append(literal: ",\"bodySize\":")
        line.append(entry.bodySize)
        line.append(literal: ",\"created\":")
        line.append(json: text(entry.created))
        line.append(literal: ",\"expires\":")
        line.append(json: entry.expires.map(text))
        line.append(literal: ",\"attempts\":")
        line.append(entry.attempts)
        line.append(literal: ",\"nextAttempt\":")
        line.append(json: entry.nextAttempt.map(text))
        line.append(literal: ",\"failure\":")
        line.append(json: entry.failure?.kind.rawValue)
        line.append(literal: ",\"statusCode\":")
        line.append(json: entry.failure?.statusCode)
        line.append(literal: ",\"reason\":")
        line.append(json: entry.failure?.message)
        line.append(literal: ",\"hold\":")
        line.append(json: entry.hold)
        line.append(literal: ",\"maximumAttempts\":")
        line.append(json: entry.maximumAttempts)
    }

    /// RFC 3339, as everywhere.
    static func text(_ date: Date) -> String { WallTime(date).text }
}

extension WallTime {
    init(_ date: Date) {
        // What does not fit is far enough away.
        self.init(nanoseconds: Int64(min(max(date.timeIntervalSince1970, -9e9), 9e9) * 1_000) * 1_000_000)
    }
}
