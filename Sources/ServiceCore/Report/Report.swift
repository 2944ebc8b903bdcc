// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// Everything that is printed about one moment.
package struct Report: Sendable, Equatable {
    /// What `watch` adds: why this line is printed.
    package struct Change: Sendable, Equatable {
        package var event: ReachabilityUpdate.Event
        package var previous: ReachabilityStatus?
        /// The state of the internet, and neither status nor path.
        package var isInternet = false

        package init(
            event: ReachabilityUpdate.Event, previous: ReachabilityStatus?, isInternet: Bool = false
        ) {
            self.event = event
            self.previous = previous
            self.isInternet = isInternet
        }
    }

    package var status: ReachabilityStatus
    package var path: ReachabilityPath
    package var links: [LinkReport]
    /// The state of the internet; nil without a probe.
    package var internet: InternetState?
    /// When the status became this, where this process has seen it.
    package var since: WallTime?
    /// The host that was asked about; nil for anywhere.
    package var host: String?
    /// Nil for a report that was asked for once.
    package var change: Change?
    /// The steps of the evaluation, for `--explain`.
    package var steps: [EvaluationStep]?

    package init(
        status: ReachabilityStatus, path: ReachabilityPath, links: [LinkReport], since: WallTime? = nil,
        host: String? = nil, change: Change? = nil, steps: [EvaluationStep]? = nil
    ) {
        self.status = status
        self.path = path
        self.links = links
        self.since = since
        self.host = host
        self.change = change
        self.steps = steps
    }

    /// The report of an update that an observer got.
    package init(_ update: ReachabilityUpdate, since: WallTime?, host: String?) {
        self.init(
            status: update.status, path: update.path, links: update.links, since: since, host: host,
            change: Change(event: update.event, previous: update.previous))
    }
}

/// Remembers since when the status is what it is.
package struct StatusAge: Sendable {
    package private(set) var since: WallTime?
    /// The boot clock at that time (CLOCK_BOOTTIME), in nanoseconds; nil if unknown.
    private var boot: Int64?
    /// Smaller differences come from reading one clock after the other.
    private static let slack: Duration = .seconds(1)

    package init() {}

    /// Sets since when the first status holds, as a service has seen it.
    package mutating func start(_ since: WallTime?) { self.since = since }

    /// Takes an update in.
    ///
    /// The first one has no beginning of its status.
    package mutating func observe(_ update: ReachabilityUpdate, at wall: WallTime, boot: Int64? = nil) {
        switch update.event {
        case .initial: (since, self.boot) = (nil, nil)
        case .status: (since, self.boot) = (wall, boot)
        case .path: break
        }
    }

    /// Moves it where the wall clock was set meanwhile: a device without a clock of its own starts in 1970.
    ///
    /// - Returns: whether it was moved.
    @discardableResult
    package mutating func correct(at wall: WallTime, boot now: Int64) -> Bool {
        guard let since, let boot else { return false }
        let moved = wall.moved(by: boot &- now)
        let distance = moved.time(since: since)
        guard distance >= Self.slack || distance <= .zero - Self.slack else { return false }
        self.since = moved
        return true
    }
}

extension InternetState {
    /// What it means, behind "internet: full".
    package var explanation: String {
        switch self {
        case .unknown: "not asked yet"
        case .none: "there is no path"
        case .limited: "there is a path, but the server does not answer as it should"
        case .portal: "somebody else answers for the server; sign in to this network with a browser"
        case .full: "the server answers"
        }
    }
}
