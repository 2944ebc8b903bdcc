// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// A time with one status, or without a service.
package struct HistorySpan: Sendable, Equatable {
    package enum State: Sendable, Hashable {
        case reachable, unreachable
        /// The service ran without knowing the status.
        case unknown
        /// No service ran; counts neither as an outage nor as reachable.
        case gap
    }

    package var from: WallTime
    package var to: WallTime
    package var state: State
    /// Nil in a gap.
    package var record: HistoryRecord?

    package var duration: Duration { to.time(since: from) }
}

/// The history as a sequence of spans in order, without holes and overlaps.
package struct HistoryTimeline: Sendable, Equatable {
    package private(set) var spans: [HistorySpan] = []
    /// All changes in the requested time, at the time of the corrected clock.
    package private(set) var changes: [HistoryRecord] = []
    /// The internet behind the path in use and behind each uplink, over the same time; empty where no server
    /// was asked.
    package private(set) var lines: [HistoryLine] = []
    package let from: WallTime
    package let to: WallTime

    /// Builds the time line from stored records.
    ///
    /// A device's clock may be set while the service runs: each run is laid out by the boot clock, and ends
    /// where the wall clock showed its last sign of life.
    ///
    /// - Parameters:
    ///   - runs: in the order of their starts.
    ///   - records: in the order in which they were stored; the last one before `from` included.
    ///   - running: the current run, whose last state lasts until `to`.
    package init(
        runs: [HistoryRun], records: [HistoryRecord], from: WallTime, to: WallTime, running: Int64? = nil
    ) {
        self.init(runs, records.filter { $0.internet == nil }, from, to, running)
        let found = Dictionary(grouping: records.filter { $0.internet != nil }) { $0.interface ?? "" }
        for name in found.keys.sorted() {
            let timeline = HistoryTimeline(runs, found[name] ?? [], from, to, running)
            if !timeline.changes.isEmpty || timeline.spans.contains(where: { $0.state != .gap }) {
                lines.append(HistoryLine(interface: name.isEmpty ? nil : name, timeline: timeline))
            }
        }
    }

    private init(
        _ runs: [HistoryRun], _ records: [HistoryRecord], _ from: WallTime, _ to: WallTime, _ running: Int64?
    ) {
        self.from = from
        self.to = to
        // Disagreeing clocks must not make time run backwards: each run starts where the one before ends.
        var end = from
        let recordsOfRun = Dictionary(grouping: records, by: \.run)
        for run in runs {
            guard let own = recordsOfRun[run.id], let last = own.last else { continue }
            // May wrap around; converting it to a moment wraps back.
            let offset =
                run.seenBoot >= last.boot
                ? run.seen.nanoseconds &- run.seenBoot : last.wall.nanoseconds &- last.boot
            func moment(_ boot: Int64) -> WallTime { WallTime(nanoseconds: boot &+ offset) }
            let seen = run.id == running ? to : moment(max(run.seenBoot, last.boot))
            for (index, record) in own.enumerated() {
                let begin = moment(record.boot)
                let next = index + 1 < own.count ? moment(own[index + 1].boot) : seen
                if begin >= from, begin < to {
                    var moved = record
                    moved.wall = begin
                    changes.append(moved)
                }
                let (low, high) = (max(begin, end), min(next, to))
                guard low < high else { continue }
                if low > end { append(HistorySpan(from: end, to: low, state: .gap)) }
                append(HistorySpan(from: low, to: high, state: record.state, record: record))
                end = high
            }
        }
        if end < to { append(HistorySpan(from: end, to: to, state: .gap)) }
    }

    /// Adds a span; an equal one extends the span before.
    private mutating func append(_ span: HistorySpan) {
        if let last = spans.last, last.state == span.state, last.record?.status == span.record?.status,
            last.to == span.from
        {
            spans[spans.count - 1].to = span.to
        } else {
            spans.append(span)
        }
    }
}

// The difference of two wall times may exceed the range of nanoseconds (292 years).
extension WallTime {
    /// The exact time from `earlier` to this moment, for any distance.
    package func time(since earlier: WallTime) -> Duration {
        .nanoseconds(nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    /// The moment that many nanoseconds later or earlier, clamped to the range of wall times.
    package func moved(by nanoseconds: Int64) -> WallTime {
        let (sum, isBeyond) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return WallTime(nanoseconds: isBeyond ? (nanoseconds < 0 ? .min : .max) : sum)
    }

    /// The moment that many seconds after 1970, clamped to the range of wall times.
    package init(seconds: Int64) {
        let (product, isBeyond) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.init(nanoseconds: isBeyond ? (seconds < 0 ? .min : .max) : product)
    }

    /// The boundaries of `count` parts of the time until `end`, of equal length up to nanoseconds.
    package func edges(to end: WallTime, count: Int) -> [WallTime] {
        // The difference always fits into the unsigned type, and the sum stays before the end.
        let length = UInt64(bitPattern: end.nanoseconds &- nanoseconds)
        let part = length / UInt64(max(1, count))
        return (0...count).map { WallTime(nanoseconds: nanoseconds &+ Int64(bitPattern: part &* UInt64($0))) }
    }
}

extension Duration {
    /// The whole milliseconds.
    var inMilliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }
}
