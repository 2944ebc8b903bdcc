// SPDX-License-Identifier: Apache-2.0

import OutboxCore
import Storage

// Taking requests in.
extension OutboxTables {
    /// What became of requests that came together.
    struct Taken {
        var receipts: [OutboxReceipt] = []
        var dropped: [OutboxID] = []
        /// Files of contents that are not needed any more: of what was dropped.
        var files: [String] = []
    }

    /// There is no room.
    struct NoRoom: Error {
        var reason: String
    }

    /// Stores requests; what it has changed is to be rolled back where there is no room for all.
    func take(
        _ requests: [PreparedEntry], limits: OutboxLimits, bodies: BodyFolder, now: Int64
    ) throws(StorageError) -> Result<Taken, NoRoom> {
        var taken = Taken()
        taken.receipts.reserveCapacity(requests.count)
        var counts = try counts()
        var lanes: Set<String> = []
        var hasFiles = false
        for request in requests {
            let old = try database.first("SELECT id FROM entries WHERE key = ?", [.text(request.key)]) {
                $0.int64(0)
            }
            if let old {
                taken.receipts.append(
                    OutboxReceipt(id: OutboxID(rawValue: old), idempotencyKey: request.key, isRepeated: true))
                continue
            }
            switch limits.admission(of: request.size, beside: counts) {
            case .take: break
            case .refuse(let reason): return .failure(NoRoom(reason: reason))
            case .drop(let order, let entries, let bytes):
                let isEnough = try makeRoom(order, entries: entries, bytes: bytes, now: now, &taken)
                guard isEnough else { return .failure(NoRoom(reason: "what could give way is not enough")) }
                counts = try self.counts()
                lanes = []
            }
            let id = try store(request, isFirst: lanes.insert(request.lane).inserted, now: now)
            if let file = request.file {
                try bodies.keep(file)
                hasFiles = true
            }
            try change(waiting: 1, bytes: request.size)
            counts.waiting += 1
            counts.bytes += request.size
            taken.receipts.append(OutboxReceipt(id: id, idempotencyKey: request.key))
        }
        if hasFiles { try bodies.sync() }
        return .success(taken)
    }

    private func store(_ request: PreparedEntry, isFirst: Bool, now: Int64) throws(StorageError) -> OutboxID {
        try database.run(
            """
            INSERT INTO entries (lane, priority, method, url, host, condition, key, size, created, expires)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(request.lane), SQLValue(request.priority), .text(request.method), .text(request.url),
                .text(request.host), SQLValue(request.condition), .text(request.key), .integer(request.size),
                .integer(now), SQLValue(request.expires),
            ])
        let id = database.lastRow
        try database.run(
            "INSERT INTO contents VALUES (?, ?, ?, ?, ?)",
            [
                .integer(id), .text(request.header), .text(request.secrets), SQLValue(request.body),
                SQLValue(request.file?.name),
            ])
        // A lane that waits already has an older entry at its head.
        if isFirst {
            try database.run(
                "INSERT INTO lanes VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (name) DO NOTHING",
                [
                    .text(request.lane), .integer(id), SQLValue(request.priority),
                    SQLValue(request.condition),
                    .text(request.host),
                ])
        }
        return OutboxID(rawValue: id)
    }

    /// Drops what may give way, the least useful first; false where that is not enough.
    private func makeRoom(
        _ order: OutboxLimits.DropOrder, entries: Int, bytes: Int64, now: Int64, _ taken: inout Taken
    ) throws(StorageError) -> Bool {
        var (entries, bytes) = (entries, bytes)
        var sources = [
            "SELECT id, size FROM entries WHERE state = 0 AND expires <= ? ORDER BY expires LIMIT 1",
            "SELECT id, size FROM entries WHERE state = 1 AND ? > 0 ORDER BY id LIMIT 1",
        ]
        if order == .expiredThenDeadThenOldest {
            sources.append("SELECT id, size FROM entries WHERE state = 0 AND ? > 0 ORDER BY id LIMIT 1")
        }
        for sql in sources {
            while entries > 0 || bytes > 0 {
                let victim = try database.first(sql, [.integer(now)]) { (id: $0.int64(0), size: $0.int64(1)) }
                guard let victim else { break }
                let id = OutboxID(rawValue: victim.id)
                _ = try remove(id, as: .dropped, now: now, files: &taken.files)
                taken.dropped.append(id)
                entries -= 1
                bytes -= victim.size
            }
        }
        return entries <= 0 && bytes <= 0
    }
}
