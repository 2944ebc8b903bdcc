// SPDX-License-Identifier: Apache-2.0

/// Which requests run and which wait: gate, limits, priorities, lanes, dependencies, the ramp after a loss.
///
/// After each event `next(at:)` is called until it returns nil, and `nextExpired(at:)` likewise. No event
/// costs more than the logarithm of the number of those that wait, but for a change of the gate where limits
/// of time hold. Nothing happens by itself while all wait: there is no deadline then.
package struct RequestQueueStateMachine: ~Copyable, Sendable {
    /// What may be changed at any time.
    package struct Limits: Sendable, Equatable {
        /// How many run at most.
        package var maximumActive = Int.max
        /// How many run at most with one host.
        package var maximumPerHost = Int.max
        package var ramp = RequestRamp()
        package init() {}
    }

    /// The transfers of one host.
    struct HostSlots: Sendable {
        var active = 0
        /// Those that would be next if the host had room.
        var blocked = TicketHeap()
    }

    /// The first and the last of a lane.
    struct Lane: Sendable {
        var first: Int32 = -1
        var last: Int32 = -1
    }

    var entries: ContiguousArray<QueueEntry> = []
    private var free: Int32 = -1
    private var orders: UInt64 = 0
    var limits = Limits()
    var passable = DemandSet.all
    var isPaused = false
    var ramp: RampProgress?
    private var random: UInt64

    /// By demand: those that only gate and limits hold, and how many they are.
    var heaps: [TicketHeap]
    var ready: [Int]
    var readySet: DemandSet = []
    /// By demand: how often the gate has closed for it.
    var closings: [UInt64]
    /// By the end of their patience; see `nextExpired(at:)`.
    var patience = TicketHeap()
    /// Ready ones whose patience ends.
    var impatient = 0

    var hostNames = NameTable()
    var hosts: [HostSlots] = []
    var laneNames = NameTable()
    var lanes: [Lane] = []

    var active = 0
    var held = 0
    var suspended = 0
    var parked = 0
    var detached = 0

    /// A queue; the seed serves the ramp.
    package init(seed: UInt64 = 0) {
        random = seed
        heaps = Array(repeating: TicketHeap(), count: NetworkDemand.count)
        ready = Array(repeating: 0, count: NetworkDemand.count)
        closings = Array(repeating: 0, count: NetworkDemand.count)
    }

    var startable: DemandSet { isPaused ? [] : passable }

    /// Random numbers good enough to spread starts (splitmix64).
    mutating func draw() -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var number = random
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31
    }

    // MARK: What happens to a request

    /// Adds a request, which starts when ``next(at:)`` returns its ticket.
    ///
    /// - Returns: its ticket.
    package mutating func enqueued(_ request: QueueRequest, at now: Int64) -> QueueTicket {
        let slot = allocateSlot()
        orders += 1
        entries[slot].order = orders
        entries[slot].demand = request.demand
        // NaN is no priority either.
        let priority = request.priority > -1000 ? min(request.priority, 1000) : 0
        entries[slot].key = -Int64(priority * 1_000_000)
        entries[slot].limit = request.offlineLimit.map { max(0, $0) } ?? -1
        entries[slot].dependencies = Int32(clamping: request.dependencies)
        entries[slot].phase = .held
        held += 1
        if let host = request.host { enter(host: host, slot) }
        if let lane = request.lane { enter(lane: lane, slot) }
        review(slot, at: now)
        return ticket(slot)
    }

    /// One that runs without having been held: nothing is in its way.
    ///
    /// - Returns: nil where that is not so, and it has to be enqueued.
    package mutating func admitted() -> QueueTicket? {
        guard !isPaused, passable.isAll, readySet.isEmpty, active < limits.maximumActive else { return nil }
        let slot = allocateSlot()
        orders += 1
        entries[slot].order = orders
        entries[slot].phase = .active
        active += 1
        return ticket(slot)
    }

    /// It has ended, whether it has ever run or not.
    ///
    /// - Returns: the one of its lane that is the first now.
    package mutating func finished(_ ticket: QueueTicket, at now: Int64) -> QueueTicket? {
        guard let slot = slot(ticket) else { return nil }
        // Mostly nothing of the following is the case: one look, since every access by index has its checks.
        let last = entries[slot]
        if last.phase == .active { leaveActivity(slot) }
        if last.phase == .detached { attach(slot) }
        if last.isReady { leaveReady(slot) }
        held -= 1
        if last.isSuspended { suspended -= 1 }
        if last.isParked { parked -= 1 }
        if last.host >= 0 { leaveHost(slot) }
        let successor = last.lane >= 0 ? leaveLane(slot) : nil
        var vacancy = QueueEntry()
        vacancy.generation = last.generation == .max ? 1 : last.generation + 1
        vacancy.stamp = entries[slot].stamp &+ 1
        vacancy.next = free
        entries[slot] = vacancy
        free = Int32(slot)
        guard let successor else { return nil }
        review(successor, at: now)
        return self.ticket(successor)
    }

    /// It runs for long, and no other waits for it any more.
    ///
    /// - Returns: the one of its lane that is the first now.
    package mutating func detached(_ ticket: QueueTicket, at now: Int64) -> QueueTicket? {
        guard let slot = slot(ticket), entries[slot].phase == .active else { return nil }
        leaveActivity(slot)
        entries[slot].phase = .detached
        held -= 1
        detached += 1
        let successor = leaveLane(slot)
        entries[slot].lane = -1
        guard let successor else { return nil }
        review(successor, at: now)
        return self.ticket(successor)
    }

    /// Whether it runs without a place among the others.
    package func isDetached(_ ticket: QueueTicket) -> Bool {
        slot(ticket).map { entries[$0].phase == .detached } ?? false
    }

    /// It counts as held again.
    private mutating func attach(_ slot: Int) {
        detached -= 1
        held += 1
        entries[slot].phase = .held
    }

    /// It has lost the network; it waits again, before all that came after it.
    package mutating func parked(_ ticket: QueueTicket, demand: NetworkDemand, at now: Int64) {
        guard let slot = slot(ticket), entries[slot].phase != .held else { return }
        leaveActivity(slot)
        if entries[slot].phase == .detached { attach(slot) }
        entries[slot].phase = .held
        entries[slot].demand = demand
        entries[slot].isParked = true
        parked += 1
        review(slot, at: now)
    }

    /// Sets how long one that has been started may be held by the network.
    package mutating func limited(_ ticket: QueueTicket, to limit: Int64?) {
        guard let slot = slot(ticket), !entries[slot].isReady else { return }
        entries[slot].limit = limit.map { max(0, $0) } ?? -1
    }

    /// The user holds it: it gives its slot back.
    package mutating func suspended(_ ticket: QueueTicket, at now: Int64) {
        guard let slot = slot(ticket), !entries[slot].isSuspended, entries[slot].phase != .detached else {
            return
        }
        entries[slot].isSuspended = true
        suspended += 1
        if entries[slot].phase == .active {
            leaveActivity(slot)
            entries[slot].phase = .suspended
        }
        review(slot, at: now)
    }

    /// The user resumes it, as soon as there is a slot.
    package mutating func resumed(_ ticket: QueueTicket, at now: Int64) {
        guard let slot = slot(ticket), entries[slot].isSuspended else { return }
        entries[slot].isSuspended = false
        suspended -= 1
        entries[slot].phase = .held
        review(slot, at: now)
    }

    /// One of those that it depends on has ended.
    package mutating func dependencyEnded(_ ticket: QueueTicket, at now: Int64) {
        guard let slot = slot(ticket), entries[slot].dependencies > 0 else { return }
        entries[slot].dependencies -= 1
        review(slot, at: now)
    }

    /// What holds it, besides gate and limits; empty where it runs.
    package func hold(of ticket: QueueTicket) -> QueueHold {
        guard let slot = slot(ticket), entries[slot].phase != .active, entries[slot].phase != .detached
        else { return [] }
        var hold: QueueHold = entries[slot].isReady ? .ready : []
        if entries[slot].isSuspended { hold.insert(.user) }
        if entries[slot].dependencies > 0 { hold.insert(.dependency) }
        if !isFirstOfLane(slot) { hold.insert(.lane) }
        return hold
    }

    /// What it asks of the network.
    package func demand(of ticket: QueueTicket) -> NetworkDemand {
        slot(ticket).map { entries[$0].demand } ?? .anyPath
    }

    /// Whether a request waits.
    package var isWaiting: Bool { held > 0 }

    /// How many are where.
    package var counts: QueueCounts {
        var counts = QueueCounts()
        // The bytes of those that run stop as well.
        if isPaused { counts.waitingForUser = active } else { counts.active = active }
        counts.detached = detached
        guard held > 0 else { return counts }
        var all = 0
        for index in ready.indices where ready[index] > 0 {
            all += ready[index]
            if isPaused {
                counts.waitingForUser += ready[index]
            } else if passable.contains(NetworkDemand(index: UInt8(index))) {
                counts.waitingForTurn += ready[index]
            } else {
                counts.waitingForNetwork += ready[index]
            }
        }
        // Those after the ramp's credit wait until the network has proved itself.
        if ramp != nil {
            counts.waitingForNetwork += counts.waitingForTurn
            counts.waitingForTurn = 0
        }
        counts.waitingForUser += suspended
        counts.waitingForOthers = held - suspended - all
        counts.parked = parked
        return counts
    }

    // MARK: Slots

    func ticket(_ slot: Int) -> QueueTicket {
        QueueTicket(slot: Int32(slot), generation: entries[slot].generation)
    }

    /// The slot of a ticket that is in use.
    func slot(_ ticket: QueueTicket) -> Int? {
        let slot = Int(ticket.slot)
        guard entries.indices.contains(slot), entries[slot].generation == ticket.generation,
            entries[slot].phase != .free
        else { return nil }
        return slot
    }

    private mutating func allocateSlot() -> Int {
        guard free >= 0 else {
            entries.append(QueueEntry())
            return entries.count - 1
        }
        let slot = Int(free)
        free = entries[slot].next
        entries[slot].next = -1
        return slot
    }
}
