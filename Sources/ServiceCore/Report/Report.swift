// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import ReachabilityCore
package import SessionCore

/// The printable state at one moment.
package struct Report: Sendable, Equatable {
    /// The change that `watch` prints the report for.
    package struct Change: Sendable, Equatable {
        package var event: ReachabilityUpdate.Event
        package var previous: ReachabilityStatus?
        /// Whether only the state of the internet changed, and neither status nor path.
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
    /// The state of the internet behind the path; nil without a probe.
    package var internet: InternetState? {
        get { foundInternet?.behind(path, status) }
        set { foundInternet = newValue }
    }
    // What transfers find, over an alternative too.
    private var foundInternet: InternetState?
    /// What was found behind each uplink; empty without a probe.
    package var uplinks: [UplinkInternet] = []
    /// Where to sign in to the network in use, if that is known.
    package var portal: String?
    /// Whether transfers follow what was found, as those of a service do.
    package var transfersFollow = false
    /// The ``internetSentence`` of a running service whose findings these are; nil where they are this
    /// process's own.
    package var adoptedSentence: String?
    /// The boot clock at the moment of the report, for how long something has lasted; nil if unknown.
    package var boot: Int64?
    /// Since when the status holds, if this process has seen it begin.
    package var since: WallTime?
    /// The host that the report is about; nil for anywhere.
    package var host: String?
    /// The network that the report is about; nil for the kernel's choice.
    package var via: NetworkRequirement?
    /// Nil in a report without a change.
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

    /// The report of an observer's update.
    package init(_ update: ReachabilityUpdate, since: WallTime?, host: String?) {
        // Does not call the other initializer, whose result would be copied.
        status = update.status
        path = update.path
        links = update.links
        self.since = since
        self.host = host
        change = Change(event: update.event, previous: update.previous)
    }
}

/// Tracks since when the status holds.
package struct StatusAge: Sendable {
    package private(set) var since: WallTime?
    /// The boot clock at that time (CLOCK_BOOTTIME), in nanoseconds; nil if unknown.
    private var boot: Int64?
    /// Smaller differences come from reading one clock after the other.
    private static let slack: Duration = .seconds(1)

    package init() {}

    /// Sets since when the first status holds, by a service's report.
    package mutating func start(_ since: WallTime?) { self.since = since }

    /// Records an update.
    ///
    /// The first update says nothing about the start of its status.
    package mutating func observe(_ update: ReachabilityUpdate, at wall: WallTime, boot: Int64? = nil) {
        switch update.event {
        case .initial: (since, self.boot) = (nil, nil)
        case .status: (since, self.boot) = (wall, boot)
        case .path: break
        }
    }

    /// Adjusts it if the wall clock was set meanwhile: a device without a battery for its clock starts in
    /// 1970.
    ///
    /// - Returns: whether it was adjusted.
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

extension Report {
    /// Takes over what a probe has found.
    package mutating func add(_ findings: InternetFindings?) {
        internet = findings?.state
        uplinks = findings?.uplinks ?? []
        portal = findings?.portal
        adoptedSentence = nil
    }

    /// What was found of the internet; nil without a probe.
    package var findings: InternetFindings? {
        foundInternet.map {
            InternetFindings($0, portalURL: portal.flatMap { URL(string: $0) }, uplinks: uplinks)
        }
    }

    /// The sentence about the uplinks; nil where the explanation of the state says all.
    package var internetSentence: String? {
        if let adoptedSentence { return adoptedSentence.isEmpty ? nil : adoptedSentence }
        guard internet != nil, uplinks.count > 1 || internet != .full else { return nil }
        // The probe may not have heard of a loss yet.
        let working = uplinks.filter { uplink in
            links.first { $0.name == uplink.interface }?.isOnline ?? true
        }
        return InternetSentence.text(working, boot: boot, transfersFollow: transfersFollow)
    }

    /// What was found behind a link; nil if it is no uplink, has no path, or without a probe.
    package func uplink(_ link: LinkReport) -> UplinkInternet? {
        link.isOnline ? uplinks.first { $0.interface == link.name } : nil
    }
}

extension InternetState {
    /// The same, or `none` while there is no path: the probe also asks over an alternative to it.
    package func behind(_ path: ReachabilityPath, _ status: ReachabilityStatus) -> InternetState {
        path.isOnline || status == .unknown ? self : .none
    }

    /// The explanation after "internet: full".
    package var explanation: String {
        switch self {
        case .unknown: "not asked yet"
        case .none: "there is no path"
        case .limited: "there is a path, but the server does not answer as it should"
        case .portal: "another server answers in its place; sign in to this network with a browser"
        case .full: "the server answers"
        }
    }
}
