// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Writes a history as one JSON object on one line: a contract with scripts, as ``ReportJSON`` is.
package enum HistoryJSON {
    /// Appends the object and a line feed.
    package static func write(
        _ timeline: HistoryTimeline, periods: [HistorySummary], to line: inout TextLine
    ) {
        let summary = HistorySummary(timeline)
        line.append(literal: "{\"schema\":1,")
        write(summary, to: &line)
        line.append(literal: ",\"periods\":")
        line.append(json: periods) { line, period in
            line.append(literal: "{")
            write(period, to: &line)
            line.append(literal: "}")
        }
        line.append(literal: ",\"spans\":")
        line.append(json: timeline.spans) { write($1, to: &$0) }
        line.append(literal: ",\"changes\":")
        line.append(json: timeline.changes) { write($1, to: &$0) }
        line.append(literal: "}\n")
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
        line.field(#","status":"#, span.record?.status.description)
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
