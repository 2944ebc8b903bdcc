// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Storage

// Choosing entries to send, and storing outcomes.
extension OutboxTables {
    /// The oldest entries of lanes that may send now, by priority, without the expired ones and those whose
    /// gates are held; the window of one may have closed since it was looked up.
    ///
    /// - Parameters:
    ///   - origins: those to which nothing is sent.
    ///   - lanes: those that wait.
    ///   - holdsPlain: whether nothing is sent without TLS.
    ///   - horizon: a longer wait, in milliseconds, was stored before the clock was set back.
    func ready(
        _ condition: NetworkCondition, now: Int64, horizon: Int64, exceptHosts hosts: [String],
        exceptOrigins origins: [String] = [], exceptLanes lanes: [String] = [], holdsPlain: Bool = false,
        limit: Int
    ) throws(StorageError) -> [PendingDelivery] {
        let number = NetworkCondition.allCases.firstIndex(of: condition) ?? 0
        let marks = hosts.map { _ in "?" }.joined(separator: ", ")
        var values: [SQLValue] = [SQLValue(number), .integer(now), .integer(now &+ horizon)]
        values += hosts.map { .text($0) }
        values += [.integer(now), .integer(now), .integer(now)]
        values += origins.map { .text($0) }
        values += lanes.map { .text($0) }
        values.append(SQLValue(limit))
        var terms = ""
        if !origins.isEmpty {
            terms += " AND l.origin NOT IN (\(origins.map { _ in "?" }.joined(separator: ", ")))"
        }
        if !lanes.isEmpty {
            terms += " AND l.name NOT IN (\(lanes.map { _ in "?" }.joined(separator: ", ")))"
        }
        if holdsPlain { terms += " AND l.origin NOT LIKE 'http:%'" }
        return try database.all(
            """
            SELECT e.id, e.lane, l.host, e.priority, e.method, e.url, e.key, e.attempts, c.header, c.secrets, c.body, c.file,
            l.origin, e.timeout, e.unanswered, e.size, \(Self.planColumns), \(Self.downloadColumns)
            FROM lanes l INDEXED BY ready CROSS JOIN entries e ON e.id = l.head CROSS JOIN contents c ON c.id = l.head
            LEFT JOIN plans p ON p.id = l.head LEFT JOIN downloads d ON d.id = l.head
            WHERE l.condition = ? AND (l.next <= ? OR l.next > ?) AND l.host NOT IN (\(marks))
            AND (e.expires IS NULL OR e.expires > ?) AND l.opens <= ?
            AND (l.gates = '' OR NOT EXISTS (SELECT 1 FROM gates g
            WHERE (g.until IS NULL OR g.until > ?) AND instr(l.gates, char(10) || g.name || char(10)) > 0))\(terms)
            ORDER BY l.priority DESC, l.head LIMIT ?
            """, values
        ) { row in
            let planColumn = 16
            return PendingDelivery(
                id: OutboxID(rawValue: row.int64(0)), lane: row.text(1), host: row.text(2),
                condition: condition, priority: row.int(3), method: row.text(4), url: row.text(5),
                key: row.text(6), attempts: row.int(7), header: row.text(8),
                secrets: PreparedEntry.secrets(row.text(9)), body: row.optionalBytes(10),
                file: row.optionalText(11), origin: row.text(12), size: row.int64(15),
                timeout: row.optionalInt64(13), unanswered: row.int(14), plan: Self.plan(row, at: planColumn),
                download: Self.download(row, at: planColumn + Self.planColumnCount))
        }
    }

    /// The next instant at which a lane may try again or its window opens, an entry expires or its time
    /// comes, or a gate is released by itself.
    func nextDeadline(after now: Int64) throws(StorageError) -> Int64? {
        var next: Int64?
        for sql in Self.deadlines {
            let found = try database.first(sql, [.integer(now)]) { $0.int64(0) }
            next = [next, found].compactMap { $0 }.min()
        }
        return next
    }

    private static let deadlines = [
        "SELECT next FROM lanes WHERE next > ? ORDER BY next LIMIT 1",
        "SELECT opens FROM lanes WHERE opens > 0 AND opens > ? ORDER BY opens LIMIT 1",
        "SELECT expires FROM entries WHERE state <> 1 AND expires > ? ORDER BY expires LIMIT 1",
        "SELECT next FROM entries WHERE state = 2 AND next > ? ORDER BY next LIMIT 1",
        "SELECT until FROM gates WHERE until > ? ORDER BY until LIMIT 1",
    ]

    /// Waiting and scheduled entries that have expired, with those in flight.
    func expired(now: Int64, limit: Int) throws(StorageError) -> [OutboxID] {
        try database.all(
            "SELECT id FROM entries WHERE state <> 1 AND expires <= ? ORDER BY expires LIMIT ?",
            [.integer(now), SQLValue(limit)]
        ) { OutboxID(rawValue: $0.int64(0)) }
    }

    /// Sets the time of the next attempt; `isUnanswered` as in ``DeliveryOutcome``.
    ///
    /// - Parameter refreshes: false if the caller refreshes the lane.
    func postpone(
        _ id: OutboxID, lane: String, _ failure: OutboxFailure, next: Int64, isUnanswered: Bool = false,
        refreshes: Bool = true
    ) throws(StorageError) {
        try database.run(
            """
            UPDATE entries SET attempts = attempts + 1, refusals = refusals + ?, unanswered = unanswered + ?, next = ?, failure = ?, reason = ?, status = ?
            WHERE id = ? AND state = 0
            """,
            [
                SQLValue(failure.kind == .credentials || failure.isConflict ? 1 : 0),
                SQLValue(isUnanswered ? 1 : 0), .integer(next), .text(failure.kind.rawValue),
                .text(failure.message), SQLValue(failure.statusCode), .integer(id.rawValue),
            ])
        if refreshes { try refresh(lane: lane) }
    }

    /// The number of refused secrets, or of 409 responses.
    func refusals(_ id: OutboxID) throws(StorageError) -> Int {
        Int(try database.integer("SELECT refusals FROM entries WHERE id = ?", [.integer(id.rawValue)]))
    }

    /// Makes it a dead letter; false if it is not waiting any more.
    func markDead(_ id: OutboxID, lane: String, _ failure: OutboxFailure, _ reply: OutboxReply?)
        throws(StorageError) -> Bool
    {
        let count = try database.run(
            """
            UPDATE entries SET state = 1, attempts = attempts + 1, next = 0, failure = ?, reason = ?, status = ?
            WHERE id = ? AND state = 0
            """,
            [
                .text(failure.kind.rawValue), .text(failure.message), SQLValue(failure.statusCode),
                .integer(id.rawValue),
            ])
        guard count > 0 else { return false }
        if let reply {
            try database.run(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)",
                [
                    .integer(id.rawValue), SQLValue(reply.statusCode), .text(reply.header),
                    .bytes(Array(reply.body)),
                ])
        }
        try change(waiting: -1, dead: 1)
        try abandonPart(of: id)
        try refresh(lane: lane)
        return true
    }

    /// Makes dead letters wait again, as if they had never been tried.
    ///
    /// One whose name a newer entry has stays dead: only the newest is sent.
    func revive(_ ids: [OutboxID]) throws(StorageError) -> [OutboxID] {
        var revived: [OutboxID] = []
        // The newest of a name comes first, so that it is the one that waits again.
        for id in ids.sorted(by: >) {
            let number = SQLValue.integer(id.rawValue)
            let lane = try database.first("SELECT lane FROM entries WHERE id = ? AND state = 1", [number]) {
                $0.text(0)
            }
            guard let lane, try !isOutdated(id) else { continue }
            try database.run(
                "UPDATE entries SET state = 0, attempts = 0, refusals = 0, unanswered = 0, next = 0 WHERE id = ?",
                [number])
            try database.run("DELETE FROM replies WHERE id = ?", [number])
            try change(waiting: 1, dead: -1)
            try refresh(lane: lane)
            revived.append(id)
        }
        return revived.reversed()
    }

    /// Makes waiting entries due at once; with a kind of failure, only those that failed so.
    func makeDue(_ kind: OutboxFailure.Kind? = nil) throws(StorageError) {
        let term = kind.map { " AND failure = '\($0.rawValue)'" } ?? ""
        try database.run(
            "UPDATE entries SET next = 0 WHERE id IN (SELECT head FROM lanes WHERE next > 0) AND state = 0\(term)"
        )
        try database.run(
            "UPDATE lanes SET next = 0 WHERE next > 0 AND (SELECT e.next FROM entries e WHERE e.id = lanes.head) = 0"
        )
    }
}
