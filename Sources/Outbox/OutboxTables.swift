// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Storage

/// The operations on an outbox's tables; those that write are called in a transaction.
struct OutboxTables {
    let database: Database
    init(_ database: Database) { self.database = database }

    // MARK: Lanes

    /// Updates a lane's row to its oldest waiting entry, or removes it.
    func refresh(lane: String) throws(StorageError) {
        let head = try database.first(
            """
            SELECT id, priority, condition, url, next FROM entries INDEXED BY waiting
            WHERE lane = ? AND state = 0 ORDER BY id LIMIT 1
            """, [.text(lane)]
        ) { row -> [SQLValue] in
            let origin = Self.origin(row.text(3))
            return [
                .text(lane), .integer(row.int64(0)), .integer(row.int64(1)), .integer(row.int64(2)),
                .text(origin?.host ?? "?"), .integer(row.int64(4)), .text(origin?.description ?? "?"),
            ]
        }
        guard let head else {
            try database.run("DELETE FROM lanes WHERE name = ?", [.text(lane)])
            return
        }
        try database.run("INSERT OR REPLACE INTO lanes VALUES (?, ?, ?, ?, ?, ?, ?)", head)
    }

    /// Fills in the origins of lanes that an older version stored without.
    func fillOrigins() throws(StorageError) {
        for lane in try database.all("SELECT name FROM lanes WHERE origin = ''", [], { $0.text(0) }) {
            try refresh(lane: lane)
        }
    }

    private static func origin(_ url: String) -> Origin? {
        URL(string: url, encodingInvalidCharacters: false).flatMap { Origin($0) }
    }

    /// Rebuilds all tables that follow from the entries.
    func rebuild() throws(StorageError) {
        try database.execute(
            """
            DELETE FROM lanes;
            UPDATE totals SET waiting = (SELECT count(*) FROM entries WHERE state = 0),
            dead = (SELECT count(*) FROM entries WHERE state = 1),
            bytes = (SELECT coalesce(sum(size), 0) FROM entries)
            """)
        let lanes = try database.all("SELECT DISTINCT lane FROM entries WHERE state = 0") { $0.text(0) }
        for lane in lanes { try refresh(lane: lane) }
    }

    /// Checks that the lanes cover all waiting entries: those hidden by a damaged index would never be sent.
    ///
    /// - Throws: ``StorageError/Kind/corrupt`` if not.
    func checkLanes() throws(StorageError) {
        let hidden = try database.integer(
            """
            SELECT count(*) FROM entries NOT INDEXED
            WHERE state = 0 AND lane NOT IN (SELECT name FROM lanes)
            """)
        guard hidden > 0 else { return }
        throw StorageError(.corrupt, "\(hidden) requests are missing from their lanes", path: database.path)
    }

    func change(waiting: Int = 0, dead: Int = 0, bytes: Int64 = 0) throws(StorageError) {
        guard waiting != 0 || dead != 0 || bytes != 0 else { return }
        try database.run(
            "UPDATE totals SET waiting = waiting + ?, dead = dead + ?, bytes = bytes + ?",
            [SQLValue(waiting), SQLValue(dead), .integer(bytes)])
    }

    // MARK: Reading

    private static let columns =
        "id, state, lane, priority, method, url, condition, key, size, created, expires, attempts, next, failure, reason, status, tries"

    func entries(state: OutboxEntry.State?, lane: String?, after: OutboxID?, limit: Int) throws(StorageError)
        -> [OutboxEntry]
    {
        var terms = ["id > ?"]
        var values: [SQLValue] = [.integer(after?.rawValue ?? 0)]
        if let state { terms.append("state = \(state == .waiting ? 0 : 1)") }
        if let lane {
            terms.append("lane = ?")
            values.append(.text(lane))
        }
        values.append(SQLValue(limit))
        let holds = try holds()
        return try database.all(
            "SELECT \(Self.columns) FROM entries WHERE \(terms.joined(separator: " AND ")) ORDER BY id LIMIT ?",
            values
        ) { Self.entry($0, holds) }
    }

    func entry(_ id: OutboxID) throws(StorageError) -> OutboxEntry? {
        let holds = try holds()
        return try database.first(
            "SELECT \(Self.columns) FROM entries WHERE id = ?", [.integer(id.rawValue)]
        ) { Self.entry($0, holds) }
    }

    private static func entry(_ row: Statement, _ holds: [String: String]) -> OutboxEntry {
        let failure = row.optionalText(13).flatMap(OutboxFailure.Kind.init(rawValue:)).map {
            OutboxFailure($0, row.text(14), statusCode: row.optionalInt64(15).map { Int($0) })
        }
        let (id, isWaiting) = (OutboxID(rawValue: row.int64(0)), row.int(1) == 0)
        return OutboxEntry(
            id: id, state: isWaiting ? .waiting : .dead,
            lane: row.text(2), priority: row.int(3), method: row.text(4), url: row.text(5),
            networkCondition: condition(row.int(6)), idempotencyKey: row.text(7), bodySize: row.int64(8),
            created: WallClock.date(row.int64(9)), expires: row.optionalInt64(10).map { WallClock.date($0) },
            attempts: row.int(11), nextAttempt: row.int64(12) > 0 ? WallClock.date(row.int64(12)) : nil,
            failure: failure,
            hold: isWaiting && !holds.isEmpty
                ? origin(row.text(5)).flatMap { hold($0.description, holds) } : nil,
            maximumAttempts: row.optionalInt64(16).map { Int($0) })
    }

    static func condition(_ number: Int) -> NetworkCondition {
        let all = NetworkCondition.allCases
        return all.indices.contains(number) ? all[number] : .any
    }

    func counts() throws(StorageError) -> OutboxCounts {
        var counts = OutboxCounts()
        try database.query("SELECT waiting, dead, bytes, paused FROM totals") { row in
            counts.waiting = row.int(0)
            counts.dead = row.int(1)
            counts.bytes = row.int64(2)
            counts.isPaused = row.bool(3)
            return false
        }
        if counts.waiting > 0 {
            counts.oldest = try database.first(
                "SELECT created FROM entries WHERE state = 0 ORDER BY id LIMIT 1"
            ) { WallClock.date($0.int64(0)) }
        }
        return counts
    }

    func reply(_ id: OutboxID) throws(StorageError) -> OutboxReply? {
        try database.first("SELECT status, header, body FROM replies WHERE id = ?", [.integer(id.rawValue)]) {
            OutboxReply(statusCode: $0.int(0), header: $0.text(1), body: Data($0.bytes(2)))
        }
    }

    func result(_ id: OutboxID) throws(StorageError) -> OutboxResult? {
        try database.first("SELECT outcome, status, at FROM results WHERE id = ?", [.integer(id.rawValue)]) {
            OutboxResult(
                id: id, outcome: OutboxResult.Outcome(rawValue: $0.text(0)) ?? .removed,
                statusCode: $0.optionalInt64(1).map { Int($0) }, date: WallClock.date($0.int64(2)))
        }
    }

    // MARK: Leaving

    /// Removes an entry; false if it does not exist any more.
    ///
    /// - Parameter files: receives the content's file, to be removed after the transaction.
    func remove(
        _ id: OutboxID, as outcome: OutboxResult.Outcome, statusCode: Int? = nil, now: Int64,
        files: inout [String]
    ) throws(StorageError) -> Bool {
        let number = SQLValue.integer(id.rawValue)
        let found = try database.first(
            "SELECT e.lane, e.state, e.size, c.file FROM entries e LEFT JOIN contents c ON c.id = e.id WHERE e.id = ?",
            [number]
        ) { (lane: $0.text(0), state: $0.int(1), size: $0.int64(2), file: $0.optionalText(3)) }
        guard let found else { return false }
        if let file = found.file { files.append(file) }
        try database.run("DELETE FROM contents WHERE id = ?", [number])
        try database.run("DELETE FROM entries WHERE id = ?", [number])
        try change(waiting: found.state == 0 ? -1 : 0, dead: found.state == 0 ? 0 : -1, bytes: -found.size)
        try database.run(
            "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
            [number, .text(outcome.rawValue), SQLValue(statusCode), .integer(now)])
        if found.state == 0 { try refresh(lane: found.lane) }
        return true
    }

    /// Removes all results but the last thousand, by number.
    func trimResults() throws(StorageError) {
        try database.run(
            "DELETE FROM results WHERE id < (SELECT id FROM results ORDER BY id DESC LIMIT 1 OFFSET 999)")
    }
}
