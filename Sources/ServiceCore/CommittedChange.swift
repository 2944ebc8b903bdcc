// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// A change in the form that the service's components get: a first report, a status, or a path below it.
package struct CommittedChange: Sendable, Equatable {
    /// The monitor's update: kind of change, status, former status, path and links.
    package private(set) var update: ReachabilityUpdate
    /// Since when the status holds; nil if the service did not see it begin.
    package var since: WallTime?
    /// When the change was committed, by the wall clock.
    package let wall: WallTime
    /// The same by the monotonic clock.
    package let instant: MonotonicInstant
    /// The state of the internet that transfers find, over an alternative too; nil without a probe.
    package var internet: InternetState?
    /// What was found behind each uplink; empty without a probe.
    package var uplinks: [UplinkInternet] = []
    /// Where to sign in to the network in use, if that is known.
    package var portal: String?
    /// The uplinks whose state has changed, where only the internet has.
    package var changedUplinks: [UplinkInternet] = []
    /// Whether only the state of the internet has changed, and neither status nor path.
    package var isInternet = false

    package init(_ update: ReachabilityUpdate, since: WallTime?, wall: WallTime, instant: MonotonicInstant) {
        self.update = update
        self.since = since
        self.wall = wall
        self.instant = instant
    }

    package var event: ReachabilityUpdate.Event { update.event }
    package var status: ReachabilityStatus { update.status }
    /// Nil in the first report.
    package var previous: ReachabilityStatus? { update.previous }
    package var path: ReachabilityPath { update.path }
    package var links: [LinkReport] {
        get { update.links }
        set { update.links = newValue }
    }
    /// The state of the internet behind the path, for people; nil without a probe.
    package var internetBehindPath: InternetState? { internet?.behind(path, status) }
    package var reason: ReachabilityReason { update.path.reason }
    package var generation: UInt64 { update.path.generation }

    /// The report with the event and the former status, as `reach watch --json` prints it.
    package var report: Report {
        var report = Report(update, since: since, host: nil)
        report.internet = internet
        report.uplinks = uplinks
        report.portal = portal
        report.transfersFollow = true
        if isInternet { report.change = Report.Change(event: .path, previous: status, isInternet: true) }
        return report
    }

    /// The report without them, as `reach status --json` prints it.
    package var state: Report {
        var report = report
        report.change = nil
        return report
    }
}

/// The replies that tell subscribers of a change.
///
/// Each is made once, although subscribers may be many: to write the report takes longer than to send it.
package struct ChangeReplies: Sendable {
    package let change: CommittedChange
    private var made: [Made] = []

    package init(_ change: CommittedChange) { self.change = change }

    /// Subscribers that were skipped before have another former status.
    private struct Made {
        let event: ReachabilityUpdate.Event
        let previous: ReachabilityStatus?
        let reply: VarlinkReply
    }

    package mutating func reply(
        _ event: ReachabilityUpdate.Event, previous: ReachabilityStatus?
    ) -> VarlinkReply {
        if let known = made.first(where: { $0.event == event && $0.previous == previous }) {
            return known.reply
        }
        var report = change.report
        report.change = Report.Change(
            event: event, previous: previous, isInternet: change.isInternet && event == .path)
        let reply = VarlinkReply(report, continues: true)
        made.append(Made(event: event, previous: previous, reply: reply))
        return reply
    }
}
