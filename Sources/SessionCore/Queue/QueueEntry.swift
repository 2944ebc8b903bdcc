// SPDX-License-Identifier: Apache-2.0

/// What a queue is told of a request.
package struct QueueRequest: Sendable {
    package var demand = NetworkDemand.anyPath
    /// The more urgent leave first; equally urgent ones in the order of their coming.
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
        /// Nobody's.
        case free
        /// Not started yet, or parked.
        case held
        /// Takes a place.
        case active
        /// Started and suspended by the user: it takes no place.
        case suspended
    }

    var phase = Phase.free
    var isSuspended = false
    /// In the line of those which only gate and limits hold.
    var isReady = false
    /// Has run before.
    var isParked = false
    var demand = NetworkDemand.anyPath
    /// Tells tickets of this slot apart.
    var generation: UInt32 = 1
    /// Tells its places in lines apart.
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
