// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import ServiceCore
import SessionCore
package import Storage

// Queries.
extension HistoryDatabase {
    /// The number of stored changes.
    package func count() throws(StorageError) -> Int64 {
        try database.integer("SELECT count(*) FROM changes")
    }

    /// The time line of a period; `running` is the current run, nil without a service.
    package func timeline(from: WallTime, to: WallTime, running: Int64? = nil) throws(StorageError)
        -> HistoryTimeline
    {
        guard let start = try start(from) else {
            return HistoryTimeline(runs: [], records: [], from: from, to: to)
        }
        let records = try database.all(
            "SELECT \(Self.columns) FROM changes WHERE run >= ? AND id >= ? ORDER BY id", start.values
        ) { Self.record($0) }
        return HistoryTimeline(
            runs: try runs(since: from, from: start.run), records: try records + lines(start), from: from,
            to: to, running: running)
    }

    /// The newest spans of a period, in bounded memory: changes of the path below one status are skipped, and
    /// the time before the first span is a gap.
    ///
    /// - Parameter limit: the most spans that are no gaps, and the most changes of the internet; 1 or more.
    package func timeline(newest limit: Int, from: WallTime, to: WallTime, running: Int64? = nil)
        throws(StorageError) -> HistoryTimeline
    {
        guard var start = try start(from) else {
            return HistoryTimeline(runs: [], records: [], from: from, to: to)
        }
        start.id = try beginning(ofNewest: limit, start)
        var records: [HistoryRecord] = []
        var last: Stretch?
        try database.query(
            "SELECT \(Self.columns) FROM changes WHERE run >= ? AND id >= ? ORDER BY id", start.values
        ) { row in
            let stretch = Stretch(run: row.int64(1), status: row.int64(5))
            if stretch != last { records.append(Self.record(row)) }
            last = stretch
            return true
        }
        return HistoryTimeline(
            runs: try runs(since: from, from: start.run), records: try records + lines(start, newest: limit),
            from: from, to: to, running: running)
    }

    /// The run that started last.
    package func lastRun() throws(StorageError) -> HistoryRun? {
        try database.first("SELECT \(Self.runColumns) FROM runs ORDER BY id DESC LIMIT 1", [], Self.run)
    }

    // MARK: The start of a period

    /// Consecutive changes of one run with the same status.
    private struct Stretch: Equatable {
        var run: Int64
        var status: Int64
    }

    /// The first run of a period, and its last change before the period.
    private struct Start {
        var run: Int64
        var id: Int64
        var values: [SQLValue] { [.integer(run), .integer(id)] }
    }

    /// Finds the start of a period: whole runs are read, as clocks may be set, and the time line cuts them.
    private func start(_ moment: WallTime) throws(StorageError) -> Start? {
        guard let run = try runs(since: moment, from: 0, limit: 1).first else { return nil }
        // The wall clock may have been set during the run, so the time line is laid out by the boot clock.
        let boot = moment.moved(by: run.seenBoot &- run.seen.nanoseconds).nanoseconds
        let id = try database.integer(
            "SELECT id FROM changes WHERE run = ? AND boot <= ? ORDER BY id DESC LIMIT 1",
            [.integer(run.id), .integer(boot)])
        return Start(run: run.id, id: id)
    }

    /// The first change of the newest stretches, counted from the end.
    private func beginning(ofNewest limit: Int, _ start: Start) throws(StorageError) -> Int64 {
        var (id, count) = (start.id, 0)
        var last: Stretch?
        try database.query(
            "SELECT id, run, status FROM changes WHERE run >= ? AND id >= ? ORDER BY id DESC", start.values
        ) { row in
            let stretch = Stretch(run: row.int64(1), status: row.int64(2))
            if stretch != last { count += 1 }
            last = stretch
            guard count <= limit else { return false }
            id = row.int64(0)
            return true
        }
        return id
    }

    private func runs(since: WallTime, from first: Int64, limit: Int64 = -1) throws(StorageError)
        -> [HistoryRun]
    {
        // The last stretch is always included, since it may continue.
        try database.all(
            """
            SELECT \(Self.runColumns) FROM runs
            WHERE id >= ? AND (seen >= ? OR id = (SELECT max(id) FROM runs)) ORDER BY id LIMIT ?
            """, [.integer(first), .integer(since.nanoseconds), .integer(limit)], Self.run)
    }

    /// The internet's changes from a run on; none in a file that an older version keeps.
    private func lines(_ start: Start, newest limit: Int = -1) throws(StorageError) -> [HistoryRecord] {
        guard try database.integer("PRAGMA user_version") >= 3 else { return [] }
        let newest = try database.all(
            "SELECT id, run, wall, boot, interface, state, reason FROM lines WHERE run >= ? ORDER BY id DESC LIMIT ?",
            [.integer(start.run), .integer(Int64(limit))]
        ) { row in
            HistoryRecord(
                InternetState(rawValue: row.text(5)) ?? .unknown, behind: row.optionalText(4),
                reason: row.text(6), id: row.int64(0), run: row.int64(1),
                wall: WallTime(nanoseconds: row.int64(2)), boot: row.int64(3))
        }
        return newest.reversed()
    }

    // MARK: Rows

    private static let columns =
        "id, run, wall, boot, is_status, status, online, interface, medium, generation, reason, code"
    private static let runColumns = "id, began, seen, seen_boot, ended"

    private static func run(_ row: Statement) -> HistoryRun {
        HistoryRun(
            id: row.int64(0), began: WallTime(nanoseconds: row.int64(1)),
            seen: WallTime(nanoseconds: row.int64(2)), seenBoot: row.int64(3), hasEnded: row.bool(4))
    }

    private static func record(_ row: Statement) -> HistoryRecord {
        HistoryRecord(
            id: row.int64(0), run: row.int64(1), wall: WallTime(nanoseconds: row.int64(2)),
            boot: row.int64(3),
            isStatus: row.bool(4), status: ReachabilityStatus(rawValue: row.int(5)) ?? .unknown,
            isOnline: row.bool(6), interface: row.optionalText(7), medium: row.optionalText(8),
            generation: UInt64(bitPattern: row.int64(9)), reason: row.text(10), code: row.text(11))
    }
}
