// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

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
