// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Storage

// What time and other processes do to entries: they expire, their time comes, newer ones take their places.
extension OutboxEngine {
    /// What is to be done before the next entries are chosen.
    private struct Upkeep {
        var expired: [OutboxID] = []
        var outdated: [(id: OutboxID, by: OutboxID)] = []
        var due: [OutboxID] = []
        var gates: [String] = []
        var hasClosedLanes = false
    }

    /// The most entries that one transaction handles.
    private static let limit = 1_000

    /// Whether an entry is being delivered; nil where another process may deliver.
    var isInFlight: ((OutboxID) -> Bool)? {
        guard lock != nil else { return nil }
        return { [unowned self] in machine.isInFlight($0) }
    }

    /// Removes a part of what has expired or is replaced, none in flight, and has scheduled entries wait
    /// whose time has come; true if there may be more.
    ///
    /// What the manager holds is cancelled first, and removed after that.
    func bringUpToDate(now: Int64) throws(OutboxError) -> Bool {
        var found = Upkeep()
        try file.read { (database) throws(StorageError) in
            let tables = OutboxTables(database)
            found.expired = try tables.expired(now: now, limit: Self.limit)
            found.outdated = try tables.outdated()
            found.due = try tables.due(now: now, limit: Self.limit)
            found.gates = try tables.endedGates(now: now)
            found.hasClosedLanes = try tables.hasClosedLanes()
        }
        let isFull = found.expired.count == Self.limit || found.due.count == Self.limit
        if inFlight.values.contains(where: { $0.window != nil }) { recall() }
        for id in found.expired + found.outdated.map({ $0.id }) {
            if let delivery = delivery(of: id), delivery.task.isHeld || delivery.part != nil {
                delivery.work.cancel()
            }
        }
        found.expired.removeAll { machine.isInFlight($0) }
        found.outdated.removeAll { machine.isInFlight($0.id) }
        let moves = found.hasClosedLanes && followZone(now)
        guard
            moves || !found.expired.isEmpty || !found.outdated.isEmpty || !found.due.isEmpty
                || !found.gates.isEmpty
        else { return false }
        try carryOut(found, now, moves: moves)
        return isFull
    }

    private func carryOut(_ found: Upkeep, _ now: Int64, moves: Bool) throws(OutboxError) {
        var (events, files): ([OutboxEvent], [String]) = ([], [])
        try file.write { (database) throws(StorageError) in
            (events, files) = ([], [])
            let tables = OutboxTables(database)
            if moves { try tables.forgetOpenings() }
            for (id, successor) in found.outdated
            where try tables.remove(id, as: .replaced, successor: successor, now: now, files: &files) {
                events.append(.replaced(id, by: successor))
            }
            for id in found.expired {
                let next = try tables.storeNext(after: id, now: now)
                guard try tables.remove(id, as: .expired, now: now, files: &files) else { continue }
                events.append(.expired(id))
                if let next { events.append(.repeated(id, next: next)) }
            }
            let due = try tables.join(found.due)
            if !due.isEmpty { events.append(.due(due)) }
            for gate in found.gates where try !tables.release(gate: gate, now: now) {
                events.append(.gateReleased(gate))
            }
            try trimResults(tables, found.expired.count + found.outdated.count)
        }
        bodies.remove(files)
        for event in events { broadcaster.publish(event) }
        if !found.expired.isEmpty || !found.outdated.isEmpty { answerWaiters() }
    }

    /// Fills the reserve and shrinks the database while nothing is in flight.
    func tidy() {
        guard !isClosed else { return }
        // Without room for it, the next request or delivery tries again.
        try? file.restoreReserve()
        guard mayCompact else { return }
        // A full disk, for instance: the next process that opens the file tries again.
        if (try? file.compact(spare: configuration.spareSpace)) == nil { mayCompact = false }
    }
}
