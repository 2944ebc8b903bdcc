// SPDX-License-Identifier: Apache-2.0

public import SessionCore
import Synchronization

/// The state of a queue, for all threads.
final class QueueReport: Sendable {
    private struct State {
        var counts = QueueCounts()
        var gate = GateView()
    }

    private let state = Mutex(State())

    var counts: QueueCounts { state.withLock { $0.counts } }
    var gate: GateView { state.withLock { $0.gate } }

    /// False where nothing has changed.
    func update(_ counts: QueueCounts) -> Bool {
        state.withLock { state in
            guard state.counts != counts else { return false }
            state.counts = counts
            return true
        }
    }

    func update(_ gate: GateView) { state.withLock { $0.gate = gate } }

    /// Why a task with this hold and demand waits.
    func reasons(_ hold: QueueHold, _ demand: NetworkDemand) -> [HoldReason] {
        let gate = gate
        // One that runs stops for the user's pause alone.
        guard !hold.isEmpty else { return gate.isPaused ? [.user] : [] }
        var reasons = gate.reasons(demand)
        if hold.contains(.user), !reasons.contains(.user) { reasons.insert(.user, at: 0) }
        if hold.contains(.dependency) { reasons.append(.dependency) }
        if hold.contains(.lane) { reasons.append(.lane) }
        return reasons.isEmpty ? [.turn] : reasons
    }
}

extension SessionTask {
    /// Why it does not run though it was resumed; empty where it runs, or has not been resumed.
    ///
    /// The user's reason first, then the network's, then other tasks.
    public var holdReasons: [HoldReason] {
        guard schedule.ticket != nil else { return [] }
        let reasons = session.queue.report.reasons(schedule.hold, schedule.demand)
        return schedule.waitsForConnection && !reasons.contains(.turn) ? reasons + [.turn] : reasons
    }
    /// The first of ``holdReasons``.
    public var waitingReason: HoldReason? { holdReasons.first }
    /// Whether its queue holds it, before its start or parked: nothing of it is on its way.
    package var isHeld: Bool {
        schedule.ticket != nil && (!schedule.hold.isEmpty || schedule.waitsForConnection)
    }
}

/// A copy for other threads of where a task is in its manager's queue; written on the loop's thread.
struct ScheduleState: ~Copyable, Sendable {
    private let number = Atomic<UInt64>(0)
    private let holds = Atomic<UInt8>(0)
    private let demands = Atomic<UInt8>(0)
    private let connections = Atomic<Bool>(false)

    /// Nil where it is in none.
    var ticket: QueueTicket? { QueueTicket(packed: number.load(ordering: .relaxed)) }
    var hold: QueueHold { QueueHold(rawValue: holds.load(ordering: .relaxed)) }
    var demand: NetworkDemand { NetworkDemand(index: demands.load(ordering: .relaxed)) }

    /// Copies what the task's entry in the queue says, for other threads.
    func publish(_ hold: QueueHold, _ demand: NetworkDemand) {
        demands.store(demand.index, ordering: .relaxed)
        holds.store(hold.rawValue, ordering: .relaxed)
    }

    /// Whether it has begun and waits for a connection of its host.
    var waitsForConnection: Bool { connections.load(ordering: .relaxed) }

    /// - Returns: whether that is new.
    func setWaitsForConnection(_ isWaiting: Bool) -> Bool {
        connections.exchange(isWaiting, ordering: .relaxed) != isWaiting
    }

    func enter(_ ticket: QueueTicket) { number.store(ticket.packed, ordering: .relaxed) }

    /// - Returns: the ticket it had; nil where it is in no queue.
    func leave() -> QueueTicket? {
        guard let ticket else { return nil }
        number.store(0, ordering: .relaxed)
        holds.store(0, ordering: .relaxed)
        connections.store(false, ordering: .relaxed)
        return ticket
    }
}
