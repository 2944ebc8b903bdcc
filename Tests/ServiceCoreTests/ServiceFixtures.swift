// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore

extension WallTime {
    /// Seconds after 2026-01-02T00:00:00Z, a Friday.
    static func at(_ seconds: Int64, _ nanoseconds: Int64 = 0) -> WallTime {
        WallTime(nanoseconds: (1_767_312_000 + seconds) * 1_000_000_000 + nanoseconds)
    }
}

extension CommittedChange {
    /// A change at a second, as the monitor publishes it.
    static func at(
        _ second: Int64, _ status: ReachabilityStatus, was previous: ReachabilityStatus? = nil,
        event: ReachabilityUpdate.Event = .status, interface: String? = "eth0", reason: String = "a reason"
    ) -> CommittedChange {
        var path = ReachabilityPath(
            status: status, interface: status.isReachable ? interface : nil, medium: .ethernet,
            generation: UInt64(second + 1))
        path.reason = ReachabilityReason(
            status.isReachable ? .defaultRoute : .noRoute, interface: interface, sentence: reason)
        return CommittedChange(
            ReachabilityUpdate(event: event, status: status, previous: previous, path: path), since: nil,
            wall: .at(second), instant: MonotonicInstant(nanoseconds: second * 1_000_000_000))
    }
}

extension HistoryRecord {
    /// A record at a second of the boot clock; the wall clock agrees unless `wall` differs.
    static func at(
        _ second: Int64, _ status: ReachabilityStatus, run: Int64 = 1, wall: Int64? = nil,
        reason: String = "a reason"
    ) -> HistoryRecord {
        HistoryRecord(
            id: second, run: run, wall: .at(wall ?? second), boot: second * 1_000_000_000, status: status,
            isOnline: status.isReachable, interface: status.isReachable ? "eth0" : nil,
            medium: status.isReachable ? "ethernet" : nil, reason: reason, code: "code")
    }
}

extension HistoryRun {
    static func from(_ began: Int64, seen: Int64, id: Int64 = 1, ended: Bool = true) -> HistoryRun {
        HistoryRun(
            id: id, began: .at(began), seen: .at(seen), seenBoot: seen * 1_000_000_000, hasEnded: ended)
    }
}
