// SPDX-License-Identifier: Apache-2.0

import Storage

// Names, times, windows and gates of the entries that have them.
extension OutboxTables {
    /// The columns of ``plan(_:at:)``, of `plans p`.
    static let planColumns = "p.delay, p.name, p.successor, p.planned, p.window, p.every, p.gates"
    /// How many they are.
    static let planColumnCount = 7

    /// The plan in a row whose ``planColumns`` begin at a column; nil without one.
    static func plan(_ row: Statement, at column: Int) -> OutboxPlan? {
        guard let delay = row.optionalInt64(column) else { return nil }
        return OutboxPlan(
            name: row.optionalText(column + 1),
            successor: row.optionalInt64(column + 2).map { OutboxID(rawValue: $0) },
            planned: row.optionalInt64(column + 3), delay: delay,
            window: row.optionalText(column + 4).flatMap { OutboxWindow($0) },
            every: row.optionalInt64(column + 5),
            gates: row.text(column + 6).split(separator: "\n").map(String.init))
    }

    /// Gates as they are stored: each between line feeds, so that a whole name can be searched for.
    static func text(of gates: [String]) -> String {
        gates.isEmpty ? "" : "\n" + gates.joined(separator: "\n") + "\n"
    }

    func store(_ plan: OutboxPlan, of id: Int64) throws(StorageError) {
        try database.run(
            "INSERT OR REPLACE INTO plans VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(id), SQLValue(plan.name), SQLValue(plan.successor?.rawValue),
                SQLValue(plan.planned), .integer(plan.delay), SQLValue(plan.window?.description),
                SQLValue(plan.every), .text(Self.text(of: plan.gates)),
            ])
    }

    func plan(_ id: OutboxID) throws(StorageError) -> OutboxPlan? {
        try database.first(
            "SELECT \(Self.planColumns) FROM plans p WHERE p.id = ?", [.integer(id.rawValue)]
        ) { Self.plan($0, at: 0) } ?? nil
    }

    // MARK: Names

    /// What becomes of a request with a name.
    enum Claim {
        /// It is not stored: this is the receipt of the one that waits.
        case keep(OutboxReceipt)
        /// Entries with the name wait in this lane.
        case elsewhere(lane: String)
        /// It takes the place of these: those that were removed, and those that may be in flight.
        case replace(removed: [OutboxID], busy: [OutboxID])
    }

    /// Claims a name for a new request.
    ///
    /// Of the entries with a name only the oldest waiting one can be in flight: they are in one lane. So a
    /// process that does not know marks that one, and the delivering process removes it.
    func claim(
        _ name: String, for request: PreparedEntry, now: Int64, _ isInFlight: ((OutboxID) -> Bool)?,
        _ inserted: inout Insertion
    ) throws(StorageError) -> Claim {
        let owners = try database.all(
            """
            SELECT e.id, e.lane, e.state, e.key, p.successor IS NULL FROM plans p JOIN entries e ON e.id = p.id
            WHERE p.name = ? AND e.state <> 1 ORDER BY p.id
            """, [.text(name)]
        ) {
            (
                id: OutboxID(rawValue: $0.int64(0)), lane: $0.text(1), isWaiting: $0.int(2) == 0,
                key: $0.text(3), stays: $0.bool(4)
            )
        }
        if let other = owners.first(where: { $0.lane != request.lane }) {
            return .elsewhere(lane: other.lane)
        }
        if request.unique == .keep, let kept = owners.last(where: { $0.stays }) {
            return .keep(OutboxReceipt(id: kept.id, idempotencyKey: kept.key, isRepeated: true))
        }
        let oldest = owners.first(where: { $0.isWaiting })?.id
        var (removed, busy): ([OutboxID], [OutboxID]) = ([], [])
        for owner in owners {
            if owner.isWaiting, isInFlight?(owner.id) ?? (owner.id == oldest) {
                busy.append(owner.id)
            } else if try remove(owner.id, as: .replaced, now: now, files: &inserted.files) {
                removed.append(owner.id)
            }
        }
        return .replace(removed: removed, busy: busy)
    }

    /// Records which entry takes the place of these.
    func nameSuccessor(of replaced: [OutboxID], _ id: OutboxID) throws(StorageError) {
        for former in replaced {
            let values: [SQLValue] = [.integer(id.rawValue), .integer(former.rawValue)]
            try database.run("UPDATE plans SET successor = ? WHERE id = ?", values)
            try database.run("UPDATE results SET successor = ? WHERE id = ?", values)
        }
    }

    /// Whether an entry with the same name that is newer waits.
    func isOutdated(_ id: OutboxID) throws(StorageError) -> Bool {
        try database.first(
            """
            SELECT 1 FROM plans p JOIN plans o ON o.name = p.name AND o.id > p.id JOIN entries e ON e.id = o.id
            WHERE p.id = ? AND e.state <> 1 LIMIT 1
            """, [.integer(id.rawValue)]
        ) { _ in true } ?? false
    }

    /// Waiting entries whose place others take, with those in flight.
    func outdated() throws(StorageError) -> [(id: OutboxID, by: OutboxID)] {
        try database.all(
            """
            SELECT p.id, p.successor FROM plans p INDEXED BY replaced JOIN entries e ON e.id = p.id
            WHERE p.successor IS NOT NULL AND e.state <> 1 ORDER BY p.id
            """
        ) { (OutboxID(rawValue: $0.int64(0)), OutboxID(rawValue: $0.int64(1))) }
    }

    // MARK: Times

    /// Scheduled entries whose time has come.
    func due(now: Int64, limit: Int) throws(StorageError) -> [OutboxID] {
        try database.all(
            "SELECT id FROM entries WHERE state = 2 AND next <= ? ORDER BY next LIMIT ?",
            [.integer(now), SQLValue(limit)]
        ) { OutboxID(rawValue: $0.int64(0)) }
    }

    /// Has scheduled entries wait in their lanes; returns those that were scheduled.
    func join(_ ids: [OutboxID]) throws(StorageError) -> [OutboxID] {
        var (joined, lanes) = ([OutboxID](), Set<String>())
        for id in ids {
            let lane = try database.first(
                "UPDATE entries SET state = 0, next = 0 WHERE id = ? AND state = 2 RETURNING lane",
                [.integer(id.rawValue)]
            ) { $0.text(0) }
            guard let lane else { continue }
            joined.append(id)
            lanes.insert(lane)
        }
        for lane in lanes.sorted() { try refresh(lane: lane) }
        return joined
    }

    /// Records when the windows of the lanes' oldest entries open that are closed.
    func closeLanes(now: Int64, _ offset: LocalOffset) throws(StorageError) {
        let lanes = try database.all(
            """
            SELECT \(Self.planColumns), l.name FROM plans p JOIN entries e ON e.id = p.id
            JOIN lanes l ON l.name = e.lane AND l.head = p.id WHERE p.window IS NOT NULL AND l.opens <= ?
            """, [.integer(now)]
        ) { (plan: Self.plan($0, at: 0), name: $0.text(7)) }
        for lane in lanes {
            guard let opens = lane.plan?.opens(at: now, offset) else { continue }
            try database.run(
                "UPDATE lanes SET opens = ? WHERE name = ?", [.integer(opens), .text(lane.name)])
        }
    }

    /// Has windows looked up anew, after the clock was set or the time zone changed.
    func forgetOpenings() throws(StorageError) {
        try database.run("UPDATE lanes SET opens = 0 WHERE opens > 0")
    }

    /// Whether a window was found closed.
    func hasClosedLanes() throws(StorageError) -> Bool {
        try database.first("SELECT 1 FROM lanes WHERE opens > 0 LIMIT 1") { _ in true } ?? false
    }

    // MARK: Periodic work

    /// Stores the next one of periodic work, before or after its entry is removed; nil if it is not
    /// periodic or another takes its place.
    ///
    /// The content's file is shared. What expires does so as long after its time as before.
    func storeNext(after id: OutboxID, now: Int64) throws(StorageError) -> OutboxID? {
        guard var plan = try plan(id), plan.successor == nil, let planned = plan.planned,
            let next = plan.next(after: now)
        else { return nil }
        let number = SQLValue.integer(id.rawValue)
        plan.planned = next
        try database.run(
            """
            INSERT INTO entries (state, lane, priority, method, url, condition, key, size, created, expires, next,
            timeout, tries) SELECT 2, lane, priority, method, url, condition, ?, size, ?, expires + ?, ?, timeout, tries
            FROM entries WHERE id = ?
            """,
            [
                .text(OutboxRequest.randomKey()), .integer(now), .integer(next - planned),
                .integer(next + plan.delay), number,
            ])
        let other = database.lastRow
        try database.run(
            "INSERT INTO contents SELECT ?, header, secrets, body, file FROM contents WHERE id = ?",
            [.integer(other), number])
        try database.run("INSERT INTO tags SELECT tag, ? FROM tags WHERE id = ?", [.integer(other), number])
        try copyDownload(of: id, to: other)
        try store(plan, of: other)
        try change(
            waiting: 1,
            bytes: try database.integer("SELECT size FROM entries WHERE id = ?", [.integer(other)]))
        return OutboxID(rawValue: other)
    }

    /// The older dead letters of periodic work: the newest is kept.
    func olderDead(than id: OutboxID) throws(StorageError) -> [OutboxID] {
        try database.all(
            """
            SELECT o.id FROM plans p JOIN plans o ON o.name = p.name AND o.id < p.id JOIN entries e ON e.id = o.id
            WHERE p.id = ? AND p.every IS NOT NULL AND o.every IS NOT NULL AND e.state = 1
            """, [.integer(id.rawValue)]
        ) { OutboxID(rawValue: $0.int64(0)) }
    }
}

extension PreparedEntry {
    /// The plan with its first time.
    func plan(at now: Int64) -> OutboxPlan? {
        var plan = plan
        if beginsNow { plan?.planned = now }
        return plan
    }

    /// When it is sent at the earliest; nil for at once.
    func start(at now: Int64) -> Int64? { plan(at: now)?.start }

    /// Whether it waits in its lane from the start.
    func isDue(at now: Int64) -> Bool { start(at: now).map { $0 <= now } ?? true }
}
