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
            SELECT e.id, e.priority, e.condition, e.url, e.next, coalesce(p.gates, '')
            FROM entries e INDEXED BY waiting LEFT JOIN plans p ON p.id = e.id
            WHERE e.lane = ? AND e.state = 0 ORDER BY e.id LIMIT 1
            """, [.text(lane)]
        ) { row -> [SQLValue] in
            let origin = Self.origin(row.text(3))
            return [
                .text(lane), .integer(row.int64(0)), .integer(row.int64(1)), .integer(row.int64(2)),
                .text(origin?.host ?? "?"), .integer(row.int64(4)), .text(origin?.description ?? "?"),
                .text(row.text(5)),
            ]
        }
        guard let head else {
            try database.run("DELETE FROM lanes WHERE name = ?", [.text(lane)])
            return
        }
        // When its window opens is found when its turn has come.
        try database.run("INSERT OR REPLACE INTO lanes VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)", head)
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
            UPDATE totals SET waiting = (SELECT count(*) FROM entries WHERE state <> 1),
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

    /// With the plan's columns as ``plan(_:at:)`` reads them.
    private static let columns =
        """
        SELECT e.id, e.state, e.lane, e.priority, e.method, e.url, e.condition, e.key, e.size, e.created, e.expires,
        e.attempts, e.next, e.failure, e.reason, e.status, e.tries,
        CASE WHEN EXISTS (SELECT 1 FROM tags WHERE tags.id = e.id)
        THEN (SELECT group_concat(tag, char(10)) FROM tags WHERE tags.id = e.id) END, \(planColumns), \(downloadColumns) FROM
        """

    func entries(_ selection: OutboxSelection, after: OutboxID? = nil, limit: Int, now: Int64)
        throws(StorageError) -> [OutboxEntry]
    {
        let (source, values) = Self.source(of: selection, after: after)
        var holds = try entryHolds(now: now)
        return try database.all(
            "\(Self.columns) \(source) LIMIT ?", values + [SQLValue(limit)]
        ) { Self.entry($0, &holds) }
    }

    /// The IDs of a selection, the oldest first.
    func identifiers(_ selection: OutboxSelection) throws(StorageError) -> [OutboxID] {
        let (source, values) = Self.source(of: selection)
        return try database.all("SELECT e.id FROM \(source)", values) {
            OutboxID(rawValue: $0.int64(0))
        }
    }

    func entry(_ id: OutboxID) throws(StorageError) -> OutboxEntry? {
        var holds = try entryHolds(now: WallClock.now)
        return try database.first(
            "\(Self.columns) entries e \(Self.parts) WHERE e.id = ?",
            [.integer(id.rawValue)]
        ) { Self.entry($0, &holds) }
    }

    /// The entries of a selection, the oldest first, as what follows `FROM`, and its values.
    static func source(of selection: OutboxSelection, after: OutboxID? = nil) -> (String, [SQLValue]) {
        let table = selection.tag == nil ? "e" : "t"
        var (terms, values): ([String], [SQLValue]) = ([], [])
        if let tag = selection.tag {
            terms.append("t.tag = ?")
            values.append(.text(tag))
        }
        // Without it dead letters are found by their own index.
        if let after {
            terms.append("\(table).id > ?")
            values.append(.integer(after.rawValue))
        }
        if let state = selection.state { terms.append("e.state = \(Self.number(of: state))") }
        if let lane = selection.lane {
            terms.append("e.lane = ?")
            values.append(.text(lane))
        }
        if let status = selection.statusCode {
            terms.append("e.status = ?")
            values.append(SQLValue(status))
        }
        let tables = selection.tag == nil ? "entries e" : "tags t CROSS JOIN entries e ON e.id = t.id"
        let condition = terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")
        return ("\(tables) \(Self.parts)\(condition) ORDER BY \(table).id", values)
    }

    /// What only some entries have.
    private static let parts = "LEFT JOIN plans p ON p.id = e.id LEFT JOIN downloads d ON d.id = e.id"

    private static func number(of state: OutboxEntry.State) -> Int {
        switch state {
        case .waiting: 0
        case .dead: 1
        case .scheduled: 2
        }
    }

    private static func entry(_ row: Statement, _ holds: inout EntryHolds) -> OutboxEntry {
        let failure = row.optionalText(13).flatMap(OutboxFailure.Kind.init(rawValue:)).map {
            OutboxFailure($0, row.text(14), statusCode: row.optionalInt64(15).map { Int($0) })
        }
        let id = OutboxID(rawValue: row.int64(0))
        let state: OutboxEntry.State = row.int(1) == 0 ? .waiting : row.int(1) == 1 ? .dead : .scheduled
        let planColumn = 18
        let downloadColumn = planColumn + planColumnCount
        let (plan, url) = (Self.plan(row, at: planColumn), row.text(5))
        let download = Self.download(row, at: downloadColumn)
        let room = row.optionalText(downloadColumn + holdColumn)
        return OutboxEntry(
            id: id, state: state,
            lane: row.text(2), priority: row.int(3), method: row.text(4), url: url,
            networkCondition: condition(row.int(6)), idempotencyKey: row.text(7), bodySize: row.int64(8),
            created: WallClock.date(row.int64(9)), expires: row.optionalInt64(10).map { WallClock.date($0) },
            attempts: row.int(11), nextAttempt: row.int64(12) > 0 ? WallClock.date(row.int64(12)) : nil,
            failure: failure,
            hold: state == .waiting
                ? holds.reason(plan, lane: row.text(2)) { origin(url)?.description } ?? room : nil,
            maximumAttempts: row.optionalInt64(16).map { Int($0) }, replaces: plan?.name,
            tags: row.optionalText(17)?.split(separator: "\n").map(String.init).sorted() ?? [],
            notBefore: plan?.planned.map { WallClock.date($0) }, window: plan?.window,
            every: plan?.every.map { .milliseconds($0) }, gates: plan?.gates ?? [],
            successor: plan?.successor, file: download?.path, sha256: download?.sha256,
            mirrors: download?.mirrors ?? [])
    }

    static func condition(_ number: Int) -> NetworkCondition {
        let all = NetworkCondition.allCases
        return all.indices.contains(number) ? all[number] : .any
    }

    func counts() throws(StorageError) -> OutboxCounts {
        var counts = try totals()
        if counts.waiting > 0 {
            counts.oldest = try database.first(
                "SELECT created FROM entries WHERE state = 0 ORDER BY id LIMIT 1"
            ) { WallClock.date($0.int64(0)) }
        }
        return counts
    }

    /// The counts without the age of the oldest entry.
    func totals() throws(StorageError) -> OutboxCounts {
        var counts = OutboxCounts()
        try database.query("SELECT waiting, dead, bytes, paused FROM totals") { row in
            counts.waiting = row.int(0)
            counts.dead = row.int(1)
            counts.bytes = row.int64(2)
            counts.isPaused = row.bool(3)
            return false
        }
        return counts
    }

    func reply(_ id: OutboxID) throws(StorageError) -> OutboxReply? {
        try database.first("SELECT status, header, body FROM replies WHERE id = ?", [.integer(id.rawValue)]) {
            OutboxReply(statusCode: $0.int(0), header: $0.text(1), body: Data($0.bytes(2)))
        }
    }

    func result(_ id: OutboxID) throws(StorageError) -> OutboxResult? {
        try database.first(
            "SELECT outcome, status, at, successor, header, body, file, bytes FROM results WHERE id = ?",
            [.integer(id.rawValue)]
        ) { row in
            let status = row.optionalInt64(1).map { Int($0) }
            let reply = row.optionalText(4).map {
                OutboxReply(statusCode: status ?? 0, header: $0, body: Data(row.bytes(5)))
            }
            return OutboxResult(
                id: id, outcome: OutboxResult.Outcome(rawValue: row.text(0)) ?? .removed,
                statusCode: status, date: WallClock.date(row.int64(2)),
                successor: row.optionalInt64(3).map { OutboxID(rawValue: $0) }, reply: reply,
                file: row.optionalText(6), fileSize: row.optionalInt64(7))
        }
    }

    // MARK: Leaving

    /// Removes an entry; false if it does not exist any more.
    ///
    /// - Parameters:
    ///   - successor: the entry that takes its place.
    ///   - reply: the answer of the server that has it.
    ///   - fileSize: the size of the file that a download has become.
    ///   - refreshes: false if the caller refreshes the lane.
    ///   - files: receives the content's file, to be removed after the transaction.
    func remove(
        _ id: OutboxID, as outcome: OutboxResult.Outcome, statusCode: Int? = nil,
        successor: OutboxID? = nil, reply: OutboxReply? = nil, fileSize: Int64? = nil, now: Int64,
        refreshes: Bool = true,
        files: inout [String]
    ) throws(StorageError) -> Bool {
        let number = SQLValue.integer(id.rawValue)
        let found = try database.first(
            "SELECT e.lane, e.state, e.size, c.file FROM entries e LEFT JOIN contents c ON c.id = e.id WHERE e.id = ?",
            [number]
        ) { (lane: $0.text(0), state: $0.int(1), size: $0.int64(2), file: $0.optionalText(3)) }
        guard let found else { return false }
        let path: String? = fileSize == nil ? nil : try download(id)?.path
        if fileSize == nil { try abandonPart(of: id) }
        try database.run("DELETE FROM contents WHERE id = ?", [number])
        try database.run("DELETE FROM entries WHERE id = ?", [number])
        // The next one of periodic work has the same file.
        if let file = found.file, try !isInUse(file) { files.append(file) }
        let isDead = found.state == 1
        try change(waiting: isDead ? 0 : -1, dead: isDead ? -1 : 0, bytes: -found.size)
        try database.run(
            "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                number, .text(outcome.rawValue), SQLValue(statusCode), .integer(now),
                SQLValue(successor?.rawValue), SQLValue(reply?.header),
                SQLValue(reply.map { Array($0.body) }), SQLValue(path), SQLValue(fileSize),
            ])
        if found.state == 0, refreshes { try refresh(lane: found.lane) }
        return true
    }

    func isInUse(_ file: String) throws(StorageError) -> Bool {
        try database.first("SELECT 1 FROM contents WHERE file = ?", [.text(file)]) { _ in true } ?? false
    }

    /// Removes all results but the last thousand, by the time at which the entries left.
    func trimResults() throws(StorageError) {
        try database.run(
            """
            DELETE FROM results
            WHERE (at, id) < (SELECT at, id FROM results ORDER BY at DESC, id DESC LIMIT 1 OFFSET 999)
            """)
    }
}
