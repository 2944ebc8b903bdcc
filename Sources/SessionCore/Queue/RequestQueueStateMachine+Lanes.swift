// SPDX-License-Identifier: Apache-2.0

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
        if laneNames.leave(number) { lanes[lane] = Lane() }
        return wasFirst && next >= 0 ? Int(next) : nil
    }

    func isFirstOfLane(_ slot: Int) -> Bool {
        let lane = entries[slot].lane
        return lane < 0 || lanes[Int(lane)].first == Int32(slot)
    }

    mutating func enter(host name: String, _ slot: Int) {
        entries[slot].host = hostNames.enter(name)
        while hosts.count < hostNames.count { hosts.append(HostPlaces()) }
    }

    mutating func leaveHost(_ slot: Int) {
        let number = entries[slot].host
        guard number >= 0 else { return }
        if hostNames.leave(number) { hosts[Int(number)] = HostPlaces() }
    }
}
