// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReachabilityCore
import ServiceCore
import SessionCore
import Storage

/// The history's work on the thread for files: opens the database, stores changes, and removes old ones.
final class HistoryWriter {
    struct Outcome: Sendable {
        /// The failure; nil for success.
        var problem: String?
        /// Whether the changes are on the disk, even if a later step failed.
        var hasStored = false
        /// Further messages for the log.
        var notes: [String] = []
    }

    /// The number of changes between two removals of old ones.
    private static let pruneInterval = 256

    private let directory: StateDirectory
    private let path: String
    private let settings: ServiceConfiguration.History
    private var database: HistoryDatabase?
    /// The file that is open.
    private var identity: FileIdentity?
    private var lock: HistoryLock?
    private var run: Int64 = 0
    private var sincePrune = pruneInterval
    /// Until then nothing is removed for its age, by the monotonic clock; nil if ages are reliable.
    private var doubtEnd: Int64?
    /// The time after which a clock that is wrong at the start should have been set.
    private static let doubt: Int64 = 3_600_000_000_000
    /// Whether the file was found damaged in use.
    private var isSuspect = false
    /// What holds now: a run that begins later than the service begins with it.
    private var current: [HistoryRecord] = []
    /// Whether a change of this run was stored.
    private var hasBegun = false

    init(in directory: StateDirectory, _ settings: ServiceConfiguration.History) {
        self.directory = directory
        path = directory.path + "/" + HistoryDatabase.fileName
        self.settings = settings
    }

    /// Stores changes; without any a sign of life.
    func write(_ records: [HistoryRecord], at wall: WallTime, boot: Int64, isEnd: Bool) -> Outcome {
        var outcome = Outcome()
        do throws(StateDirectory.Problem) { try directory.prepare() } catch {
            outcome.problem = error.description
            return outcome
        }
        do throws(StorageError) {
            try store(records, at: wall, boot: boot, isEnd: isEnd, &outcome)
        } catch {
            outcome.problem = error.description
            // A damaged file is replaced by a new one; other failures are retried with the next change.
            if error.kind.isDamage { (database, isSuspect) = (nil, true) }
        }
        return outcome
    }

    /// The periods of one status, the newest last; the times between them are gaps.
    func periods(from: WallTime, to: WallTime, limit: Int) -> VarlinkReply {
        // What cannot be written may still be read; then no run is under way in the file.
        guard let readable = database ?? (try? HistoryDatabase(reading: path)) else {
            return .unavailable("the history cannot be written at this time")
        }
        let timeline: HistoryTimeline
        do throws(StorageError) {
            timeline = try readable.timeline(
                newest: limit, from: from, to: to, running: database == nil ? nil : run)
        } catch {
            return .unavailable(error.description)
        }
        let lines = timeline.lines.flatMap { Self.periods($0.timeline) }
        return VarlinkReply([
            "periods": .array(Self.periods(timeline).suffix(limit)), "lines": .array(lines.suffix(limit)),
        ])
    }

    private static func periods(_ timeline: HistoryTimeline) -> [JSONValue] {
        timeline.spans.compactMap { span in
            guard let record = span.record else { return nil }
            var period: [String: JSONValue] = [
                "since": .string(span.from.text),
                "until": span.to == timeline.to ? .null : .string(span.to.text),
                "interface": record.interface.map { .string($0) } ?? .null, "reason": .string(record.reason),
            ]
            if let internet = record.internet {
                period["internet"] = .string(internet.rawValue)
            } else {
                period["status"] = .string(record.status.description)
            }
            return .object(period)
        }
    }

    private func store(
        _ records: [HistoryRecord], at wall: WallTime, boot: Int64, isEnd: Bool, _ outcome: inout Outcome
    ) throws(StorageError) {
        let database = try open(at: records.first?.wall ?? wall, boot: records.first?.boot ?? boot, &outcome)
        try database.append(
            (hasBegun ? records : current + records).map { record in
                var record = record
                record.run = run
                return record
            })
        outcome.hasStored = true
        hasBegun = true
        for record in records {
            current.removeAll {
                ($0.internet == nil) == (record.internet == nil)
                    && (record.internet == nil || $0.interface == record.interface)
            }
            if record.internet != .unknown { current.append(record) }
        }
        if records.isEmpty || isEnd { try database.beat(run, at: wall, boot: boot, isEnd: isEnd) }
        sincePrune += records.count
        if let doubtEnd, boot >= doubtEnd { (self.doubtEnd, sincePrune) = (nil, Self.pruneInterval) }
        if sincePrune >= Self.pruneInterval {
            sincePrune = 0
            let limit = oldest(at: wall)
            try database.prune(
                before: doubtEnd == nil ? limit : .init(nanoseconds: .min), keeping: settings.entries)
        }
        if isEnd {
            self.database = nil
            lock = nil
        }
    }

    private func oldest(at wall: WallTime) -> WallTime { wall.moved(by: -settings.keep.inNanoseconds) }

    private func open(at wall: WallTime, boot: Int64, _ outcome: inout Outcome) throws(StorageError)
        -> HistoryDatabase
    {
        if let database {
            guard FileIdentity(path) != identity else { return database }
            // The folder was emptied or replaced; no reader sees the former file.
            outcome.notes.append("the file was taken away; a new one is begun")
            self.database = nil
            lock = nil
        }
        if lock == nil { lock = HistoryLock(beside: path) }
        let new = try HistoryDatabase(path, isSuspect: isSuspect)
        isSuspect = false
        if let aside = new.setAside {
            outcome.notes.append("the file was damaged; it is kept as \(aside), and a new one was begun")
        }
        // All changes would be removed: the machine was off for long, or its clock is wrong and will be set.
        let last = try new.lastRun()?.seen
        doubtEnd = last.map { $0 < oldest(at: wall) } == true ? boot &+ Self.doubt : nil
        run = try new.beginRun(at: wall, boot: boot)
        (database, identity, hasBegun) = (new, FileIdentity(path), false)
        return new
    }
}

/// Whether a service writes a history: a lock beside the file (flock(2)), which ends with the process.
package struct HistoryLock: ~Copyable {
    private let descriptor: Int32

    /// Acquires the lock until the value is released; nil if it is held, or the file cannot be made.
    package init?(beside database: String) {
        descriptor = PrivateFile.openOrMake(database + ".lock")
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Whether a process holds the lock.
    package static func isHeld(beside database: String) -> Bool {
        let descriptor = PrivateFile.openFile(database + ".lock", O_RDONLY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
