// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Decides how many requests are sent at once: one of a lane, with a limit in all and for each host.
///
/// ``OutboxTables/ready`` chooses the lanes. The limits hold for each network condition: requests that wait
/// for Wi-Fi do not hold up those on the modem. A request that the manager holds for the clock or the
/// internet takes no slot, and no other one is sent to its origin, where it would be held as well.
struct DispatchStateMachine: ~Copyable, Sendable {
    private enum State: Equatable {
        case idle
        case running
        /// Deliveries in flight continue.
        case paused
    }

    private struct DispatchedEntry: Sendable {
        var entry: OutboxID
        /// The entries that are sent as one request with it; empty for it alone.
        var members: Set<OutboxID> = []
        var origin: String
        var host: String
        var condition: NetworkCondition
        /// Why the manager holds it; nil if it does not.
        var hold: String?
    }

    private var state = State.idle
    /// As stored in the database.
    private(set) var isPaused = false
    /// By lane.
    private var inFlight: [String: DispatchedEntry] = [:]
    private let limit: Int
    private let limitPerHost: Int

    init(limit: Int, limitPerHost: Int) {
        self.limit = max(limit, 1)
        self.limitPerHost = max(min(limitPerHost, limit), 1)
    }

    var isRunning: Bool { state != .idle }
    func isInFlight(_ entry: OutboxID) -> Bool { head(with: entry) != nil }
    func isBusy(_ lane: String) -> Bool { inFlight[lane] != nil }

    /// The first entry of the request in which an entry is in flight; nil if it is not.
    func head(with entry: OutboxID) -> OutboxID? {
        inFlight.values.first { $0.entry == entry || $0.members.contains(entry) }?.entry
    }

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
    ///
    /// None while running and held ones together are five times the limit: each has its content in memory.
    func room(_ condition: NetworkCondition) -> Int {
        guard state == .running, busyLanes(condition) / 5 < limit else { return 0 }
        return limit - inFlight.values.count { $0.condition == condition && $0.hold == nil }
    }

    /// The hosts at their limit for this condition.
    func fullHosts(_ condition: NetworkCondition) -> [String] {
        var counts: [String: Int] = [:]
        for delivery in inFlight.values where delivery.condition == condition && delivery.hold == nil {
            counts[delivery.host, default: 0] += 1
        }
        return counts.filter { $0.value >= limitPerHost }.map(\.key)
    }

    /// The number of busy lanes with this condition, which a search for ready ones skips.
    func busyLanes(_ condition: NetworkCondition) -> Int {
        inFlight.values.count { $0.condition == condition }
    }

    /// Starts a lane's request; false if the lane is busy or a limit is reached.
    mutating func start(
        _ entry: OutboxID, lane: String, origin: String, host: String, condition: NetworkCondition
    ) -> Bool {
        guard inFlight[lane] == nil, room(condition) > 0, hold(of: origin) == nil,
            inFlight.values.count(where: {
                $0.condition == condition && $0.host == host && $0.hold == nil
            }) < limitPerHost
        else { return false }
        inFlight[lane] = DispatchedEntry(entry: entry, origin: origin, host: host, condition: condition)
        return true
    }

    /// A lane's request, which has just started, is a batch.
    mutating func joined(_ members: [OutboxID], lane: String) { inFlight[lane]?.members = Set(members) }

    /// The manager holds a request for this reason, or, with nil, no longer; false if that is not new.
    mutating func held(_ entry: OutboxID, lane: String, _ reason: String?) -> Bool {
        guard let delivery = inFlight[lane], delivery.entry == entry, delivery.hold != reason else {
            return false
        }
        inFlight[lane]?.hold = reason
        return true
    }

    /// Why requests to an origin wait: the manager holds one of them; nil if they do not.
    func hold(of origin: String) -> String? {
        inFlight.values.lazy.filter { $0.origin == origin }.compactMap(\.hold).min()
    }

    /// The origins to which nothing is sent, since the manager holds a request to them.
    var heldOrigins: Set<String> { Set(inFlight.values.lazy.filter { $0.hold != nil }.map(\.origin)) }

    /// The outcome of the lane's request is on the disk.
    mutating func settled(lane: String) { inFlight[lane] = nil }
}

extension HoldReason {
    /// Why entries of an outbox wait that the manager holds so; nil if their origin does not wait with them.
    var sentence: String? {
        switch self {
        case .clock: ClockStatus.sentence
        case .internet: "no internet was found behind any uplink"
        default: nil
        }
    }
}
