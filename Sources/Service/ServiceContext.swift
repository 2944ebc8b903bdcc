// SPDX-License-Identifier: Apache-2.0

internal import CLinux
package import EventLoop
import Glibc
package import Reachability
package import ReachabilityCore
package import ServiceCore
package import SessionCore
package import SessionManager

/// The objects that the service's components share; on the loop's thread only.
package final class ServiceContext {
    package let reactor: Reactor
    /// The service's monitor: its counters and limitations are for metrics.
    package let manager: ReachabilityManager
    /// The directory of lasting files.
    package let stateDirectory: StateDirectory
    package let log: (LogPriority, String) -> Void
    package let wallClock: () -> WallTime
    /// Reads the boot clock (CLOCK_BOOTTIME), in nanoseconds.
    package let bootClock: () -> Int64
    /// The newest change, whose `since` follows the wall clock; nil before the first report.
    package internal(set) var current: CommittedChange? {
        get {
            guard var change = newest else { return nil }
            correctAge()
            change.since = age.since
            change.uplinks = uplinks
            return change
        }
        set { newest = newValue }
    }
    private var newest: CommittedChange?
    /// Tracks since when the status holds.
    var age = StatusAge()
    /// How often the status has changed since the start.
    package internal(set) var statusChanges: UInt64 = 0
    /// The state of the internet; nil without a probe.
    package var internet: InternetState?
    /// What was found behind each uplink; empty without a probe.
    ///
    /// The times are adjusted when the wall clock is set.
    package internal(set) var uplinks: [UplinkInternet] {
        get {
            var uplinks = foundUplinks
            guard !uplinks.isEmpty else { return [] }
            let (wall, boot) = (wallClock().nanoseconds, bootClock())
            for index in uplinks.indices { uplinks[index].correct(wall: wall, boot: boot) }
            return uplinks
        }
        set { foundUplinks = newValue }
    }
    private var foundUplinks: [UplinkInternet] = []
    /// Where to sign in to the network in use, if that is known.
    package internal(set) var portal: String?
    /// The running probe, which the outbox's transfers follow; nil without one.
    package var probe: InternetProbe? {
        didSet {
            if awaitsInternet { probe?.setAwaited(true, by: ObjectIdentifier(self)) }
            if !wantedUplinks.isEmpty { probe?.ask(expensive: wantedUplinks) }
        }
    }
    /// Whether clients wait for the internet.
    var awaitsInternet = false {
        didSet {
            guard awaitsInternet != oldValue else { return }
            probe?.setAwaited(awaitsInternet, by: ObjectIdentifier(self))
        }
    }
    /// The interfaces over which a client waits for the internet, whatever that costs.
    package internal(set) var wantedUplinks: Set<String> = [] {
        didSet { probe?.ask(expensive: wantedUplinks) }
    }
    /// Called with the probe's result; set by the service.
    var internetFound: ((InternetFindings?) -> Void)?

    /// Adjusts since when the status holds, if the wall clock was set.
    func correctAge() {
        guard age.since != nil else { return }
        age.correct(at: wallClock(), boot: bootClock())
    }

    /// The state of the internet has changed; nil where it is not probed any more.
    package func notify(internet: InternetState?) {
        notify(findings: internet.map { InternetFindings($0) })
    }

    /// The probe has found something else; nil where there is none any more.
    package func notify(findings: InternetFindings?) { internetFound?(findings) }

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

/// The components' counters for the metrics; on the loop's thread only.
package final class ServiceCounters {
    package var hookRuns: UInt64 = 0
    package var hookFailures: UInt64 = 0
    package var hooksSkipped: UInt64 = 0
    package var historySkipped: UInt64 = 0
    package var linesLeftOut: UInt64 = 0

    package init() {}
}

extension WallTime {
    /// This machine's wall clock (CLOCK_REALTIME).
    package static func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
