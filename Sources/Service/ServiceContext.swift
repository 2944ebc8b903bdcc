// SPDX-License-Identifier: Apache-2.0

internal import CLinux
package import EventLoop
import Glibc
package import Reachability
package import ReachabilityCore
package import ServiceCore
package import SessionCore

/// What the parts of the service share; on the loop's thread only.
package final class ServiceContext {
    /// The one loop.
    package let reactor: Reactor
    /// The monitor whose changes are passed on: its counters and limitations are for metrics.
    package let manager: ReachabilityManager
    /// Where what has to last is kept.
    package let stateDirectory: StateDirectory
    /// Writes a line of the log.
    package let log: (LogPriority, String) -> Void
    /// Reads the wall clock.
    package let wallClock: () -> WallTime
    /// Reads the clock that is never set (CLOCK_BOOTTIME), in nanoseconds.
    package let bootClock: () -> Int64
    /// The newest change; nil before the first report.
    ///
    /// Since when the status is so follows a wall clock that was set meanwhile.
    package internal(set) var current: CommittedChange? {
        get {
            guard var change = newest else { return nil }
            correctAge()
            change.since = age.since
            return change
        }
        set { newest = newValue }
    }
    private var newest: CommittedChange?
    /// Since when the status is what it is.
    var age = StatusAge()
    /// How often the status has changed since the start.
    package internal(set) var statusChanges: UInt64 = 0
    /// The state of the internet; nil without a probe.
    package var internet: InternetState?
    /// Gets what was found behind the path; set by the service.
    var internetFound: ((InternetState?) -> Void)?

    /// Has since when the status is so follow a wall clock that was set.
    func correctAge() {
        guard age.since != nil else { return }
        age.correct(at: wallClock(), boot: bootClock())
    }

    /// The state of the internet has changed; nil where it is not probed any more.
    package func notify(internet: InternetState?) { internetFound?(internet) }

    package init(
        reactor: Reactor, manager: ReachabilityManager, stateDirectory: String,
        log: @escaping (LogPriority, String) -> Void, wallClock: @escaping () -> WallTime = WallTime.now,
        bootClock: @escaping () -> Int64 = clinux_boot_nanoseconds
    ) {
        self.reactor = reactor
        self.manager = manager
        self.stateDirectory = StateDirectory(stateDirectory)
        self.log = log
        self.wallClock = wallClock
        self.bootClock = bootClock
    }
}

/// What the parts of the service count for the metrics; on the loop's thread only.
package final class ServiceCounters {
    package var hookRuns: UInt64 = 0
    package var hookFailures: UInt64 = 0
    package var hooksSkipped: UInt64 = 0
    package var historySkipped: UInt64 = 0
    package var linesLeftOut: UInt64 = 0

    package init() {}
}

extension WallTime {
    /// What the wall clock of this machine shows (CLOCK_REALTIME).
    package static func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
