// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore

/// The view of `reach history`: a summary, a bar for each period, and the last outages.
struct HistoryView {
    /// Converts to the local time of a time zone.
    typealias Zone = (WallTime) -> LocalTime

    private let timeline: HistoryTimeline
    private let zone: Zone
    private let style: Style

    /// The most outages that are shown, the last ones.
    static let outageLimit = 10

    init(_ timeline: HistoryTimeline, zone: @escaping Zone, _ style: Style) {
        self.timeline = timeline
        self.zone = zone
        self.style = style
    }

    /// The whole view, ending with a line feed.
    var text: String {
        headline + lines + "\n" + (style.hasMarks ? bars + legend : rows)
            + outages("outages", of: timeline.spans) + lineOutages
    }

    // MARK: Summary

    private var headline: String {
        let summary = HistorySummary(timeline)
        let length = DurationText.people(timeline.to.time(since: timeline.from))
        guard summary.availability != nil else {
            return style.line(
                [("nothing is known of \(zone(timeline.from).full) to \(zone(timeline.to).full)", .strong)],
                indent: 2)
                + "\n" + gapLine(summary)
        }
        return style.line(pieces(summary, "reachable", " in \(length)"), indent: 2) + "\n" + gapLine(summary)
    }

    /// "99.98 % reachable in 1 d – no outage".
    private func pieces(_ summary: HistorySummary, _ what: String, _ time: String) -> [Style.Piece] {
        let tone: Style.Tone = summary.outages == 0 ? .good : .doubtful
        var pieces: [Style.Piece] = [("\(summary.availabilityText) \(what)", tone), (time, .plain)]
        if let longest = summary.longest {
            let number = summary.outages == 1 ? "1 outage" : "\(summary.outages) outages"
            let flaps =
                summary.flaps == 0
                ? "" : summary.flaps == 1 ? ", 1 of them a flap" : ", \(summary.flaps) of them flaps"
            pieces += [
                (" – \(number)\(flaps), together \(DurationText.people(summary.unreachable))", .plain),
                (
                    ", the longest \(DurationText.people(longest.duration)) from \(zone(longest.from).full) on",
                    .plain
                ),
            ]
        } else {
            pieces.append((" – no outage", .plain))
        }
        return pieces
    }

    /// A line for the internet behind the path in use, and for each uplink.
    private var lines: String {
        timeline.lines.map { line in
            let summary = HistorySummary(line.timeline)
            guard summary.availability != nil else { return "" }
            let name: [Style.Piece] = line.interface.map { [("\($0): ", .plain)] } ?? []
            return style.line(name + pieces(summary, "internet", ""), indent: 2) + "\n"
        }.joined()
    }

    /// The share of a period with internet behind the path in use; nil where no server was asked at all.
    private func internet(_ low: WallTime, _ high: WallTime) -> String? {
        guard let line = timeline.lines.first, line.interface == nil else { return nil }
        return HistorySummary(line.timeline, from: low, to: high).availabilityText
    }

    private func gapLine(_ summary: HistorySummary) -> String {
        var text = ""
        for (duration, what) in [
            (summary.gap, "no service ran"), (summary.unknown, "the kernel could not be asked"),
        ]
        where duration > .zero {
            text +=
                style.line(
                    [("for \(DurationText.people(duration)) \(what); this time does not count", .minor)],
                    indent: 2) + "\n"
        }
        return text
    }

    // MARK: Rows

    /// The content of the bars, in words.
    private var rows: String {
        HistoryPeriods(from: timeline.from, to: timeline.to, zone: zone).periods.map { period in
            let summary = HistorySummary(
                timeline, from: max(period.from, timeline.from), to: min(period.to, timeline.to))
            guard summary.reachable + summary.unreachable + summary.unknown > .zero else {
                return style.line([("  \(period.label): no service", .minor)], indent: 4) + "\n"
            }
            var words =
                summary.availability == nil ? "nothing is known" : "\(summary.availabilityText) reachable"
            let (low, high) = (max(period.from, timeline.from), min(period.to, timeline.to))
            if let internet = internet(low, high), internet != "–" { words += ", \(internet) internet" }
            if summary.outages > 0 {
                let number = summary.outages == 1 ? "1 outage" : "\(summary.outages) outages"
                words += ", \(number), \(DurationText.people(summary.unreachable))"
            }
            if summary.gap > .zero { words += ", no service for \(DurationText.people(summary.gap))" }
            if summary.unknown > .zero { words += ", unknown for \(DurationText.people(summary.unknown))" }
            return style.line([("  \(period.label): \(words)", .plain)], indent: 4) + "\n"
        }.joined()
    }

    // MARK: Bars

    private var bars: String {
        let periods = HistoryPeriods(from: timeline.from, to: timeline.to, zone: zone).periods
        let labels = periods.map(\.label)
        let labelWidth = labels.map(\.count).max() ?? 0
        // The bar is followed by " 100.00 %", and two spaces are on either side.
        let hasInternet = timeline.lines.first.map { $0.interface == nil } == true
        let room = (style.width ?? 80) - labelWidth - 4 - (hasInternet ? 18 : 9)
        let columns = max(hasInternet ? 3 : 8, min(60, room))
        var text = ""
        for period in periods {
            let (low, high) = (max(period.from, timeline.from), min(period.to, timeline.to))
            let summary = HistorySummary(timeline, from: low, to: high)
            text += "  " + style.text(LinkTable.padded(period.label, labelWidth), .minor) + " "
            text += bar(period, columns)
            text += share(summary.availabilityText, 10)
            if let internet = internet(low, high) { text += share(internet, 9) }
            text += "\n"
        }
        return text
    }

    private func share(_ text: String, _ width: Int) -> String {
        let text = style.text(text)
        return String(repeating: " ", count: max(1, width - text.count)) + text
    }

    /// The bar of a period; the part outside the time line is empty.
    private func bar(_ period: HistoryPeriods.Period, _ columns: Int) -> String {
        let edges = period.from.edges(to: period.to, count: columns)
        let cells = HistoryCell.bar(timeline, from: period.from, to: period.to, columns: columns)
        var text = ""
        var run = ("", Style.Tone.plain)
        func flush() {
            text += style.text(run.0, run.1)
            run.0 = ""
        }
        for (column, cell) in cells.enumerated() {
            let isOutside = edges[column + 1] <= timeline.from || edges[column] >= timeline.to
            let (mark, tone) = isOutside ? (" ", .plain) : mark(cell)
            if tone != run.1 { flush() }
            run = (run.0 + mark, tone)
        }
        flush()
        return text
    }

    private func mark(_ cell: HistoryCell) -> (String, Style.Tone) {
        switch cell {
        case .reachable: (style.isUnicode ? "█" : "#", .good)
        case .partly: (style.isUnicode ? "▄" : "+", .doubtful)
        case .unreachable: (style.isUnicode ? "▁" : "_", .bad)
        case .unknown: ("?", .minor)
        case .gap: (style.isUnicode ? "·" : ".", .minor)
        }
    }

    private var legend: String {
        let cells: [(HistoryCell, String)] = [
            (.reachable, "reachable"), (.partly, "partly"), (.unreachable, "unreachable"),
            (.gap, "no service"),
        ]
        var pieces: [Style.Piece] = [("  ", .plain)]
        for (index, (cell, word)) in cells.enumerated() {
            let (mark, tone) = mark(cell)
            if index > 0 { pieces.append(("  ", .plain)) }
            pieces += [(mark, tone), (" \(word)", .minor)]
        }
        if internet(timeline.from, timeline.to) != nil {
            pieces.append(("  on the right: reachable, and with internet", .minor))
        }
        return style.line(pieces, indent: 2) + "\n"
    }

    // MARK: Outages

    /// The times in which an uplink's line was dead, or wanted a login.
    private var lineOutages: String {
        let spans = timeline.lines.filter { $0.interface != nil }.flatMap(\.timeline.spans)
        return outages("times without internet", of: spans.sorted { $0.from < $1.from })
    }

    private func outages(_ what: String, of spans: [HistorySpan]) -> String {
        let all = spans.filter { $0.state == .unreachable }
        guard !all.isEmpty else { return "" }
        let shown = all.suffix(Self.outageLimit)
        let title =
            all.count > shown.count ? "the last \(shown.count) of \(all.count) \(what):" : "\(what):"
        var text = "\n" + style.text(title, .strong) + "\n"
        for span in shown {
            let isOpen = span.to == timeline.to
            let length = DurationText.people(span.duration) + (isOpen ? " and goes on" : "")
            text +=
                style.line(
                    [
                        ("  \(zone(span.from).full)", .minor), ("  \(length)", .bad),
                        ("  \(reason(span.record))", .plain),
                    ], indent: 4) + "\n"
        }
        return text
    }

    private func reason(_ record: HistoryRecord?) -> String {
        guard let record else { return "" }
        guard record.internet != nil, let interface = record.interface else { return record.reason }
        return "\(interface): \(record.reason)"
    }
}
