// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage

/// The entries that are sent as one request.
struct OutboxBatch: Sendable, Equatable {
    /// In their order.
    let members: [OutboxID]
    /// The bytes of their joined contents.
    let contentSize: Int64
}

// Batches that are being sent, and the entries that may join one.
extension OutboxTables {
    func batch(of lane: String) throws(StorageError) -> BatchState {
        try database.first("SELECT members, suspects FROM batches WHERE lane = ?", [.text(lane)]) { row in
            BatchState(
                text: row.text(0), suspects: row.optionalInt64(1).map { OutboxID(rawValue: $0) })
        } ?? BatchState()
    }

    func store(_ state: BatchState, of lane: String) throws(StorageError) {
        guard !state.isEmpty else {
            try database.run("DELETE FROM batches WHERE lane = ?", [.text(lane)])
            return
        }
        try database.run(
            "INSERT OR REPLACE INTO batches VALUES (?, ?, ?)",
            [.text(lane), .text(state.text), SQLValue(state.suspects?.rawValue)])
    }

    /// Forgets the batches of lanes in which nothing waits any more.
    func forgetBatches() throws(StorageError) {
        try database.run("DELETE FROM batches WHERE lane NOT IN (SELECT name FROM lanes)")
    }

    /// The oldest waiting entry of a lane; nil without one.
    func head(of lane: String) throws(StorageError) -> OutboxID? {
        try database.first("SELECT head FROM lanes WHERE name = ?", [.text(lane)]) {
            OutboxID(rawValue: $0.int64(0))
        }
    }

    /// Waiting entries of a lane that have not expired, in order.
    ///
    /// - Parameter last: where given, the entries up to this one, beyond the limit.
    func candidates(
        _ lane: String, after: OutboxID = OutboxID(rawValue: 0), upTo last: OutboxID? = nil, limit: Int,
        now: Int64
    ) throws(StorageError) -> [BatchCandidate] {
        var found: [BatchCandidate] = []
        try database.query(
            """
            SELECT e.id, e.size, e.created, e.method, e.url, e.condition, e.timeout, c.header, c.secrets, \(Self.planColumns)
            FROM entries e INDEXED BY waiting CROSS JOIN contents c ON c.id = e.id LEFT JOIN plans p ON p.id = e.id
            WHERE e.lane = ? AND e.state = 0 AND e.id > ? AND (e.expires IS NULL OR e.expires > ?) ORDER BY e.id
            """, [.text(lane), .integer(after.rawValue), .integer(now)]
        ) { row in
            let candidate = Self.candidate(row)
            guard found.count < limit || last.map({ candidate.id <= $0 }) ?? false else { return false }
            found.append(candidate)
            return true
        }
        return found
    }

    private static func candidate(_ row: Statement) -> BatchCandidate {
        let (plan, size) = (Self.plan(row, at: 9), row.int64(1))
        var candidate = BatchCandidate(
            id: OutboxID(rawValue: row.int64(0)), size: size, created: row.int64(2), kind: nil)
        let header = row.text(7)
        guard size > 0, plan?.successor == nil, !isEncoded(header) else { return candidate }
        candidate.kind = BatchKind(
            method: row.text(3), url: row.text(4), header: header, secrets: row.text(8),
            condition: row.int(5), timeout: row.optionalInt64(6), window: plan?.window,
            delay: plan?.window == nil ? 0 : plan?.delay ?? 0, gates: plan?.gates ?? [])
        return candidate
    }

    /// Whether the content is not what its media type says.
    private static func isEncoded(_ header: String) -> Bool {
        !header.isEmpty && PreparedEntry.fields(header)[.contentEncoding] != nil
    }

    /// The keys and contents of entries, in their order; nil if a content's file cannot be read or has
    /// another size.
    ///
    /// - Parameter read: reads the file of a content.
    func contents(of members: [OutboxID], read: (String) -> [UInt8]?) throws(StorageError) -> (
        keys: [String], contents: [[UInt8]]
    )? {
        var (keys, contents): ([String], [[UInt8]]) = ([], [])
        for member in members {
            let found = try database.first(
                """
                SELECT e.key, c.body, c.file, e.size FROM entries e JOIN contents c ON c.id = e.id
                WHERE e.id = ?
                """, [.integer(member.rawValue)]
            ) {
                (
                    key: $0.text(0), body: $0.optionalBytes(1), file: $0.optionalText(2), size: $0.int64(3)
                )
            }
            guard let found else { return nil }
            keys.append(found.key)
            if let file = found.file {
                guard let content = read(file), Int64(content.count) == found.size else { return nil }
                contents.append(content)
            } else {
                contents.append(found.body ?? [])
            }
        }
        return (keys, contents)
    }

    /// Whether all entries of a batch wait, and none is replaced.
    func areWaiting(_ batch: OutboxBatch, in lane: String) throws(StorageError) -> Bool {
        guard let last = batch.members.last else { return false }
        let waiting = try database.all(
            """
            SELECT e.id FROM entries e INDEXED BY waiting LEFT JOIN plans p ON p.id = e.id
            WHERE e.lane = ? AND e.state = 0 AND e.id <= ? AND p.successor IS NULL
            """, [.text(lane), .integer(last.rawValue)]
        ) { OutboxID(rawValue: $0.int64(0)) }
        return Set(waiting).isSuperset(of: batch.members)
    }

    /// What the next attempt of a waiting entry depends on.
    struct Trial {
        let attempts: Int
        let refusals: Int
        let maximumAttempts: Int?
        let successor: OutboxID?
    }

    /// nil if the entry does not wait any more.
    func trial(_ id: OutboxID) throws(StorageError) -> Trial? {
        try database.first(
            """
            SELECT e.attempts, e.refusals, e.tries, p.successor FROM entries e LEFT JOIN plans p ON p.id = e.id
            WHERE e.id = ? AND e.state = 0
            """, [.integer(id.rawValue)]
        ) { row in
            Trial(
                attempts: row.int(0), refusals: row.int(1),
                maximumAttempts: row.optionalInt64(2).map { Int($0) },
                successor: row.optionalInt64(3).map { OutboxID(rawValue: $0) })
        }
    }
}
