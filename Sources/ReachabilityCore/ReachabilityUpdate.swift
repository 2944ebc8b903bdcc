// SPDX-License-Identifier: Apache-2.0

/// A change, as delivered to observers.
public struct ReachabilityUpdate: Sendable, Equatable {
    /// The kind of change.
    public enum Event: String, Sendable, Equatable, CaseIterable {
        /// The first update of a subscription: the present state.
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
    /// The generation of the ``path``, without a copy of that.
    package var generation: UInt64 { shared.path.generation }
    /// Reports on all interfaces but loopback, if ``ReachabilityConfiguration/reportsLinks`` is set.
    public package(set) var links: [LinkReport]
    // Shared, because an update is passed on many times and a path is large.
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

/// A path shared by many updates.
private final class SharedPath: Sendable, Equatable, CustomStringConvertible {
    let path: ReachabilityPath

    init(_ path: ReachabilityPath) { self.path = path }

    var description: String { String(describing: path) }

    static func == (a: SharedPath, b: SharedPath) -> Bool { a === b || a.path == b.path }
}
