// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import Storage

/// The outbox on the disk, for one thread; several processes may have it open.
///
/// Another process may replace a damaged database at any time: each access first checks that the open file is
/// still the current one, and prevents a replacement meanwhile.
final class OutboxFile {
    let paths: OutboxPaths
    /// Nil once it is closed.
    private var opened: Opened?
    /// Whether the file at the path is still this one.
    private var identity: FileIdentity
    /// The identity at the last access, successful or not.
    private var accessed: FileIdentity
    /// When this process replaced it, by the monotonic clock in nanoseconds.
    private var replaced: Int64?
    /// Whether it was too large for being checked before its use.
    let isLarge: Bool
    /// Called when a damaged database was replaced.
    var onDamage: (_ aside: String, _ reason: String, _ salvaged: Int) -> Void = { _, _, _ in }
    /// Called when the database was removed in use, and a new one was begun; with a sentence.
    var onLoss: (_ sentence: String) -> Void = { _ in }
    /// When this process has written last, by the monotonic clock in nanoseconds.
    private(set) var written: Int64 = 0
    /// Whether another file is open than before; reading resets it.
    var hasMoved = false

    /// The open files.
    private final class Opened {
        private(set) var database: Database
        var gate: LockFile
        private var reference: FileReference

        init(_ database: Database, at path: String, _ gate: consuming LockFile) {
            self.database = database
            self.gate = gate
            reference = FileReference(path)
        }

        func use(_ database: Database, at path: String) {
            self.database = database
            reference = FileReference(path)
        }

        /// Whether the database was removed, also where another process has begun a new one.
        var isRemoved: Bool { reference.isRemoved }
    }

    /// - Parameter checks: whether a file of up to so many bytes is checked completely; nil for no file.
    init(
        _ folder: String, checks: Int64?, onDamage: @escaping (String, String, Int) -> Void
    ) throws(OutboxError) {
        let paths = OutboxPaths(folder: folder)
        // This thread belongs to the outbox, so the rights are never given back.
        do throws(StorageError) { try paths.rights?.assume() } catch { throw OutboxError(error) }
        try paths.make()
        let gate = try LockFile(paths.gate)
        self.onDamage = onDamage
        let found: Opening
        let database: Database
        do throws(StorageError) {
            found = try Self.openChecked(paths, gate, checks: checks ?? -1, onDamage)
        } catch { throw OutboxError(error) }
        switch found {
        case .sound(let sound, let identity): (database, self.identity) = (sound, identity)
        case .damaged(let which, let reason):
            (database, identity) = try Self.replace(which, paths, gate, reason, onDamage)
        }
        accessed = identity
        isLarge = (DatabaseFile.size(paths.database) ?? 0) > checks ?? DatabaseCheck.largestAtOnce
        self.paths = paths
        opened = Opened(database, at: paths.database, gate)
    }

    /// Closes the files; what is read or written later fails with ``OutboxError/Code/closed``.
    func close() { opened = nil }

    /// Whether writes go to a log first (`PRAGMA journal_mode`).
    var hasLog: Bool { opened?.database.journalMode == "wal" }

    private enum Opening {
        case sound(Database, FileIdentity)
        case damaged(FileIdentity, String)
    }

    private static func openChecked(
        _ paths: OutboxPaths, _ gate: borrowing LockFile, checks largest: Int64,
        _ report: (String, String, Int) -> Void
    ) throws(StorageError) -> Opening {
        try enter(paths, gate, report)
        defer { gate.unlock() }
        do throws(StorageError) {
            let database = try open(paths)
            let isChecked = (DatabaseFile.size(paths.database) ?? 0) <= largest
            let (identity, faults) = (FileIdentity(paths.database), isChecked ? try database.faults() : [])
            return faults.first.map { .damaged(identity, $0) } ?? .sound(database, identity)
        } catch {
            guard error.kind.isDamage else { throw error }
            return .damaged(FileIdentity(paths.database), error.message)
        }
    }

    /// Locks the gate shared, and finishes an exchange first, with which changes would be lost.
    private static func enter(
        _ paths: OutboxPaths, _ gate: borrowing LockFile, _ report: (String, String, Int) -> Void
    ) throws(StorageError) {
        gate.lockShared()
        while paths.isExchangeBegun {
            gate.unlock()
            gate.lockExclusive()
            do throws(StorageError) { try finishExchange(paths, report) } catch {
                gate.unlock()
                throw error
            }
            gate.unlock()
            gate.lockShared()
        }
    }

    /// Finishes an exchange of a process that was killed; the caller holds the gate exclusively.
    private static func finishExchange(
        _ paths: OutboxPaths, _ report: (String, String, Int) -> Void
    ) throws(StorageError) {
        guard paths.isExchangeBegun else { return }
        let (aside, count) = try DatabaseRecovery(paths).finish()
        report(aside, "a process was ended while it replaced a damaged file", count)
    }

    /// Opens the database, or makes a new one; the caller holds the gate.
    ///
    /// - Throws: ``StorageError/Kind/corrupt`` if an existing database has disappeared.
    private static func open(_ paths: OutboxPaths) throws(StorageError) -> Database {
        if let traces = paths.traces { throw StorageError(.corrupt, traces, path: paths.database) }
        return try givingWay(paths) { () throws(StorageError) in
            let database = try Database(paths.database)
            // A short log is overwritten sooner, costs less to sync than a growing one, and fits the reserve.
            try database.execute("PRAGMA wal_autocheckpoint = 250")
            try database.migrate(to: .outbox)
            return database
        }
    }

    /// Runs the work, and again with the reserve released if the disk is full: entries have to be
    /// removed there too, and even opening or reading needs space, for the log's index and the tables of a
    /// newer version.
    private static func givingWay<Value>(
        _ paths: OutboxPaths, _ work: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        do throws(StorageError) {
            return try work()
        } catch {
            guard error.kind.mayWantRoom else { throw error }
            paths.reserve.release()
            return try work()
        }
    }

    /// Replaces a damaged database, unless another process has done so.
    ///
    /// - Parameter damaged: the file that has reported damage. The report is not verified: the quick check
    ///   does not compare indices with their tables, so it may never find the damage that prevents removals.
    private static func replace(
        _ damaged: FileIdentity, _ paths: OutboxPaths, _ gate: borrowing LockFile, _ reason: String,
        _ report: (String, String, Int) -> Void
    ) throws(OutboxError) -> (Database, FileIdentity) {
        gate.lockExclusive()
        defer { gate.unlock() }
        do throws(StorageError) {
            try finishExchange(paths, report)
            if FileIdentity(paths.database) != damaged, let database = try? open(paths),
                (try? database.faults()) == []
            {
                return (database, FileIdentity(paths.database))
            }
            let (aside, salvaged) = try givingWay(paths) { () throws(StorageError) in
                try DatabaseRecovery(paths).run()
            }
            let database = try open(paths)
            report(aside, reason, salvaged)
            return (database, FileIdentity(paths.database))
        } catch {
            throw OutboxError(error)
        }
    }

    /// Replaces the file that a check has found damaged, unless it was replaced meanwhile.
    func foundDamage(_ damaged: FileIdentity, _ reason: String) throws(OutboxError) {
        guard damaged == identity, let opened else { return }
        try replace(damaged, in: opened, reason)
    }

    private func replace(_ damaged: FileIdentity, in opened: Opened, _ reason: String) throws(OutboxError) {
        let (database, new) = try Self.replace(damaged, paths, opened.gate, reason, onDamage)
        opened.use(database, at: paths.database)
        (identity, replaced, hasMoved) = (new, Reactor.now, true)
    }

    /// Runs a body that reads.
    func read<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value {
        try access { (database) throws(StorageError) in
            try Self.givingWay(paths) { () throws(StorageError) in try body(database) }
        }
    }

    /// Runs a body that adds entries, in one transaction; they are on the disk when this returns.
    func add<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value {
        try remakeFolders()
        try paths.reserve.ensure()
        defer { written = Reactor.now }
        return try access { (database) throws(StorageError) in
            try database.transaction { () throws(StorageError) in try body(database) }
        }
    }

    /// Runs a body that changes or removes entries, in one transaction, also on a full disk.
    func write<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value {
        defer { written = Reactor.now }
        return try access { (database) throws(StorageError) in
            do throws(StorageError) {
                return try database.transaction { () throws(StorageError) in try body(database) }
            } catch {
                guard error.kind.mayWantRoom else { throw error }
                paths.reserve.release()
                // Moves the log's content into the file, so that the log starts again.
                try database.checkpoint()
                return try database.transaction { () throws(StorageError) in try body(database) }
            }
        }
    }

    /// A number that changes when another process has changed the database.
    ///
    /// Waits for a process that is writing, whose changes can be seen after that.
    func version() throws(OutboxError) -> Int64 {
        try access { (database) throws(StorageError) in
            try Self.givingWay(paths) { () throws(StorageError) in
                try database.transaction { () throws(StorageError) in try database.dataVersion() }
            }
        }
    }

    /// Compacts the file if more than `spare` bytes and three quarters of it are unused.
    ///
    /// `VACUUM` holds the content in memory meanwhile, so this is done only if there is little of it.
    func compact(spare: Int64) throws(OutboxError) {
        try access { (database) throws(StorageError) in
            let page = try database.integer("PRAGMA page_size")
            let size = page * (try database.integer("PRAGMA page_count"))
            let free = page * (try database.integer("PRAGMA freelist_count"))
            guard free > spare, free / 3 > size - free, size - free <= Self.compactible else { return }
            // The log has grown even if that failed.
            defer { try? database.checkpoint() }
            try database.execute("VACUUM")
        }
    }

    private static let compactible: Int64 = 8 << 20

    /// Fills the reserve again after a full disk, also with the space of the log.
    ///
    /// Without it the next full disk keeps entries from being removed and the database from being opened.
    func restoreReserve() throws(OutboxError) {
        let log = DatabaseFile.size(paths.database + "-wal") ?? 0
        guard paths.reserve.canBeRestored(freeing: log) else { return }
        try access { (database) throws(StorageError) in try database.checkpoint() }
        try paths.reserve.ensure()
    }

    /// The shortest interval between two replacements, in nanoseconds.
    private static let pause: Int64 = 60_000_000_000

    private func access<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value
    {
        guard let opened else { throw OutboxError(.closed, "the outbox was closed") }
        do throws(StorageError) {
            return try attempt(opened, body)
        } catch {
            // Bounds the wear of a disk that damages each new file at once.
            guard error.kind.isDamage, replaced.map({ Reactor.now - $0 >= Self.pause }) ?? true
            else { throw OutboxError(error) }
            try replace(accessed, in: opened, error.message)
        }
        do throws(StorageError) { return try attempt(opened, body) } catch { throw OutboxError(error) }
    }

    /// Makes the folders again, as the start does, where they were removed with the database.
    ///
    /// For new requests only: a folder that is removed at the end, before this is closed, stays removed.
    private func remakeFolders() throws(OutboxError) {
        // A reader may have begun a new database already, so the gate tells, which others lock too.
        guard let opened, !FileIdentity(descriptor: opened.gate.descriptor.number).isSame(as: paths.gate)
        else { return }
        try paths.make()
        opened.gate = try LockFile(paths.gate)
    }

    private func attempt<Value>(
        _ opened: Opened, _ body: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try Self.enter(paths, opened.gate, onDamage)
        defer { opened.gate.unlock() }
        accessed = FileIdentity(paths.database)
        if accessed != identity {
            // Another process that replaces the file holds the gate meanwhile.
            // Also where it was moved away, and where NFS has only renamed what is open.
            let isGone = accessed.isMissing || opened.isRemoved
            opened.use(try Self.open(paths), at: paths.database)
            identity = FileIdentity(paths.database)
            accessed = identity
            hasMoved = true
            if isGone { onLoss("\(paths.database) was taken away with its requests; a new one is begun") }
        }
        return try body(opened.database)
    }
}
