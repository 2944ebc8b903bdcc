// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// A period of one status, or of one state of the internet, as `GetHistory` returns it.
package struct HistoryPeriod: Sendable, Equatable {
    /// Unknown for a state of the internet.
    package var status: ReachabilityStatus
    /// Nil for a status.
    package var internet: InternetState?
    package var since: WallTime
    /// Nil for the current period.
    package var until: WallTime?
    package var interface: String?
    package var reason: String

    /// Nil for other JSON.
    package init?(_ json: JSONValue) {
        internet = json["internet"]?.string.flatMap { InternetState(rawValue: $0) }
        let status = json["status"]?.string.flatMap { ReachabilityStatus($0) }
        guard let since = json["since"]?.string.flatMap({ WallTime($0) }), status != nil || internet != nil
        else { return nil }
        self.status = status ?? .unknown
        self.since = since
        until = json["until"]?.string.flatMap { WallTime($0) }
        interface = json["interface"]?.string
        reason = json["reason"]?.string ?? ""
    }
}

extension HistoryTimeline {
    /// Builds a time line from a service's reply, whose periods are in order, without overlap: those of the
    /// status, and those of each line.
    package init(periods: [HistoryPeriod], from: WallTime, to: WallTime) {
        // Each period as a run of its own, so that the time between two is a gap.
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
                    reason: period.reason, code: "", internet: period.internet))
        }
        self.init(runs: runs, records: records, from: from, to: to)
    }
}
