// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Outbox
import Reachability
import ServiceCore
import SessionManager

/// An outbox's content as text for people.
enum OutboxText {
    static func list(_ counts: OutboxCounts, _ entries: [OutboxEntry], now: WallTime, _ style: Style)
        -> String
    {
        var text = summary(counts, now: now, style) + "\n"
        guard !entries.isEmpty else { return text }
        let idWidth = entries.map { "\($0.id)".utf8.count }.max() ?? 0
        let laneWidth = min(entries.map { SafeText.width(style.text($0.lane)) }.max() ?? 0, 20)
        let stateWidth = entries.map(\.state.rawValue.utf8.count).max() ?? 7
        text += "\n"
        for entry in entries {
            let id = padded("\(entry.id)", idWidth)
            let lane = padded(entry.lane, laneWidth)
            var pieces: [Style.Piece] = [
                ("  \(id)  \(lane)  ", .plain), (padded(entry.state.rawValue, stateWidth), tone(entry)),
                ("  \(request(entry))", .plain),
            ]
            if let failure = entry.failure { pieces.append((": \(failure.message)\(tries(entry))", .minor)) }
            if entry.state == .scheduled, let start = entry.nextAttempt {
                pieces.append(("; not before \(OutboxJSON.text(start))", .minor))
            }
            if !entry.tags.isEmpty { pieces.append((" [\(entry.tags.joined(separator: ", "))]", .minor)) }
            if let hold = entry.hold { pieces.append(("; waits: \(hold)", .doubtful)) }
            text += style.line(pieces, indent: idWidth + 4) + "\n"
        }
        let shown = counts.waiting + counts.dead
        if entries.count < shown {
            text +=
                style.text(
                    "  … \(shown - entries.count) more; --after \(entries[entries.count - 1].id) goes on")
                + "\n"
        }
        return text
    }

    static func show(_ entry: OutboxEntry, _ reply: OutboxReply?, _ style: Style) -> String {
        var rows: [(String, String)] = [
            ("entry", "\(entry.id), \(entry.state.rawValue)"),
            ("request", request(entry)),
            ("lane", "\(entry.lane), priority \(entry.priority)"),
            ("network", entry.networkCondition.description), ("key", entry.idempotencyKey),
            ("content", AmountText.bytes(entry.bodySize)), ("taken", OutboxJSON.text(entry.created)),
        ]
        if let expires = entry.expires { rows.append(("expires", OutboxJSON.text(expires))) }
        rows += plan(entry)
        rows.append(("failures", "\(entry.attempts)"))
        if let next = entry.nextAttempt { rows.append(("next try", OutboxJSON.text(next))) }
        if let failure = entry.failure { rows.append(("reason", failure.message)) }
        if let hold = entry.hold { rows.append(("waits", hold)) }
        var text = rows.map { style.line([("\(padded($0.0, 8))  \($0.1)", .plain)], indent: 10) + "\n" }
            .joined()
        if let reply {
            text += style.text("the server said \(reply.statusCode):") + "\n"
            let body = String(decoding: reply.body, as: UTF8.self)
            for line in (reply.header + "\n" + body).split(separator: "\n") {
                text += "  " + style.text(String(line)) + "\n"
            }
        }
        return text
    }

    /// The request, and the file that it becomes.
    private static func request(_ entry: OutboxEntry) -> String {
        "\(entry.method) \(entry.shownURL)" + (entry.file.map { " → \($0)" } ?? "")
    }

    /// What only some entries have.
    private static func plan(_ entry: OutboxEntry) -> [(String, String)] {
        let rows: [(String, String?)] = [
            ("replaces", entry.replaces),
            ("tags", entry.tags.isEmpty ? nil : entry.tags.joined(separator: ", ")),
            ("earliest", entry.notBefore.map { OutboxJSON.text($0) }), ("window", entry.window?.description),
            ("every", entry.every.map { DurationText.people($0) }),
            ("gates", entry.gates.isEmpty ? nil : entry.gates.joined(separator: ", ")),
            ("sha256", entry.sha256),
            ("mirrors", entry.mirrors.isEmpty ? nil : entry.mirrors.joined(separator: ", ")),
        ]
        return rows.compactMap { row in row.1.map { (row.0, $0) } }
    }

    static func gates(_ gates: [OutboxGate], _ style: Style) -> String {
        guard !gates.isEmpty else { return style.text("no gate is held") + "\n" }
        let width = min(gates.map { SafeText.width(style.text($0.name)) }.max() ?? 0, 20)
        return gates.map { gate in
            let end = gate.until.map { ", until \(OutboxJSON.text($0))" } ?? ""
            let reason = gate.reason.isEmpty ? "" : ": \(gate.reason)"
            let line = style.line(
                [
                    (padded(gate.name, width), .doubtful),
                    ("  held since \(OutboxJSON.text(gate.since))\(end)\(reason)", .plain),
                ], indent: width + 2)
            return line + "\n"
        }.joined()
    }

    private static func summary(_ counts: OutboxCounts, now: WallTime, _ style: Style) -> String {
        guard counts.waiting + counts.dead > 0 else {
            return style.text(counts.isPaused ? "the outbox is empty, and paused" : "the outbox is empty")
        }
        var text = "\(counts.waiting) waiting, \(counts.dead) dead, \(AmountText.bytes(counts.bytes))"
        if let oldest = counts.oldest {
            let age = Duration.nanoseconds(max(0, now.nanoseconds - WallTime(oldest).nanoseconds))
            text += "; the oldest for \(AmountText.seconds(age))"
        }
        return style.line([(text, .strong), (counts.isPaused ? "  paused" : "", .doubtful)], indent: 2)
    }

    private static func tone(_ entry: OutboxEntry) -> Style.Tone {
        entry.state == .dead ? .bad : entry.failure == nil ? .good : .doubtful
    }

    private static func tries(_ entry: OutboxEntry) -> String {
        entry.attempts <= 1 ? "" : " (\(entry.attempts) times)"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - SafeText.width(text)))
    }
}
