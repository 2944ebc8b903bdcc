// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// The summary of a period of the history.
package struct HistorySummary: Sendable, Equatable {
    /// The duration below which an outage is a flap.
    package static let flapLimit: Duration = .seconds(60)

    package let from: WallTime
    package let to: WallTime
    package private(set) var reachable: Duration = .zero
    package private(set) var unreachable: Duration = .zero
    /// The service ran without knowing the status.
    package private(set) var unknown: Duration = .zero
    /// No service ran.
    package private(set) var gap: Duration = .zero
    /// The number of outages; one that continues after a gap counts twice.
    package private(set) var outages = 0
    /// The outages that ended within a minute with the network back.
    package private(set) var flaps = 0
    /// The longest outage, limited to the period.
    package private(set) var longest: HistorySpan?

    /// Summarises the part of a time line between two moments.
    package init(_ timeline: HistoryTimeline, from: WallTime, to: WallTime) {
        self.from = from
        self.to = to
        for index in timeline.spans.indices {
            var span = timeline.spans[index]
            guard span.from < to, span.to > from else { continue }
            let whole = span.duration
            (span.from, span.to) = (max(span.from, from), min(span.to, to))
            switch span.state {
            case .reachable: reachable += span.duration
            case .unknown: unknown += span.duration
            case .gap: gap += span.duration
            case .unreachable:
                unreachable += span.duration
                outages += 1
                let isOver = timeline.spans.dropFirst(index + 1).first?.state == .reachable
                if isOver, whole < Self.flapLimit { flaps += 1 }
                if span.duration > longest?.duration ?? .zero { longest = span }
            }
        }
    }

    /// The whole time line.
    package init(_ timeline: HistoryTimeline) { self.init(timeline, from: timeline.from, to: timeline.to) }

    /// The reachable part of the known time, in millionths; nil if the status was never known.
    package var availability: Int64? {
        let known = reachable + unreachable
        guard known > .zero else { return nil }
        // Rounded down, so that a hundred per cent means no outage at all.
        return Int64(reachable.attoseconds * 1_000_000 / known.attoseconds)
    }

    /// "99.98 %"; "–" if the status was never known.
    package var availabilityText: String {
        guard let availability else { return "–" }
        if availability == 1_000_000 { return "100 %" }
        let hundredths = availability / 100
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) %"
    }
}

/// One column of a bar: the worst status in its time, and whether it held all the time.
package enum HistoryCell: Sendable, Hashable {
    case reachable, unreachable
    /// Lost for a part of the time.
    case partly
    case unknown, gap

    /// The columns of a bar between two moments.
    package static func bar(_ timeline: HistoryTimeline, from: WallTime, to: WallTime, columns: Int)
        -> [HistoryCell]
    {
        var cells: [HistoryCell] = []
        var index = 0
        let edges = from.edges(to: to, count: columns)
        for (low, high) in zip(edges, edges.dropFirst()) {
            var seen: Set<HistorySpan.State> = []
            while index < timeline.spans.count, timeline.spans[index].to <= low { index += 1 }
            var next = index
            while next < timeline.spans.count, timeline.spans[next].from < high {
                seen.insert(timeline.spans[next].state)
                next += 1
            }
            cells.append(cell(seen))
        }
        return cells
    }

    private static func cell(_ seen: Set<HistorySpan.State>) -> HistoryCell {
        if seen.contains(.unreachable) { return seen.contains(.reachable) ? .partly : .unreachable }
        if seen.contains(.reachable) { return .reachable }
        return seen.contains(.unknown) ? .unknown : .gap
    }
}
