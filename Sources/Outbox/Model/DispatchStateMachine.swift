// SPDX-License-Identifier: Apache-2.0

package import SessionCore

/// Which lanes may send: one request of a lane at a time, so many in all and to one host.
///
/// Requests with different network conditions do not take each other's places: those that wait for Wi-Fi hold up nobody on the modem.
package struct DispatchStateMachine: ~Copyable, Sendable {
    private enum State: Equatable {
        case idle
        case running
        /// Paused by somebody; what is on its way goes on.
        case paused
    }

    private struct InFlightDelivery: Sendable {
        var entry: OutboxID
        var host: String
        var condition: NetworkCondition
    }

    private var state = State.idle
    /// What the file says about the pause.
    package private(set) var isPaused = false
    /// By lane.
    private var inFlight: [String: InFlightDelivery] = [:]
    private let limit: Int
    private let limitPerHost: Int

    package init(limit: Int, limitPerHost: Int) {
        self.limit = max(limit, 1)
        self.limitPerHost = max(min(limitPerHost, limit), 1)
    }

    package var isRunning: Bool { state != .idle }
    package func isInFlight(_ entry: OutboxID) -> Bool { inFlight.values.contains { $0.entry == entry } }

    /// Delivery begins; false where it had begun.
    package mutating func started() -> Bool {
        guard state == .idle else { return false }
        state = isPaused ? .paused : .running
        return true
    }

    /// Delivery ends; what is on its way is cancelled by the caller.
    package mutating func stopped() -> Bool {
        defer { state = .idle }
        return state != .idle
    }

    /// What the file says about the pause; true where that is new.
    package mutating func pauseChanged(_ isPaused: Bool) -> Bool {
        guard isPaused != self.isPaused else { return false }
        self.isPaused = isPaused
        if state != .idle { state = isPaused ? .paused : .running }
        return true
    }

    /// How many more with this condition may leave.
    package func room(_ condition: NetworkCondition) -> Int {
        state == .running ? limit - inFlight.values.count { $0.condition == condition } : 0
    }

    /// The hosts that get no more with this condition at the moment.
    package func fullHosts(_ condition: NetworkCondition) -> [String] {
        var counts: [String: Int] = [:]
        for delivery in inFlight.values where delivery.condition == condition {
            counts[delivery.host, default: 0] += 1
        }
        return counts.filter { $0.value >= limitPerHost }.map(\.key)
    }

    /// How many lanes with this condition are busy, which a search for ready ones has to skip.
    package func busyLanes(_ condition: NetworkCondition) -> Int {
        inFlight.values.count { $0.condition == condition }
    }

    /// A lane's request leaves; false where it may not: the lane is busy, or no place is free.
    package mutating func leaves(
        _ entry: OutboxID, lane: String, host: String, condition: NetworkCondition
    ) -> Bool {
        guard inFlight[lane] == nil, room(condition) > 0,
            inFlight.values.count(where: { $0.condition == condition && $0.host == host }) < limitPerHost
        else { return false }
        inFlight[lane] = InFlightDelivery(entry: entry, host: host, condition: condition)
        return true
    }

    /// The lane's request has come back, and what became of it is on the disk.
    package mutating func settled(lane: String) { inFlight[lane] = nil }
}
