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

    /// What a transaction has added.
    ///
    /// Summed up over all its requests: statements for each would be a third of the time.
    private struct Additions {
        var counts: OutboxCounts
        /// What is in ``counts`` and not in the totals yet.
        var entries = 0
        var bytes: Int64 = 0
        /// The lanes that are known to have a row.
        var lanes: Set<String> = []

        init(_ counts: OutboxCounts) { self.counts = counts }
    }

    /// Adds to the totals what they lack.
    private func record(_ additions: inout Additions) throws(StorageError) {
        try change(waiting: additions.entries, bytes: additions.bytes)
        (additions.entries, additions.bytes) = (0, 0)
    }

    /// Begins anew with the stored totals, after entries have left.
    private func read(_ additions: inout Additions) throws(StorageError) {
        additions = Additions(try totals())
    }

    /// Stores the requests of calls, each call's all or none.
    ///
    /// - Parameter isInFlight: whether an entry is being delivered; nil where another process knows.
    func insert(
        groups: [[PreparedEntry]], limits: OutboxLimits, bodies: BodyFolder, now: Int64,
        isInFlight: ((OutboxID) -> Bool)? = nil
    ) throws(StorageError) -> [Result<Insertion, InsertFailure>] {
        var additions = Additions(try totals())
        var results: [Result<Insertion, InsertFailure>] = []
        results.reserveCapacity(groups.count)
        for group in groups {
            // One alone is refused before anything has changed, unless others had to give way.
            let needsSavepoint =
                group.count > 1 || group[0].plan != nil || mayDrop(for: group[0], limits, additions)
            guard needsSavepoint else {
                results.append(try insert(group, &additions, limits, bodies, now, isInFlight))
                continue
            }
            try record(&additions)
            let former = additions
            try database.run("SAVEPOINT arrival")
            let result = try insert(group, &additions, limits, bodies, now, isInFlight)
            try record(&additions)
            if case .failure = result {
                try database.run("ROLLBACK TO arrival")
                additions = former
            }
            try database.run("RELEASE arrival")
            results.append(result)
        }
        try record(&additions)
        return results
    }

    private func mayDrop(for request: PreparedEntry, _ limits: OutboxLimits, _ additions: Additions) -> Bool {
        if case .drop = limits.admission(of: request.size, beside: additions.counts) { true } else { false }
    }

    /// Stores requests; the caller rolls back on failure.
    func insert(
        _ requests: [PreparedEntry], limits: OutboxLimits, bodies: BodyFolder, now: Int64,
        isInFlight: ((OutboxID) -> Bool)? = nil
    ) throws(StorageError) -> Result<Insertion, InsertFailure> {
        var additions = Additions(try totals())
        let result = try insert(requests, &additions, limits, bodies, now, isInFlight)
        try record(&additions)
        return result
    }

    private func insert(
        _ requests: [PreparedEntry], _ additions: inout Additions, _ limits: OutboxLimits,
        _ bodies: BodyFolder, _ now: Int64, _ isInFlight: ((OutboxID) -> Bool)?
    ) throws(StorageError) -> Result<Insertion, InsertFailure> {
        var inserted = Insertion()
        inserted.receipts.reserveCapacity(requests.count)
        var hasFiles = false
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
                    try record(&additions)
                    try read(&additions)
                }
            }
            switch limits.admission(of: request.size, beside: additions.counts) {
            case .admit: break
            case .refuse(let reason): return .failure(InsertFailure(reason: reason))
            case .drop(let order, let entries, let bytes):
                try record(&additions)
                let isEnough = try makeRoom(order, entries: entries, bytes: bytes, now: now, &inserted)
                guard isEnough else {
                    return .failure(InsertFailure(reason: "what could give way is not enough"))
                }
                try read(&additions)
            }
            let isFirst = !additions.lanes.contains(request.lane)
            guard let id = try store(request, isFirst: isFirst, now: now) else {
                // Its key is taken, by the same request: another one was refused above.
                _ = try repeats(request, bodies, &inserted)
                continue
            }
            try nameSuccessor(of: replaced.removed + replaced.busy, id)
            if request.isDue(at: now) { additions.lanes.insert(request.lane) }
            inserted.replaced += replaced.removed.map { ($0, id) }
            if let file = request.file {
                try bodies.commit(file)
                hasFiles = true
            }
            additions.entries += 1
            additions.bytes += request.size
            additions.counts.waiting += 1
            additions.counts.bytes += request.size
            inserted.receipts.append(
                OutboxReceipt(
                    id: id, idempotencyKey: request.key, replaced: (replaced.removed + replaced.busy).sorted()
                )
            )
        }
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
                SQLValue(request.expires), SQLValue(request.timeout), SQLValue(request.maximumAttempts),
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
