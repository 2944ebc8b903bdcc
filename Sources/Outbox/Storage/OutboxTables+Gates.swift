// SPDX-License-Identifier: Apache-2.0

import Storage

// Gates that are held, and why entries wait.
extension OutboxTables {
    /// The most gates that are held at once: each lane's are compared with them.
    static let mostGates = 256

    /// The gates that are held at an instant, by name.
    func gates(now: Int64) throws(StorageError) -> [OutboxGate] {
        try database.all(
            "SELECT name, reason, since, until FROM gates WHERE until IS NULL OR until > ? ORDER BY name",
            [.integer(now)]
        ) { row in
            OutboxGate(
                name: row.text(0), reason: row.text(1), since: WallClock.date(row.int64(2)),
                until: row.optionalInt64(3).map { WallClock.date($0) })
        }
    }

    /// Holds a gate; one that is held gets the new reason and end.
    ///
    /// False if too many are held.
    func hold(gate name: String, reason: String, until: Int64?, clock: ClockReading) throws(StorageError)
        -> Bool
    {
        let former = try gates(now: clock.wall)
        let known = former.first { $0.name == name }
        guard known != nil || former.count < Self.mostGates else { return false }
        try database.run(
            "INSERT OR REPLACE INTO gates VALUES (?, ?, ?, ?, ?)",
            [
                .text(name), .text(reason),
                .integer(known.map { WallClock.milliseconds($0.since) } ?? clock.wall), SQLValue(until),
                .text(clock.boot),
            ])
        return true
    }

    /// Releases a gate; false if it was not held.
    func release(gate name: String, now: Int64) throws(StorageError) -> Bool {
        let wasHeld = try gates(now: now).contains { $0.name == name }
        try database.run("DELETE FROM gates WHERE name = ?", [.text(name)])
        return wasHeld
    }

    /// The gates whose time is over.
    func endedGates(now: Int64) throws(StorageError) -> [String] {
        try database.all("SELECT name FROM gates WHERE until <= ? ORDER BY name", [.integer(now)]) {
            $0.text(0)
        }
    }

    /// Whether an entry waits, no gate of it is held, and its window is open.
    func maySend(_ id: OutboxID, now: Int64) throws(StorageError) -> Bool {
        let isWaiting = try database.first(
            "SELECT state = 0 FROM entries WHERE id = ?", [.integer(id.rawValue)]
        ) { $0.bool(0) }
        guard isWaiting ?? false else { return false }
        guard let plan = try plan(id) else { return true }
        guard plan.successor == nil, plan.opens(at: now, LocalZone.offset) == nil else { return false }
        guard !plan.gates.isEmpty else { return true }
        return try !isHeld(plan.gates, now: now)
    }

    private func isHeld(_ names: [String], now: Int64) throws(StorageError) -> Bool {
        for gate in try gates(now: now) where names.contains(gate.name) { return true }
        return false
    }

    /// What lists need to say why entries wait.
    func entryHolds(now: Int64) throws(StorageError) -> EntryHolds {
        LocalZone.refresh()
        var found = EntryHolds(now: now, LocalZone.offset)
        found.origins = try holds()
        found.lanes = try waits()
        found.gates = Dictionary(
            try gates(now: now).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return found
    }
}
