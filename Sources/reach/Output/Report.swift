// SPDX-License-Identifier: Apache-2.0

import Reachability
import SessionManager

/// Everything that is printed about one moment.
struct Report: Sendable, Equatable {
    /// What `watch` adds: why this line is printed.
    struct Change: Sendable, Equatable {
        var event: ReachabilityUpdate.Event
        var previous: ReachabilityStatus?
        /// Neither status nor path, but what is behind them.
        var isInternet = false
    }

    var status: ReachabilityStatus
    var path: ReachabilityPath
    var links: [LinkReport]
    /// What is behind the path; nil where nobody is asked.
    var internet: InternetState?
    /// When the status became this, where this process has seen it.
    var since: WallTime?
    /// The host that was asked about; nil for anywhere.
    var host: String?
    /// Nil for a report that was asked for once.
    var change: Change?
    /// The steps of the evaluation, for `--explain`.
    var steps: [EvaluationStep]?

    init(
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
    init(_ update: ReachabilityUpdate, since: WallTime?, host: String?) {
        self.init(
            status: update.status, path: update.path, links: update.links, since: since, host: host,
            change: Change(event: update.event, previous: update.previous))
    }
}

/// Remembers since when the status is what it is.
struct StatusAge: Sendable {
    private(set) var since: WallTime?

    /// Takes an update in.
    ///
    /// The first one tells how things are, not since when.
    mutating func observe(_ update: ReachabilityUpdate, at wall: WallTime) {
        switch update.event {
        case .initial: since = nil
        case .status: since = wall
        case .path: break
        }
    }
}
