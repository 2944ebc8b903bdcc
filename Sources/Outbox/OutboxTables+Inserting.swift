// SPDX-License-Identifier: Apache-2.0

import Storage

// Storing new requests.
extension OutboxTables {
    struct Insertion {
        var receipts: [OutboxReceipt] = []
        var dropped: [OutboxID] = []
        /// Entries that left because new ones take their places.
        var replaced: [(OutboxID, OutboxID)] = []
        /// Content files of dropped and replaced entries.
        var files: [String] = []
    }

    struct InsertFailure: Error {
        var reason: String
        /// The entry that has the request's key, if that is the reason.
        var owner: OutboxID?
        /// The lane in which entries with the request's name wait, if that is the reason.
        var lane: String?

        /// The error of the call that stores.
        var error: OutboxError {
            if let lane {
                return OutboxError(
                    .nameTaken, "\(reason) in lane “\(lane)”, and a name belongs to one lane",
                    advice: "use that lane, give another name, or remove what waits there first")
            }
            guard let owner else {
                return OutboxError(
                    .full, "there is no room for it: \(reason)",
                    advice: "raise the limits, or choose what gives way")
            }
            return OutboxError(
                .keyTaken, "\(reason) by request \(owner), which waits with another URL, method or content",
                advice: "give another key, or remove that request first")
        }
    }

    /// Whether an entry with a request's key is there.
    private enum Repetition {
        case none
        case same
        /// One with another URL, method or content.
        case other(OutboxID)
    }

    /// Stores requests; the caller rolls back on failure.
    ///
    /// - Parameter isInFlight: whether an entry is being delivered; nil where another process knows.
    func insert(
        _ requests: [PreparedEntry], limits: OutboxLimits, bodies: BodyFolder, now: Int64,
        isInFlight: ((OutboxID) -> Bool)? = nil
    ) throws(StorageError) -> Result<Insertion, InsertFailure> {
        var inserted = Insertion()
        inserted.receipts.reserveCapacity(requests.count)
        var counts = try counts()
        var lanes: Set<String> = []
        var hasFiles = false
        // Summed up: a statement for each would be a quarter of the time.
        var added = (entries: 0, bytes: Int64(0))
        func recordAdded() throws(StorageError) {
            try change(waiting: added.entries, bytes: added.bytes)
            added = (0, 0)
        }
        for request in requests {
            if request.hasOwnKey {
                switch try repeats(request, bodies, &inserted) {
                case .same: continue
                case .other(let owner):
                    return .failure(InsertFailure(reason: "the key “\(request.key)” is taken", owner: owner))
                case .none: break
                }
            }
            var replaced: (removed: [OutboxID], busy: [OutboxID]) = ([], [])
            if let name = request.plan?.name {
                switch try claim(name, for: request, now: now, isInFlight, &inserted) {
                case .keep(let receipt):
                    inserted.receipts.append(receipt)
                    continue
                case .elsewhere(let lane):
                    return .failure(InsertFailure(reason: "requests named “\(name)” wait", lane: lane))
                case .replace(let removed, let busy):
                    replaced = (removed, busy)
                    guard !removed.isEmpty else { break }
                    try recordAdded()
                    counts = try self.counts()
                    lanes = []
                }
            }
            switch limits.admission(of: request.size, beside: counts) {
            case .admit: break
            case .refuse(let reason): return .failure(InsertFailure(reason: reason))
            case .drop(let order, let entries, let bytes):
                try recordAdded()
                let isEnough = try makeRoom(order, entries: entries, bytes: bytes, now: now, &inserted)
                guard isEnough else {
                    return .failure(InsertFailure(reason: "what could give way is not enough"))
                }
                counts = try self.counts()
                lanes = []
            }
            guard let id = try store(request, isFirst: !lanes.contains(request.lane), now: now) else {
                _ = try repeats(request, bodies, &inserted)
                continue
            }
            try nameSuccessor(of: replaced.removed + replaced.busy, id)
            if request.isDue(at: now) { lanes.insert(request.lane) }
            inserted.replaced += replaced.removed.map { ($0, id) }
            if let file = request.file {
                try bodies.commit(file)
                hasFiles = true
            }
            added = (added.entries + 1, added.bytes + request.size)
            counts.waiting += 1
            counts.bytes += request.size
            inserted.receipts.append(
                OutboxReceipt(
                    id: id, idempotencyKey: request.key, replaced: (replaced.removed + replaced.busy).sorted()
                )
            )
        }
        try recordAdded()
        if hasFiles { try bodies.sync() }
        return .success(inserted)
    }

    /// Finds an entry with the request's key; the same request gets its receipt.
    private func repeats(_ request: PreparedEntry, _ bodies: BodyFolder, _ inserted: inout Insertion)
        throws(StorageError) -> Repetition
    {
        let old = try database.first(
            """
            SELECT e.id, e.method, e.url, e.size, c.body, c.file FROM entries e JOIN contents c ON c.id = e.id
            WHERE e.key = ?
            """, [.text(request.key)]
        ) { row in
            (
                id: OutboxID(rawValue: row.int64(0)), method: row.text(1), url: row.text(2),
                size: row.int64(3), body: row.optionalBytes(4), file: row.optionalText(5)
            )
        }
        guard let old else { return .none }
        guard isSame(try download(old.id), request.download), old.method == request.method,
            old.url == request.url, old.size == request.size,
            request.content.isSame(
                as: old.file.map { .file(bodies.paths.body($0)) } ?? .bytes(old.body ?? []))
        else { return .other(old.id) }
        inserted.receipts.append(OutboxReceipt(id: old.id, idempotencyKey: request.key, isRepeated: true))
        return .same
    }

    private func isSame(_ stored: StoredDownload?, _ other: StoredDownload?) -> Bool {
        guard let stored, let other else { return stored == nil && other == nil }
        return stored.isSame(as: other)
    }

    /// Inserts an entry; nil if one with its key exists.
    private func store(_ request: PreparedEntry, isFirst: Bool, now: Int64) throws(StorageError) -> OutboxID?
    {
        let isDue = request.isDue(at: now)
        let count = try database.run(
            """
            INSERT INTO entries (lane, priority, method, url, condition, key, size, created, expires,
            timeout, tries, state, next) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (key) DO NOTHING
            """,
            [
                .text(request.lane), SQLValue(request.priority), .text(request.method), .text(request.url),
                SQLValue(request.condition), .text(request.key), .integer(request.size), .integer(now),
                SQLValue(request.expires), SQLValue(request.timeout), SQLValue(request.tries),
                isDue ? 0 : 2, .integer(isDue ? 0 : request.start(at: now) ?? 0),
            ])
        guard count > 0 else { return nil }
        let id = database.lastRow
        try database.run(
            "INSERT INTO contents VALUES (?, ?, ?, ?, ?)",
            [
                .integer(id), .text(request.header), .text(request.secrets), SQLValue(request.body),
                SQLValue(request.file?.name),
            ])
        if let download = request.download { try store(download, of: id) }
        let plan = request.plan(at: now)
        if let plan { try store(plan, of: id) }
        for tag in request.tags {
            try database.run("INSERT INTO tags VALUES (?, ?)", [.text(tag), .integer(id)])
        }
        // A lane with waiting entries has an older one at its head.
        if isFirst, isDue {
            let opens = plan?.opens(at: now, LocalZone.offset) ?? 0
            try database.run(
                "INSERT INTO lanes VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
                [
                    .text(request.lane), .integer(id), SQLValue(request.priority),
                    SQLValue(request.condition), .text(request.origin.host),
                    .text(request.origin.description), .text(Self.text(of: plan?.gates ?? [])),
                    .integer(opens),
                ])
        }
        return OutboxID(rawValue: id)
    }

    /// Drops entries by the limits' policy, the least useful first; false if that is not enough.
    private func makeRoom(
        _ order: OutboxLimits.DropOrder, entries: Int, bytes: Int64, now: Int64, _ inserted: inout Insertion
    ) throws(StorageError) -> Bool {
        var (entries, bytes) = (entries, bytes)
        var sources = [
            "SELECT id, size FROM entries WHERE state <> 1 AND expires <= ? ORDER BY expires LIMIT 1",
            "SELECT id, size FROM entries WHERE state = 1 AND ? > 0 ORDER BY id LIMIT 1",
        ]
        if order == .expiredThenDeadThenOldest {
            sources += [0, 2].map {
                "SELECT id, size FROM entries WHERE state = \($0) AND ? > 0 ORDER BY id LIMIT 1"
            }
        }
        for sql in sources {
            while entries > 0 || bytes > 0 {
                let victim = try database.first(sql, [.integer(now)]) { (id: $0.int64(0), size: $0.int64(1)) }
                guard let victim else { break }
                let id = OutboxID(rawValue: victim.id)
                _ = try remove(id, as: .dropped, now: now, files: &inserted.files)
                inserted.dropped.append(id)
                entries -= 1
                bytes -= victim.size
            }
        }
        return entries <= 0 && bytes <= 0
    }
}
