// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Decides how many requests are sent at once: one of a lane, with a limit in all and for each host.
///
/// ``OutboxTables/ready`` chooses the lanes. The limits hold for each network condition: requests that wait
/// for Wi-Fi do not hold up those on the modem.
struct DispatchStateMachine: ~Copyable, Sendable {
    private enum State: Equatable {
        case idle
        case running
        /// Deliveries in flight continue.
        case paused
    }

    private struct InFlightDelivery: Sendable {
        var entry: OutboxID
        var host: String
        var condition: NetworkCondition
    }

    private var state = State.idle
    /// As stored in the database.
    private(set) var isPaused = false
    /// By lane.
    private var inFlight: [String: InFlightDelivery] = [:]
    private let limit: Int
    private let limitPerHost: Int

    init(limit: Int, limitPerHost: Int) {
        self.limit = max(limit, 1)
        self.limitPerHost = max(min(limitPerHost, limit), 1)
    }

    var isRunning: Bool { state != .idle }
    func isInFlight(_ entry: OutboxID) -> Bool { inFlight.values.contains { $0.entry == entry } }

    /// Starts delivery; false if it was started.
    mutating func started() -> Bool {
        guard state == .idle else { return false }
        state = isPaused ? .paused : .running
        return true
    }

    /// Ends delivery; the caller cancels what is in flight.
    mutating func stopped() -> Bool {
        defer { state = .idle }
        return state != .idle
    }

    /// The database's pause was read; true if it has changed.
    mutating func pauseChanged(_ isPaused: Bool) -> Bool {
        guard isPaused != self.isPaused else { return false }
        self.isPaused = isPaused
        if state != .idle { state = isPaused ? .paused : .running }
        return true
    }

    /// How many more requests with this condition may be sent.
    func room(_ condition: NetworkCondition) -> Int {
        state == .running ? limit - inFlight.values.count { $0.condition == condition } : 0
    }

    /// The hosts at their limit for this condition.
    func fullHosts(_ condition: NetworkCondition) -> [String] {
        var counts: [String: Int] = [:]
        for delivery in inFlight.values where delivery.condition == condition {
            counts[delivery.host, default: 0] += 1
        }
        return counts.filter { $0.value >= limitPerHost }.map(\.key)
    }

    /// The number of busy lanes with this condition, which a search for ready ones skips.
    func busyLanes(_ condition: NetworkCondition) -> Int {
        inFlight.values.count { $0.condition == condition }
    }

    /// Starts a lane's request; false if the lane is busy or a limit is reached.
    mutating func leaves(_ entry: OutboxID, lane: String, host: String, condition: NetworkCondition) -> Bool {
        guard inFlight[lane] == nil, room(condition) > 0,
            inFlight.values.count(where: { $0.condition == condition && $0.host == host }) < limitPerHost
        else { return false }
        inFlight[lane] = InFlightDelivery(entry: entry, host: host, condition: condition)
        return true
    }

    /// The outcome of the lane's request is on the disk.
    mutating func settled(lane: String) { inFlight[lane] = nil }
}
