// SPDX-License-Identifier: Apache-2.0

import Storage

// Entries that fetch files.
extension OutboxTables {
    /// The columns of ``download(_:at:)``, of `downloads d`.
    static let downloadColumns =
        "d.path, d.part, d.sha256, d.mirrors, d.mode, d.user, d.team, d.struck, d.total, d.placed, d.hold"
    /// The place of `d.hold` among them.
    static let holdColumn = 10

    /// The download in a row whose ``downloadColumns`` begin at a column; nil without one.
    static func download(_ row: Statement, at column: Int) -> StoredDownload? {
        guard let path = row.optionalText(column) else { return nil }
        return StoredDownload(
            path: path, part: row.text(column + 1), sha256: row.optionalText(column + 2),
            mirrors: row.text(column + 3), mode: row.int64(column + 4), user: row.optionalInt64(column + 5),
            group: row.optionalInt64(column + 6), struck: row.int64(column + 7),
            total: row.optionalInt64(column + 8), placed: row.optionalInt64(column + 9))
    }

    func store(_ download: StoredDownload, of id: Int64) throws(StorageError) {
        try database.run(
            """
            INSERT INTO downloads (id, path, part, sha256, mirrors, mode, user, team)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(id), .text(download.path), .text(download.part), SQLValue(download.sha256),
                .text(download.mirrors.joined(separator: "\n")), .integer(Int64(download.mode)),
                SQLValue(download.owner.map { Int64($0.user) }),
                SQLValue(download.owner.map { Int64($0.group) }),
            ])
    }

    func download(_ id: OutboxID) throws(StorageError) -> StoredDownload? {
        try database.first(
            "SELECT \(Self.downloadColumns) FROM downloads d WHERE d.id = ?", [.integer(id.rawValue)]
        ) { Self.download($0, at: 0) } ?? nil
    }

    /// Records what an attempt has brought; returns why the entry waited before it.
    @discardableResult
    func record(_ progress: DownloadProgress, of id: OutboxID) throws(StorageError) -> String? {
        let former = try database.first(
            "SELECT hold FROM downloads WHERE id = ?", [.integer(id.rawValue)]
        ) { $0.optionalText(0) }
        try database.run(
            "UPDATE downloads SET struck = ?, total = ?, hold = ?, placed = coalesce(?, placed) WHERE id = ?",
            [
                .integer(progress.struck), SQLValue(progress.total), SQLValue(progress.hold),
                SQLValue(progress.placed), .integer(id.rawValue),
            ])
        return former ?? nil
    }

    /// Lets an entry wait that has not failed; false if it does not wait any more.
    func hold(_ id: OutboxID, lane: String, until next: Int64) throws(StorageError) -> Bool {
        let count = try database.run(
            "UPDATE entries SET next = ? WHERE id = ? AND state = 0",
            [.integer(next), .integer(id.rawValue)])
        if count > 0 { try refresh(lane: lane) }
        return count > 0
    }

    /// What waited for room, or for its program to be told, is tried at once by a process that begins.
    func makeHeldDownloadsDue() throws(StorageError) {
        let lanes = try database.all(
            """
            UPDATE entries SET next = 0 WHERE state = 0 AND next > 0
            AND id IN (SELECT id FROM downloads WHERE hold IS NOT NULL) RETURNING lane
            """
        ) { $0.text(0) }
        for lane in Set(lanes) { try refresh(lane: lane) }
    }

    /// The files of an entry's download are to be removed; it may fetch anew into others.
    func abandonPart(of id: OutboxID) throws(StorageError) {
        let number = SQLValue.integer(id.rawValue)
        let count = try database.run(
            """
            INSERT OR IGNORE INTO leftovers SELECT part, path, user, team FROM downloads
            WHERE id = ? AND placed IS NULL
            """, [number])
        guard count > 0 else { return }
        try database.run(
            "UPDATE downloads SET part = ?, struck = 0, total = NULL, hold = NULL WHERE id = ?",
            [.text(StoredDownload.newPart()), number])
    }

    /// The next one of periodic work fetches the same.
    func copyDownload(of id: OutboxID, to other: Int64) throws(StorageError) {
        guard var download = try download(id) else { return }
        download.part = StoredDownload.newPart()
        try store(download, of: other)
    }

    /// What was fetched of an entry that has left: the name of the part, and the path beside which it lies.
    typealias Leftover = (part: String, path: String, owner: FileOwner?)

    /// Files to be removed whose entries have left, the first of them.
    func leftovers() throws(StorageError) -> [Leftover] {
        try database.all("SELECT part, path, user, team FROM leftovers LIMIT 256") { row in
            let (user, team) = (row.optionalInt64(2), row.optionalInt64(3))
            let owner = user.flatMap { user in
                team.map { FileOwner(user: UInt32(clamping: user), group: UInt32(clamping: $0)) }
            }
            return (row.text(0), row.text(1), owner)
        }
    }

    func forget(leftover part: String) throws(StorageError) {
        try database.run("DELETE FROM leftovers WHERE part = ?", [.text(part)])
    }
}
