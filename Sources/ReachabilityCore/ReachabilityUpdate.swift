// SPDX-License-Identifier: Apache-2.0

/// What has changed, as observers get it.
public struct ReachabilityUpdate: Sendable, Equatable {
    /// What kind of change this is.
    public enum Event: String, Sendable, Equatable, CaseIterable {
        /// The first report of a subscription: how things are.
        case initial
        /// The status changed; the path may have changed with it.
        case status
        /// The path changed and the status did not.
        case path
    }

    /// The kind of change.
    public let event: Event
    /// The status now.
    public let status: ReachabilityStatus
    /// The status before; nil in the first report.
    public let previous: ReachabilityStatus?
    /// The path now.
    public var path: ReachabilityPath { shared.path }
    /// Every interface but loopback, where ``ReachabilityConfiguration/reportsLinks`` asks for it; else empty.
    public package(set) var links: [LinkReport]
    // An update passes through many hands on its way to an observer; a path has too many parts to be copied for each.
    private let shared: SharedPath

    /// An update.
    public init(
        event: Event, status: ReachabilityStatus, previous: ReachabilityStatus?, path: ReachabilityPath,
        links: [LinkReport] = []
    ) {
        self.links = links
        self.event = event
        self.status = status
        self.previous = previous
        shared = SharedPath(path)
    }
}

/// A path that many updates hold.
private final class SharedPath: Sendable, Equatable, CustomStringConvertible {
    let path: ReachabilityPath

    init(_ path: ReachabilityPath) { self.path = path }

    var description: String { String(describing: path) }

    static func == (a: SharedPath, b: SharedPath) -> Bool { a === b || a.path == b.path }
}
