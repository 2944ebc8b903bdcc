// SPDX-License-Identifier: Apache-2.0

/// What a queue knows of a request.
package struct QueueRequest: Sendable {
    package var demand = NetworkDemand.anyPath
    /// The more urgent start first; equally urgent ones in the order in which they were added.
    package var priority: Float = 0.5
    /// One request of a lane at a time, in the order of their coming.
    package var lane: String?
    /// Where it goes, if a limit for each host holds.
    package var host: String?
    /// How many others have to end before.
    package var dependencies = 0
    /// How long it may be held by the network, in nanoseconds; nil for as long as it takes.
    package var offlineLimit: Int64?

    package init() {}
}

/// What holds an entry of a queue besides gate and limits.
package struct QueueHold: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The user has suspended it.
    package static let user = QueueHold(rawValue: 1)
    package static let dependency = QueueHold(rawValue: 2)
    package static let lane = QueueHold(rawValue: 4)
    /// Nothing but gate and limits.
    package static let ready = QueueHold(rawValue: 8)
}

/// One request in a queue.
struct QueueEntry: Sendable {
    enum Phase: UInt8, Sendable {
        /// Of no request.
        case free
        /// Not started yet, or parked.
        case held
        /// Takes a slot among those that run.
        case active
        /// Started and suspended by the user: it takes no slot.
        case suspended
        /// Runs for long, and takes no slot and no place in its lane.
        case detached
    }

    var phase = Phase.free
    var isSuspended = false
    /// In the heap of those which only gate and limits hold.
    var isReady = false
    /// Has run before.
    var isParked = false
    var demand = NetworkDemand.anyPath
    /// Tells tickets of this slot apart.
    var generation: UInt32 = 1
    /// Invalidates older heap items of this slot.
    var stamp: UInt32 = 0
    var key: Int64 = 0
    var order: UInt64 = 0
    var dependencies: Int32 = 0
    var lane: Int32 = -1
    var host: Int32 = -1
    /// Nanoseconds; negative for none.
    var limit: Int64 = -1
    /// The next free slot, or the next of its lane.
    var next: Int32 = -1
    /// The one before it in its lane.
    var previous: Int32 = -1
}

/// How many requests of a queue are where.
///
/// Each that was resumed and has not completed is counted once.
public struct QueueCounts: Sendable, Equatable {
    /// Those that run: connecting, sending, receiving, or asking a delegate or an interceptor.
    public package(set) var active = 0
    /// Those that run without a place among the others: WebSockets that are open.
    public package(set) var detached = 0
    /// Those that wait because as many run as may run, in all or with their host.
    public package(set) var waitingForTurn = 0
    /// Those that the network holds: there is none, or none that they may use, or it has to last first.
    public package(set) var waitingForNetwork = 0
    /// Those that the user holds: suspended, or in a queue that is paused.
    public package(set) var waitingForUser = 0
    /// Those that wait for others: of their lane, or that they depend on.
    public package(set) var waitingForOthers = 0
    /// Those among the waiting that have run before.
    public package(set) var parked = 0

    /// None.
    public init() {}

    /// All that have not completed.
    public var total: Int {
        active + detached + waitingForTurn + waitingForNetwork + waitingForUser + waitingForOthers
    }
}
