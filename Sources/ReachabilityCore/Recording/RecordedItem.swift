// SPDX-License-Identifier: Apache-2.0

/// One thing that entered a monitor: together, and at their instants, they determine everything it said.
package enum RecordedItem: Sendable, Equatable {
    /// Events that lay together in the kernel's queue.
    case events([NetworkEvent], at: MonotonicInstant)
    /// The kernel's answers that an evaluation rested upon; `took` is the time they took.
    case evaluated(Snapshot, at: MonotonicInstant, took: Duration)
    /// The kernel did not answer an evaluation's questions.
    case unanswered(ReachabilityError, at: MonotonicInstant)
    /// A deadline was reached.
    case elapsed(at: MonotonicInstant)
    /// The watched host's name has these addresses.
    case resolved([ReachabilityDestination], at: MonotonicInstant)
    /// The watched host's name has no address, and never had one.
    case unresolved(NameFailure, at: MonotonicInstant)
    /// The wall clock was set: this is what it shows now.
    case clockSet(WallTime, at: MonotonicInstant)
    /// The monitor was stopped.
    case stopped(at: MonotonicInstant)

    /// When it happened.
    package var instant: MonotonicInstant {
        switch self {
        case .events(_, let instant), .evaluated(_, let instant, _), .unanswered(_, let instant),
            .elapsed(let instant), .resolved(_, let instant), .unresolved(_, let instant),
            .clockSet(_, let instant), .stopped(let instant):
            instant
        }
    }
}

/// What a recording begins with: what was watched and when.
package struct RecordingHeader: Sendable, Equatable {
    /// The version of the format that this program writes.
    package static let version = 1

    /// The instant monitoring started.
    package var start: MonotonicInstant
    /// What the wall clock showed then.
    package var wall: WallTime
    /// The watched host as it was given; nil for anywhere.
    package var host: String?
    /// What was configured.
    ///
    /// Network namespace and receive buffer are not recorded: they change no decision.
    package var configuration: ReachabilityConfiguration

    package init(
        start: MonotonicInstant, wall: WallTime, host: String? = nil,
        configuration: ReachabilityConfiguration = ReachabilityConfiguration()
    ) {
        self.start = start
        self.wall = wall
        self.host = host
        self.configuration = configuration
    }
}

/// Why a recording cannot be read.
package struct RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, counted from 1.
    package var line: Int
    /// What is wrong with it.
    package var problem: String

    package init(line: Int, problem: String) {
        self.line = line
        self.problem = problem
    }

    /// "line 3: there is no such event: linkExploded".
    package var description: String { "line \(line): \(problem)" }
}
