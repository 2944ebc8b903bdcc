// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// Writes a history as one JSON object on one line: a contract with scripts, as ``ReportJSON`` is.
package enum HistoryJSON {
    /// Appends the object and a line feed.
    package static func write(
        _ timeline: HistoryTimeline, periods: [HistorySummary], to line: inout TextLine
    ) {
        let summary = HistorySummary(timeline)
        let lines = timeline.lines
        line.append(literal: "{\"schema\":1,")
        write(summary, to: &line)
        line.append(literal: ",\"periods\":")
        line.append(json: periods) { line, period in
            line.append(literal: "{")
            write(period, to: &line)
            write(lines, from: period.from, to: period.to, to: &line)
            line.append(literal: "}")
        }
        line.append(literal: ",\"spans\":")
        line.append(json: timeline.spans) { write($1, to: &$0) }
        line.append(literal: ",\"changes\":")
        line.append(json: timeline.changes) { write($1, to: &$0) }
        write(lines, from: timeline.from, to: timeline.to, to: &line)
        line.append(literal: ",\"internetChanges\":")
        let changes = lines.flatMap(\.timeline.changes).sorted { $0.wall < $1.wall }
        line.append(json: changes) { line, record in
            line.field(#"{"time":"#, record.wall)
            line.field(#","interface":"#, record.interface)
            line.field(#","state":"#, record.internet?.rawValue)
            line.field(#","reason":"#, record.reason)
            line.append(literal: "}")
        }
        line.append(literal: "}\n")
    }

    /// The internet behind the path in use, and behind each uplink.
    private static func write(
        _ lines: [HistoryLine], from: WallTime, to: WallTime, to line: inout TextLine
    ) {
        line.append(literal: ",\"internet\":")
        if let path = lines.first(where: { $0.interface == nil }) {
            line.append(literal: "{")
            write(HistorySummary(path.timeline, from: from, to: to), to: &line)
            line.append(literal: "}")
        } else {
            line.append(literal: "null")
        }
        line.append(literal: ",\"uplinks\":")
        line.append(json: lines.filter { $0.interface != nil }) { line, uplink in
            line.field(#"{"interface":"#, uplink.interface)
            line.append(literal: ",")
            write(HistorySummary(uplink.timeline, from: from, to: to), to: &line)
            line.append(literal: "}")
        }
    }

    private static func write(_ summary: HistorySummary, to line: inout TextLine) {
        line.field(#""since":"#, summary.from)
        line.field(#","until":"#, summary.to)
        line.append(literal: ",\"availability\":")
        if let availability = summary.availability {
            line.append(availability / 1_000_000)
            line.append(literal: ".")
            line.append(availability % 1_000_000, digits: 6)
        } else {
            line.append(literal: "null")
        }
        for (name, duration) in [
            ("reachableMilliseconds", summary.reachable), ("unreachableMilliseconds", summary.unreachable),
            ("unknownMilliseconds", summary.unknown), ("gapMilliseconds", summary.gap),
        ] {
            line.append(",\"\(name)\":")
            line.append(duration.inMilliseconds)
        }
        line.field(#","outages":"#, summary.outages)
        line.field(#","flaps":"#, summary.flaps)
        line.append(literal: ",\"longestOutage\":")
        if let longest = summary.longest { write(longest, to: &line) } else { line.append(literal: "null") }
    }

    private static func write(_ span: HistorySpan, to line: inout TextLine) {
        line.field(#"{"since":"#, span.from)
        line.field(#","until":"#, span.to)
        line.field(#","milliseconds":"#, span.duration.inMilliseconds)
        let state = span.record.map { $0.internet?.rawValue ?? $0.status.description }
        line.field(#","status":"#, state)
        line.field(#","reason":"#, span.record?.reason)
        line.append(literal: "}")
    }

    private static func write(_ record: HistoryRecord, to line: inout TextLine) {
        line.field(#"{"time":"#, record.wall)
        line.field(#","event":"#, record.isStatus ? "status" : "path")
        line.field(#","status":"#, record.status.description)
        line.field(#","online":"#, record.isOnline)
        line.field(#","interface":"#, record.interface)
        line.field(#","medium":"#, record.medium)
        line.field(#","generation":"#, record.generation)
        line.field(#","reason":"#, record.reason)
        line.field(#","reasonCode":"#, record.code)
        line.append(literal: "}")
    }
}
