// SPDX-License-Identifier: Apache-2.0

// What gate, limits and time change for all at once.
extension RequestQueueStateMachine {
    /// What the network lets through, and whether the user holds everything.
    package mutating func gateChanged(passable: DemandSet, isPaused: Bool, at now: Int64) {
        let before = (self.passable, self.isPaused, startable)
        guard passable != before.0 || isPaused != before.1 else { return }
        self.passable = passable
        self.isPaused = isPaused
        // Patience begins with the loss, and anew after a pause of the user's.
        let closed = before.1 && !isPaused ? DemandSet.all : before.0
        beginPatience(of: closed.subtracting(passable), at: now)
        if passable == .all || isPaused { patience.removeAll() }
        let opened = startable.subtracting(before.2).intersection(readySet)
        if startable.intersection(readySet).isEmpty {
            ramp = nil
        } else if !opened.isEmpty {
            ramp = RampProgress(limits.ramp, at: now, random: draw())
        }
    }

    /// Whether a request waits that needs the internet, and the network is in its way.
    package var awaitsInternet: Bool {
        !readySet.isEmpty
            && !readySet.subtracting(passable).intersection(.needingInternet).isEmpty
    }

    package mutating func limitsChanged(_ new: Limits) {
        limits = new
        limits.maximumActive = max(1, new.maximumActive)
        limits.maximumPerHost = max(1, new.maximumPerHost)
        if new.ramp.interval <= .zero { ramp = nil }
        for host in hosts.indices { unblock(host) }
    }

    /// When `deadlineReached(at:)` is to be called; nil for never.
    package var nextDeadline: Int64? {
        let end = isPaused ? nil : patience.first?.key
        guard let ramp else { return end }
        return end.map { min($0, ramp.deadline) } ?? ramp.deadline
    }

    /// To be followed by `next(at:)` and `nextExpired(at:)`.
    package mutating func deadlineReached(at now: Int64) {
        guard var ramp, ramp.deadline <= now else { return }
        ramp.advance(at: now, random: draw())
        var waiting = 0
        for index in ready.indices where startable.contains(NetworkDemand(index: UInt8(index))) {
            waiting += ready[index]
        }
        // Where all that are left may start, the ramp is at its end.
        self.ramp = ramp.credits >= waiting ? nil : ramp
    }

    // MARK: Patience

    /// The next request whose offline limit has ended.
    ///
    /// Call until it returns nil.
    package mutating func nextExpired(at now: Int64) -> QueueTicket? {
        guard !isPaused else { return nil }
        while let item = patience.first {
            let entry = entries[Int(item.slot)]
            let isCurrent =
                entry.isReady && entry.stamp == item.stamp
                && closings[Int(entry.demand.index)] == item.order && !passable.contains(entry.demand)
            if isCurrent, item.key > now { return nil }
            patience.removeFirst()
            if isCurrent { return ticket(Int(item.slot)) }
        }
        return nil
    }

    private mutating func beginPatience(of closed: DemandSet, at now: Int64) {
        guard !closed.isEmpty else { return }
        var rest = closed.rawValue
        while rest != 0 {
            closings[rest.trailingZeroBitCount] += 1
            rest &= rest - 1
        }
        guard impatient > 0, !isPaused else { return }
        for slot in entries.indices
        where entries[slot].isReady && entries[slot].limit >= 0 && closed.contains(entries[slot].demand) {
            beginPatience(slot, at: now)
        }
    }

    /// The time runs for one that the network holds.
    mutating func beginPatience(_ slot: Int, at now: Int64) {
        let entry = entries[slot]
        let (end, overflow) = now.addingReportingOverflow(entry.limit)
        patience.add(
            TicketHeap.Item(
                key: overflow ? .max : end, order: closings[Int(entry.demand.index)], slot: Int32(slot),
                stamp: entry.stamp))
    }
}
