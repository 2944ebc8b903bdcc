// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// The internet behind an uplink over time.
package struct HistoryLine: Sendable, Equatable {
    /// Nil for the path in use.
    package var interface: String?
    /// Reachable is `full`; unreachable `limited` and `portal`, and behind the path in use `none` as well.
    ///
    /// A gap is a time in which no service ran, or asked over this uplink.
    package var timeline: HistoryTimeline
}

/// Decides which states of the internet are stored: those that are others than the ones before.
package struct InternetHistory: Sendable {
    /// The states that were stored last, by interface; empty for the path in use.
    private var stored: [String: InternetState] = [:]

    package init() {}

    /// The records of a change, at the time of now.
    package mutating func records(_ change: CommittedChange, wall: WallTime, boot: Int64) -> [HistoryRecord] {
        var found: [(interface: String, state: InternetState, reason: String)] = []
        if let internet = change.internetBehindPath {
            let preferred = change.uplinks.first { $0.isPreferred && $0.state == internet }
            found.append(("", internet, preferred?.reason ?? ""))
        }
        for uplink in change.uplinks { found.append((uplink.interface, uplink.state, uplink.reason)) }
        // An uplink that is gone is not known any more.
        for name in stored.keys.sorted() where !found.contains(where: { $0.interface == name }) {
            found.append((name, .unknown, name.isEmpty ? "not asked any more" : "no uplink any more"))
        }
        return found.compactMap { interface, state, reason in
            guard stored[interface] ?? .unknown != state else { return nil }
            stored[interface] = state == .unknown ? nil : state
            return HistoryRecord(
                state, behind: interface.isEmpty ? nil : interface, reason: reason, wall: wall, boot: boot)
        }
    }
}

extension HistoryRecord {
    /// What the record says of the time after it.
    var state: HistorySpan.State {
        switch internet {
        case .full: .reachable
        case .limited, .portal: .unreachable
        // Without a path an uplink's line is not known, but there is no internet.
        case .some(.none): interface == nil ? .unreachable : .unknown
        case .unknown: .unknown
        case nil:
            switch status {
            case .wifi, .wired: .reachable
            case .unreachable: .unreachable
            case .unknown: .unknown
            }
        }
    }
}
