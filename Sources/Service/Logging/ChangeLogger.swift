// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
package import ServiceCore

/// Writes one line to the log for each committed change, and only so many in a minute.
package final class ChangeLogger: ServiceComponent {
    package let name = "log"
    private var throttle: LogThrottle
    private let tally: ServiceTally
    private var context: ServiceContext?
    private var timer: TimerID?
    private var statusBegan: MonotonicInstant?

    package init(_ settings: ServiceConfiguration.Log, tally: ServiceTally) {
        throttle = LogThrottle(limit: Int(settings.changes))
        self.tally = tally
    }

    package func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }

    package func statusChanged(_ change: CommittedChange) {
        let before = statusBegan.map { change.instant - $0 }
        if change.event != .path { statusBegan = change.event == .status ? change.instant : nil }
        switch throttle.judge(at: change.instant) {
        case .write(let leftOut):
            tell(leftOut)
            context?.log(
                ChangeSentence.priority(change),
                ChangeSentence.text(change, before: change.event == .status ? before : nil))
        case .leaveOut: arm()
        }
        tally.linesLeftOut = throttle.total
    }

    private func tell(_ leftOut: Int) {
        if leftOut > 0 { context?.log(.notice, "\(leftOut) changes are left out of the log") }
    }

    /// After the minute the count is told, though no further change comes.
    private func arm() {
        guard timer == nil, let context, let deadline = throttle.deadline else { return }
        timer = context.reactor.schedule(at: deadline.nanoseconds) { [weak self] in
            guard let self else { return }
            timer = nil
            tell(throttle.takeLeftOut())
        }
    }

    package var stateLine: String? { "\(throttle.total) changes were left out of the log" }

    package func stop(_ done: @escaping () -> Void) {
        tell(throttle.takeLeftOut())
        if let timer { context?.reactor.cancel(timer) }
        context = nil
        done()
    }
}
