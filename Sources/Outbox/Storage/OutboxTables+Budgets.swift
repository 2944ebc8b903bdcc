// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Storage

// What lanes have sent over expensive paths, and lanes that wait.
extension OutboxTables {
    /// Rows of a later day are older than a clock that was set back: they count, so that it fills no budget.
    ///
    /// Those of days far ahead come from a wrong clock, and count for one day.
    private static let nearDays: Int64 = 2
    /// For how many days rows are kept.
    private static let keptDays: Int64 = 7

    /// What a lane has spent on a day.
    func spending(of lane: String, on day: Int64) throws(StorageError) -> LaneSpending {
        try database.first(
            "SELECT coalesce(sum(bytes), 0), coalesce(sum(requests), 0) FROM spending WHERE lane = ? AND day >= ?",
            [.text(lane), .integer(day)]
        ) { LaneSpending(bytes: $0.int64(0), requests: $0.int(1)) } ?? LaneSpending()
    }

    /// Adds to what a lane has spent.
    func spend(_ bytes: Int64, requests: Int = 1, of lane: String, on day: Int64) throws(StorageError) {
        try database.run(
            """
            INSERT INTO spending VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (lane, day) DO UPDATE SET bytes = bytes + ?3, requests = requests + ?4
            """, [.text(lane), .integer(day), .integer(bytes), SQLValue(requests)])
        try database.run("DELETE FROM spending WHERE day < ?", [.integer(day - Self.keptDays)])
    }

    /// Whether ``bringBack(to:)`` has something to do.
    func isAhead(of day: Int64) throws(StorageError) -> Bool {
        try database.first("SELECT 1 FROM spending WHERE day > ? LIMIT 1", [.integer(day + Self.nearDays)]) {
            _ in true
        } ?? false
    }

    /// Counts what was spent on days far ahead for a day.
    func bringBack(to day: Int64) throws(StorageError) {
        let ahead = try database.all(
            "SELECT lane, sum(bytes), sum(requests) FROM spending WHERE day > ? GROUP BY lane",
            [.integer(day + Self.nearDays)]
        ) { (lane: $0.text(0), bytes: $0.int64(1), requests: $0.int(2)) }
        try database.run("DELETE FROM spending WHERE day > ?", [.integer(day + Self.nearDays)])
        for row in ahead { try spend(row.bytes, requests: row.requests, of: row.lane, on: day) }
    }

    /// The size and network condition of a lane's oldest entry; nil without one.
    func headNeeds(of lane: String) throws(StorageError) -> (size: Int64, condition: NetworkCondition)? {
        try database.first(
            "SELECT e.size, e.condition FROM lanes l JOIN entries e ON e.id = l.head WHERE l.name = ?",
            [.text(lane)]
        ) { ($0.int64(0), Self.condition($0.int(1))) }
    }

    /// Why lanes wait, by their names.
    func waits() throws(StorageError) -> [String: String] {
        let rows = try database.all("SELECT lane, reason FROM waits") { ($0.text(0), $0.text(1)) }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }

    /// Stores why lanes wait, in the place of what was stored.
    func store(waits: [String: String]) throws(StorageError) {
        try database.run("DELETE FROM waits")
        for (lane, reason) in waits {
            try database.run("INSERT INTO waits VALUES (?, ?)", [.text(lane), .text(reason)])
        }
    }
}
