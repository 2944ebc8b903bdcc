// SPDX-License-Identifier: Apache-2.0

import CLinux
import SessionManager
import Storage

// Following a wall clock that is set while requests wait.
extension OutboxTables {
    /// Shifts the times of entries stored since boot by as much as the clock was set meanwhile.
    ///
    /// A device without a battery for its clock starts in 1970, or at the time it was switched off, and gets
    /// the time from the network: just when its requests could be sent, they would all expire. Entries from
    /// before the boot stay as they are, since the time without power is unknown; so do times more than a
    /// year after they were stored: such a one is a date and no length of time. Gates that were held during
    /// this boot follow too. Windows are of the new clock: when they open is looked up anew.
    func follow(_ clock: ClockReading) throws(StorageError) {
        guard !clock.boot.isEmpty else { return }
        let stored = try database.first("SELECT boot, start, first FROM clock") {
            (boot: $0.text(0), start: $0.int64(1), first: $0.int64(2))
        }
        guard let stored, stored.boot == clock.boot else {
            return try database.query(
                """
                INSERT OR REPLACE INTO clock VALUES
                (1, ?, ?, (SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'entries'))
                """, [.text(clock.boot), .integer(clock.start)]
            ) { _ in true }
        }
        let step = clock.start - stored.start
        guard abs(step) >= ClockReading.slack else { return }
        let values: [SQLValue] = [.integer(step), .integer(stored.first)]
        try database.run(
            """
            UPDATE plans SET planned = CASE WHEN planned - (SELECT created FROM entries e WHERE e.id = plans.id) <= \(Self.year)
            THEN planned + ?1 ELSE planned END WHERE planned IS NOT NULL AND id >= ?2
            """, values)
        try database.run(
            """
            UPDATE entries SET created = created + ?1,
            next = CASE WHEN next = 0 OR next - created > \(Self.year) THEN next ELSE max(next + ?1, 1) END,
            expires = CASE WHEN expires - created <= \(Self.year) THEN expires + ?1 ELSE expires END WHERE id >= ?2
            """, values)
        try database.run("UPDATE lanes SET next = max(next + ?1, 1) WHERE next > 0 AND head >= ?2", values)
        try database.run(
            """
            UPDATE gates SET since = since + ?1,
            until = CASE WHEN until - since <= \(Self.year) THEN until + ?1 ELSE until END WHERE boot = ?2
            """, [.integer(step), .text(clock.boot)])
        try forgetOpenings()
        try database.run("UPDATE clock SET start = ?", [.integer(clock.start)])
    }

    /// In milliseconds.
    private static let year: Int64 = 366 * 86_400_000
}

/// The wall clock and the boot clock at one moment.
struct ClockReading: Sendable, Equatable {
    /// The device's clock, in milliseconds since 1970.
    var wall: Int64
    /// The time since boot including suspension (CLOCK_BOOTTIME), in milliseconds.
    var elapsed: Int64
    /// The boot that `elapsed` counts from.
    var boot: String

    static var now: ClockReading {
        ClockReading(
            wall: WallClock.now, elapsed: clinux_boot_nanoseconds() / 1_000_000, boot: BootIdentifier.current)
    }

    /// The boot time by the device's clock; it changes only when the clock is set.
    var start: Int64 { wall - elapsed }

    /// Differences below this, in milliseconds, come from reading one clock after the other.
    static let slack: Int64 = 1_000
}
