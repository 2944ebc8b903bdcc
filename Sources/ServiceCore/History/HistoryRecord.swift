// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// A committed change as the history stores it.
package struct HistoryRecord: Sendable, Equatable {
    /// Increasing and never reused.
    package var id: Int64
    /// The run of the service that stored it.
    package var run: Int64
    /// When it was committed, by the wall clock of that moment.
    package var wall: WallTime
    /// The same by the boot clock in nanoseconds, which is never set and counts during suspension.
    package var boot: Int64
    /// Whether the status changed; else only the path did.
    package var isStatus: Bool
    package var status: ReachabilityStatus
    package var isOnline: Bool
    package var interface: String?
    package var medium: String?
    package var generation: UInt64
    /// The reason's sentence for people.
    package var reason: String
    /// The reason's code for programs.
    package var code: String
    /// What was found behind the uplink ``interface``, or behind the path in use where that is nil; nil for a
    /// change of status or path.
    package var internet: InternetState?

    package init(
        id: Int64 = 0, run: Int64, wall: WallTime, boot: Int64, isStatus: Bool = true,
        status: ReachabilityStatus, isOnline: Bool, interface: String? = nil, medium: String? = nil,
        generation: UInt64 = 1, reason: String, code: String, internet: InternetState? = nil
    ) {
        self.id = id
        self.run = run
        self.wall = wall
        self.boot = boot
        self.isStatus = isStatus
        self.status = status
        self.isOnline = isOnline
        self.interface = interface
        self.medium = medium
        self.generation = generation
        self.reason = reason
        self.code = code
        self.internet = internet
    }

    /// The record of what was found behind an uplink, or behind the path in use: nil.
    package init(
        _ internet: InternetState, behind interface: String?, reason: String, id: Int64 = 0, run: Int64 = 0,
        wall: WallTime, boot: Int64
    ) {
        self.init(
            id: id, run: run, wall: wall, boot: boot, isStatus: false, status: .unknown,
            isOnline: internet == .full, interface: interface, reason: reason, code: "", internet: internet)
    }

    /// The record of a change.
    package init(_ change: CommittedChange, run: Int64, boot: Int64) {
        self.init(
            run: run, wall: change.wall, boot: boot, isStatus: change.event != .path, status: change.status,
            isOnline: change.path.isOnline, interface: change.path.interface,
            medium: change.path.medium?.rawValue, generation: change.generation,
            reason: change.reason.sentence, code: change.reason.code.rawValue)
    }
}

/// A run of the service, from its start to the last moment at which it was known to run.
package struct HistoryRun: Sendable, Equatable {
    package var id: Int64
    package var began: WallTime
    /// The last sign of life: the end of an orderly run; else the last stored change or beat.
    package var seen: WallTime
    /// The last sign of life by the boot clock; nanoseconds.
    package var seenBoot: Int64
    /// Whether it ended in order.
    package var hasEnded: Bool

    package init(id: Int64, began: WallTime, seen: WallTime, seenBoot: Int64, hasEnded: Bool) {
        self.id = id
        self.began = began
        self.seen = seen
        self.seenBoot = seenBoot
        self.hasEnded = hasEnded
    }
}
