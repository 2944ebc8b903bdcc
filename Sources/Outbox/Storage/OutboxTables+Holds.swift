// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Storage

// Holds: origins that refuse everything, those whose requests wait for the clock or the internet, and captive
// portals.
extension OutboxTables {
    /// What is known of origins that have refused requests.
    func originRecords() throws(StorageError) -> [OriginRefusals.Record] {
        try database.all(
            "SELECT origin, suspects, last, since, until, trials, spent, reason FROM holds WHERE origin <> ?",
            [.text(PlainHolds.everyOrigin)]
        ) { row in
            var record = OriginRefusals.Record(origin: row.text(0), last: row.int64(2))
            record.suspects = row.text(1).split(separator: ",").compactMap { Int64($0) }.map {
                OutboxID(rawValue: $0)
            }
            record.since = row.int64(3)
            record.until = row.int64(4)
            record.trials = row.int(5)
            record.isSpent = row.bool(6)
            record.reason = row.text(7)
            return record
        }
    }

    /// Why entries wait, by their origin; they are few, so that no row of a list asks for its own.
    func holds() throws(StorageError) -> [String: String] {
        let rows = try database.all("SELECT origin, reason FROM holds WHERE until > 0") {
            (origin: $0.text(0), reason: $0.text(1))
        }
        return Dictionary(rows.map { ($0.origin, $0.reason) }, uniquingKeysWith: { first, _ in first })
    }

    func store(_ record: OriginRefusals.Record) throws(StorageError) {
        try database.run(
            "INSERT OR REPLACE INTO holds VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .text(record.origin), .text(record.suspects.map(\.description).joined(separator: ",")),
                .integer(record.last), .integer(record.since), .integer(record.until),
                SQLValue(record.trials), SQLValue(record.isSpent), .text(record.reason),
            ])
    }

    func remove(hold origin: String) throws(StorageError) {
        try database.run("DELETE FROM holds WHERE origin = ?", [.text(origin)])
    }

    /// Stores why requests without TLS wait; nil where they do not.
    func holdPlain(_ reason: String?) throws(StorageError) {
        try hold(PlainHolds.everyOrigin, reason)
    }

    /// Stores why requests to an origin wait, in the place of its record; nil where they do not.
    func hold(_ origin: String, _ reason: String?, beside record: OriginRefusals.Record? = nil)
        throws(StorageError)
    {
        guard let reason else {
            if let record { try store(record) } else { try remove(hold: origin) }
            return
        }
        var record = record ?? OriginRefusals.Record(origin: origin, last: 0)
        record.until = Self.unknownEnd
        record.reason = reason
        try store(record)
    }

    /// Forgets holds without an end: what an earlier process's manager or probe held is found again by
    /// trying.
    func forgetHolds() throws(StorageError) {
        try database.run("DELETE FROM holds WHERE until = ?", [.integer(Self.unknownEnd)])
        try store(waits: [:])
    }

    /// The `until` of holds whose end is not known.
    private static let unknownEnd: Int64 = 1

    /// The greatest number that an entry has.
    func lastEntry() throws(StorageError) -> OutboxID {
        OutboxID(rawValue: try database.integer("SELECT coalesce(max(id), 0) FROM entries"))
    }
}

// Limits for processes without limits of their own.
extension OutboxTables {
    /// The stored limits, with the rest as in `base`; nil without any.
    func limits(base: OutboxLimits) throws(StorageError) -> OutboxLimits? {
        try database.first("SELECT entries, bytes, body, policy, folders, file FROM limits") { row in
            var limits = base
            limits.maximumEntries = row.int(0)
            limits.maximumBytes = row.int64(1)
            limits.maximumBodySize = row.int64(2)
            limits.policy = OutboxLimits.Policy(rawValue: row.text(3)) ?? base.policy
            // An older version has stored neither.
            if row.int64(5) > 0 {
                limits.downloadFolders = row.text(4).split(separator: "\n").map(String.init)
                limits.maximumDownloadSize = row.int64(5)
            }
            return limits
        }
    }

    func store(_ limits: OutboxLimits) throws(StorageError) {
        try database.run(
            "INSERT OR REPLACE INTO limits VALUES (1, ?, ?, ?, ?, ?, ?)",
            [
                SQLValue(limits.maximumEntries), .integer(limits.maximumBytes),
                .integer(limits.maximumBodySize), .text(limits.policy.rawValue),
                .text(limits.downloadFolders.joined(separator: "\n")),
                .integer(max(limits.maximumDownloadSize, 1)),
            ])
    }
}
