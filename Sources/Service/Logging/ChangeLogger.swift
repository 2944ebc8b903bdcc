// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
package import ServiceCore
import SessionCore

/// Logs a line for each committed change, with a limit for each minute.
package final class ChangeLogger: ServiceComponent {
    package let name = "log"
    private var throttle: LogThrottle
    private let counters: ServiceCounters
    private let sink: LogSink?
    private var context: ServiceContext?
    private var timer: TimerID?
    private var statusBegan: MonotonicInstant?
    /// The last line's state of the internet.
    private var internet: InternetState?

    /// - Parameter sink: the destination, whose level a changed configuration sets; nil if not owned.
    package init(_ settings: ServiceConfiguration.Log, counters: ServiceCounters, sink: LogSink? = nil) {
        throttle = LogThrottle(limit: Int(settings.changes))
        self.counters = counters
        self.sink = sink
    }

    package func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }

    package func statusChanged(_ change: CommittedChange) {
        let before = statusBegan.map { change.instant - $0 }
        if change.event != .path { statusBegan = change.event == .status ? change.instant : nil }
        switch throttle.judge(at: change.instant) {
        case .write(let leftOut):
            notify(leftOut)
            context?.log(
                ChangeSentence.priority(change),
                ChangeSentence.text(change, before: change.event == .status ? before : nil))
        case .leaveOut: arm()
        }
        counters.linesLeftOut = throttle.total
    }

    package func internetChanged(_ change: CommittedChange) {
        for line in ChangeSentence.internet(change, after: internet) { context?.log(.notice, line) }
        internet = change.internetBehindPath
    }

    package func reload(_ configuration: ServiceConfiguration) {
        throttle.limit = max(1, Int(configuration.log.changes))
        sink?.level = configuration.log.level
    }

    private func notify(_ leftOut: Int) {
        if leftOut > 0 { context?.log(.notice, "\(leftOut) changes are left out of the log") }
    }

    /// Logs the count after the minute, even without a further change.
    private func arm() {
        guard timer == nil, let context, let deadline = throttle.deadline else { return }
        timer = context.reactor.schedule(at: deadline.nanoseconds) { [weak self] in
            guard let self else { return }
            timer = nil
            notify(throttle.consumeLeftOut())
        }
    }

    package var stateLine: String? { "\(throttle.total) changes were left out of the log" }

    package func stop(_ done: @escaping () -> Void) {
        notify(throttle.consumeLeftOut())
        if let timer { context?.reactor.cancel(timer) }
        context = nil
        done()
    }
}
