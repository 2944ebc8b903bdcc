// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// Everything that is printed about one moment.
package struct Report: Sendable, Equatable {
    /// What `watch` adds: why this line is printed.
    package struct Change: Sendable, Equatable {
        package var event: ReachabilityUpdate.Event
        package var previous: ReachabilityStatus?
        /// Neither status nor path, but what is behind them.
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
    /// What is behind the path; nil where nobody is asked.
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

    package init() {}

    /// Somebody else has seen since when the first status is what it is.
    package mutating func start(_ since: WallTime?) { self.since = since }

    /// Takes an update in.
    ///
    /// The first one tells how things are, not since when.
    package mutating func observe(_ update: ReachabilityUpdate, at wall: WallTime) {
        switch update.event {
        case .initial: since = nil
        case .status: since = wall
        case .path: break
        }
    }
}
