// SPDX-License-Identifier: Apache-2.0

/// One input of a monitor; together with their instants, the inputs determine all its output.
package enum RecordedItem: Sendable, Equatable {
    /// Events from one batch of the kernel's queue.
    case events([NetworkEvent], at: MonotonicInstant)
    /// The answers that an evaluation used; `took` is its duration.
    case evaluated(Snapshot, at: MonotonicInstant, took: Duration)
    /// The kernel did not answer an evaluation's questions.
    case unanswered(ReachabilityError, at: MonotonicInstant)
    /// A deadline was reached.
    case elapsed(at: MonotonicInstant)
    /// The monitored host's name has these addresses.
    case resolved([ReachabilityDestination], at: MonotonicInstant)
    /// The monitored host's name has no address, and never had one.
    case unresolved(NameFailure, at: MonotonicInstant)
    /// The wall clock was set to this time.
    case clockSet(WallTime, at: MonotonicInstant)
    /// The monitor was stopped.
    case stopped(at: MonotonicInstant)

    /// The instant of the input.
    package var instant: MonotonicInstant {
        switch self {
        case .events(_, let instant), .evaluated(_, let instant, _), .unanswered(_, let instant),
            .elapsed(let instant), .resolved(_, let instant), .unresolved(_, let instant),
            .clockSet(_, let instant), .stopped(let instant):
            instant
        }
    }
}

/// The head of a recording: the target and the start.
package struct RecordingHeader: Sendable, Equatable {
    /// The version of the format that this program writes.
    package static let version = 1

    /// The instant monitoring started.
    package var start: MonotonicInstant
    /// The wall clock at that instant.
    package var wall: WallTime
    /// The monitored host as given; nil for the general target.
    package var host: String?
    /// The configuration, without network namespace and receive buffer, which affect no decision.
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

/// The reason why a recording cannot be read.
package struct RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, counted from 1.
    package var line: Int
    /// The problem.
    package var problem: String

    package init(line: Int, problem: String) {
        self.line = line
        self.problem = problem
    }

    /// "line 3: there is no such event: linkExploded".
    package var description: String { "line \(line): \(problem)" }
}
