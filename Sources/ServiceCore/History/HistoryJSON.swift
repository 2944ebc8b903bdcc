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
        line.append(literal: "\"since\":")
        write(summary.from, to: &line)
        line.append(literal: ",\"until\":")
        write(summary.to, to: &line)
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
        line.append(literal: ",\"outages\":")
        line.append(summary.outages)
        line.append(literal: ",\"flaps\":")
        line.append(summary.flaps)
        line.append(literal: ",\"longestOutage\":")
        if let longest = summary.longest { write(longest, to: &line) } else { line.append(literal: "null") }
    }

    private static func write(_ span: HistorySpan, to line: inout TextLine) {
        line.append(literal: "{\"since\":")
        write(span.from, to: &line)
        line.append(literal: ",\"until\":")
        write(span.to, to: &line)
        line.append(literal: ",\"milliseconds\":")
        line.append(span.duration.inMilliseconds)
        line.append(literal: ",\"status\":")
        line.append(json: span.record?.status.description)
        line.append(literal: ",\"reason\":")
        line.append(json: span.record?.reason)
        line.append(literal: "}")
    }

    private static func write(_ record: HistoryRecord, to line: inout TextLine) {
        line.append(literal: "{\"time\":")
        write(record.wall, to: &line)
        line.append(literal: ",\"event\":")
        line.append(json: record.isStatus ? "status" : "path")
        line.append(literal: ",\"status\":")
        line.append(json: record.status.description)
        line.append(literal: ",\"online\":")
        line.append(json: record.isOnline)
        line.append(literal: ",\"interface\":")
        line.append(json: record.interface)
        line.append(literal: ",\"medium\":")
        line.append(json: record.medium)
        line.append(literal: ",\"generation\":")
        line.append(record.generation)
        line.append(literal: ",\"reason\":")
        line.append(json: record.reason)
        line.append(literal: ",\"reasonCode\":")
        line.append(json: record.code)
        line.append(literal: "}")
    }

    private static func write(_ time: WallTime, to line: inout TextLine) {
        line.append(literal: "\"")
        time.append(to: &line)
        line.append(literal: "\"")
    }
}
