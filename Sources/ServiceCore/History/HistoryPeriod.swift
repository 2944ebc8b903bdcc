// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// A time in which the status was the same, as `GetHistory` returns it.
package struct HistoryPeriod: Sendable, Equatable {
    package var status: ReachabilityStatus
    package var since: WallTime
    /// Nil where it goes on.
    package var until: WallTime?
    package var interface: String?
    package var reason: String

    /// Nil where it says something else.
    package init?(_ json: JSONValue) {
        guard let since = json["since"]?.string.flatMap({ WallTime($0) }),
            let status = ReachabilityStatus.allCases.first(where: { $0.description == json["status"]?.string }
            )
        else { return nil }
        self.status = status
        self.since = since
        until = json["until"]?.string.flatMap { WallTime($0) }
        interface = json["interface"]?.string
        reason = json["reason"]?.string ?? ""
    }
}

extension HistoryTimeline {
    /// Built from a service's reply: without the changes of the path below one status.
    ///
    /// - Parameter periods: in their order, without overlap.
    package init(periods: [HistoryPeriod], from: WallTime, to: WallTime) {
        // Each as a run of its own: what lies between two is a gap.
        var runs: [HistoryRun] = []
        var records: [HistoryRecord] = []
        for (index, period) in periods.enumerated() {
            let (number, end) = (Int64(index + 1), min(period.until ?? to, to))
            runs.append(
                HistoryRun(
                    id: number, began: period.since, seen: end, seenBoot: end.nanoseconds, hasEnded: true))
            records.append(
                HistoryRecord(
                    id: number, run: number, wall: period.since, boot: period.since.nanoseconds,
                    status: period.status, isOnline: period.status.isReachable, interface: period.interface,
                    reason: period.reason, code: ""))
        }
        self.init(runs: runs, records: records, from: from, to: to)
    }
}
