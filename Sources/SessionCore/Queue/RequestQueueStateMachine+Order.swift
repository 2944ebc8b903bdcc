// SPDX-License-Identifier: Apache-2.0

// Those that only gate and limits hold, and which of them is next.
extension RequestQueueStateMachine {
    /// The next request to start.
    ///
    /// Call until it returns nil.
    package mutating func next(at now: Int64) -> QueueTicket? {
        guard active < limits.maximumActive, ramp.map({ $0.credits > 0 }) ?? true else { return nil }
        let open = startable.intersection(readySet)
        guard !open.isEmpty else {
            ramp = nil
            return nil
        }
        while let (index, slot) = best(of: open) {
            heaps[index].removeFirst()
            let host = Int(entries[slot].host)
            if host >= 0, hosts[host].active >= limits.maximumPerHost {
                hosts[host].blocked.add(item(slot))
                continue
            }
            start(slot)
            return ticket(slot)
        }
        return nil
    }

    /// The first of all heaps that are open.
    private mutating func best(of open: DemandSet) -> (index: Int, slot: Int)? {
        var best: (index: Int, item: TicketHeap.Item)?
        var rest = open.rawValue
        while rest != 0 {
            let index = rest.trailingZeroBitCount
            rest &= rest - 1
            while let item = heaps[index].first {
                guard isCurrent(item) else {
                    heaps[index].removeFirst()
                    continue
                }
                if best.map({ item.isBefore($0.item) }) ?? true { best = (index, item) }
                break
            }
        }
        return best.map { ($0.index, Int($0.item.slot)) }
    }

    private mutating func start(_ slot: Int) {
        leaveReady(slot)
        if entries[slot].isParked {
            entries[slot].isParked = false
            parked -= 1
        }
        entries[slot].phase = .active
        held -= 1
        active += 1
        let host = Int(entries[slot].host)
        if host >= 0 { hosts[host].active += 1 }
        ramp?.spend()
    }

    /// It gives back its slot among those that run, if it has one; it counts as held then.
    mutating func leaveActivity(_ slot: Int) {
        guard entries[slot].phase == .active else { return }
        active -= 1
        held += 1
        let host = Int(entries[slot].host)
        guard host >= 0 else { return }
        hosts[host].active -= 1
        unblock(host)
    }

    /// Puts those into their heaps again that only their host had no room for.
    mutating func unblock(_ host: Int) {
        var room = limits.maximumPerHost - hosts[host].active
        while room > 0, let item = hosts[host].blocked.first {
            hosts[host].blocked.removeFirst()
            guard isCurrent(item) else { continue }
            heaps[Int(entries[Int(item.slot)].demand.index)].add(item)
            room -= 1
        }
    }

    /// Puts an entry into its heap, or takes it out, as what holds it says.
    mutating func review(_ slot: Int, at now: Int64) {
        let isReady =
            entries[slot].phase == .held && !entries[slot].isSuspended && entries[slot].dependencies <= 0
            && isFirstOfLane(slot)
        guard isReady != entries[slot].isReady else { return }
        guard isReady else { return leaveReady(slot) }
        let demand = entries[slot].demand
        entries[slot].isReady = true
        entries[slot].stamp &+= 1
        ready[Int(demand.index)] += 1
        readySet.insert(DemandSet(demand))
        heaps[Int(demand.index)].add(item(slot))
        guard entries[slot].limit >= 0 else { return }
        impatient += 1
        if !isPaused, !passable.contains(demand) { beginPatience(slot, at: now) }
    }

    mutating func leaveReady(_ slot: Int) {
        guard entries[slot].isReady else { return }
        let demand = entries[slot].demand
        let index = Int(demand.index)
        entries[slot].isReady = false
        entries[slot].stamp &+= 1
        ready[index] -= 1
        if ready[index] == 0 { readySet.subtract(DemandSet(demand)) }
        if entries[slot].limit >= 0 { impatient -= 1 }
        guard heaps[index].count > 64, heaps[index].count > 2 * ready[index] else { return }
        var heap = heaps[index]
        heaps[index] = TicketHeap()
        heap.compact(valid: ready[index]) { isCurrent($0) }
        heaps[index] = heap
    }

    private func item(_ slot: Int) -> TicketHeap.Item {
        TicketHeap.Item(
            key: entries[slot].key, order: entries[slot].order, slot: Int32(slot), stamp: entries[slot].stamp)
    }

    func isCurrent(_ item: TicketHeap.Item) -> Bool {
        entries[Int(item.slot)].stamp == item.stamp && entries[Int(item.slot)].isReady
    }
}

// Lanes, in which one follows the other, and hosts.
extension RequestQueueStateMachine {
    mutating func enter(lane name: String, _ slot: Int) {
        let number = laneNames.enter(name)
        while lanes.count < laneNames.count { lanes.append(Lane()) }
        let lane = Int(number)
        entries[slot].lane = number
        entries[slot].previous = lanes[lane].last
        entries[slot].next = -1
        if lanes[lane].last >= 0 {
            entries[Int(lanes[lane].last)].next = Int32(slot)
        } else {
            lanes[lane].first = Int32(slot)
        }
        lanes[lane].last = Int32(slot)
    }

    /// Leaves its lane.
    ///
    /// - Returns: the one behind it, where that is the first now.
    mutating func leaveLane(_ slot: Int) -> Int? {
        let number = entries[slot].lane
        guard number >= 0 else { return nil }
        let lane = Int(number)
        let (previous, next) = (entries[slot].previous, entries[slot].next)
        let wasFirst = lanes[lane].first == Int32(slot)
        if previous >= 0 { entries[Int(previous)].next = next } else { lanes[lane].first = next }
        if next >= 0 { entries[Int(next)].previous = previous } else { lanes[lane].last = previous }
        if laneNames.release(number) { lanes[lane] = Lane() }
        return wasFirst && next >= 0 ? Int(next) : nil
    }

    func isFirstOfLane(_ slot: Int) -> Bool {
        let lane = entries[slot].lane
        return lane < 0 || lanes[Int(lane)].first == Int32(slot)
    }

    mutating func enter(host name: String, _ slot: Int) {
        entries[slot].host = hostNames.enter(name)
        while hosts.count < hostNames.count { hosts.append(HostSlots()) }
    }

    mutating func leaveHost(_ slot: Int) {
        let number = entries[slot].host
        guard number >= 0 else { return }
        if hostNames.release(number) { hosts[Int(number)] = HostSlots() }
    }
}
