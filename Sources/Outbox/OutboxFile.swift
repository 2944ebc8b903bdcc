// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Storage

/// The outbox on the disk, for one thread; several processes may have it open.
///
/// A damaged database is replaced under everybody's feet, so each access first looks whether the file is
/// still the one that is open, and each writing one keeps it from being replaced meanwhile: else it would go
/// to a file that is not read any more.
final class OutboxFile {
    let paths: OutboxPaths
    private let gate: LockFile
    private(set) var database: Database
    /// Whether the file at the path is still this one.
    private var identity: FileIdentity
    /// That of the last access, whether it went well or not.
    private var accessed: FileIdentity
    /// When this process has replaced it, by the monotonic clock in nanoseconds.
    private var replaced: Int64?
    /// Called when a damaged database was replaced.
    var onDamage: (_ aside: String, _ reason: String, _ salvaged: Int) -> Void = { _, _, _ in }
    /// Whether another file is open than before; reading resets it.
    var hasMoved = false

    init(
        _ folder: String, checks: Bool, onDamage: @escaping (String, String, Int) -> Void
    ) throws(OutboxError) {
        let paths = OutboxPaths(folder: folder)
        // This thread is the outbox's own, so the rights need not be given back.
        do throws(StorageError) { try paths.rights?.assume() } catch { throw OutboxError(error) }
        try paths.make()
        let gate = try LockFile(paths.gate)
        self.onDamage = onDamage
        let found: Opening
        do throws(StorageError) {
            found = try Self.openChecked(paths, gate, checks: checks, onDamage)
        } catch { throw OutboxError(error) }
        switch found {
        case .sound(let database, let identity): (self.database, self.identity) = (database, identity)
        case .damaged(let which, let reason):
            (database, identity) = try Self.replace(which, paths, gate, reason, onDamage)
        }
        accessed = identity
        self.paths = paths
        self.gate = consume gate
    }

    private enum Opening {
        case sound(Database, FileIdentity)
        case damaged(FileIdentity, String)
    }

    private static func openChecked(
        _ paths: OutboxPaths, _ gate: borrowing LockFile, checks: Bool,
        _ report: (String, String, Int) -> Void
    ) throws(StorageError) -> Opening {
        try enter(paths, gate, report)
        defer { gate.unlock() }
        do throws(StorageError) {
            let database = try open(paths)
            let (identity, faults) = (FileIdentity(paths.database), checks ? try database.faults() : [])
            return faults.first.map { .damaged(identity, $0) } ?? .sound(database, identity)
        } catch {
            guard error.kind.isDamage else { throw error }
            return .damaged(FileIdentity(paths.database), error.message)
        }
    }

    /// Takes the gate with others, when no exchange is half done: what was written into the damaged database
    /// then would be lost with it.
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

    /// Finishes an exchange that a process began which was killed; the caller holds the gate alone.
    private static func finishExchange(
        _ paths: OutboxPaths, _ report: (String, String, Int) -> Void
    ) throws(StorageError) {
        guard paths.isExchangeBegun else { return }
        let (aside, count) = try DatabaseRecovery(paths).finish()
        report(aside, "a process was ended while it replaced a damaged file", count)
    }

    /// Opens what is there, or makes a new one; the caller holds the gate.
    ///
    /// - Throws: ``StorageError/Kind/corrupt`` where what was there has gone.
    private static func open(_ paths: OutboxPaths) throws(StorageError) -> Database {
        if let traces = paths.traces { throw StorageError(.corrupt, traces, path: paths.database) }
        return try givingWay(paths) { () throws(StorageError) in
            let database = try Database(paths.database)
            // A short log: it is overwritten in place sooner, which costs less to sync than growing, and fits
            // into the reserve.
            try database.execute("PRAGMA wal_autocheckpoint = 250")
            try database.migrate(to: .outbox)
            return database
        }
    }

    /// Does the work, and once more on a full disk, in the room kept back: what waits has to be able to leave
    /// there as well, and even to open it or to read takes some, for the log's index and the tables of a
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
    /// - Parameter damaged: the file that has reported damage. No check is asked whether it is right: the one
    ///   that is quick does not compare indices with their tables, so it may find nothing, for ever, in a
    ///   file that nothing can be removed from.
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

    /// Runs what reads.
    func read<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value {
        try access { (database) throws(StorageError) in
            try Self.givingWay(paths) { () throws(StorageError) in try body(database) }
        }
    }

    /// Runs what takes something in, in one transaction: it is on the disk when this returns.
    func add<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value {
        try paths.reserve.ensure()
        return try access { (database) throws(StorageError) in
            try database.transaction { () throws(StorageError) in try body(database) }
        }
    }

    /// Runs what changes or removes, in one transaction, also on a full disk.
    func write<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value {
        try access { (database) throws(StorageError) in
            do throws(StorageError) {
                return try database.transaction { () throws(StorageError) in try body(database) }
            } catch {
                guard error.kind.mayWantRoom else { throw error }
                paths.reserve.release()
                // What the log holds goes into the file, so that the log begins anew.
                try database.checkpoint()
                return try database.transaction { () throws(StorageError) in try body(database) }
            }
        }
    }

    /// Makes the file smaller where more than `spare` bytes and three quarters of it are free.
    ///
    /// SQLite writes what is left anew, in one transaction (`VACUUM`), and keeps it in memory meanwhile: so
    /// only where that is little.
    func compact(spare: Int64) throws(OutboxError) {
        try access { (database) throws(StorageError) in
            let page = try database.integer("PRAGMA page_size")
            let size = page * (try database.integer("PRAGMA page_count"))
            let free = page * (try database.integer("PRAGMA freelist_count"))
            guard free > spare, free / 3 > size - free, size - free <= Self.compactible else { return }
            // Whether that worked or not, the log has grown.
            defer { try? database.checkpoint() }
            try database.execute("VACUUM")
        }
    }

    private static let compactible: Int64 = 8 << 20

    /// So long a replaced file is not replaced again, in nanoseconds.
    private static let pause: Int64 = 60_000_000_000

    private func access<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value
    {
        do throws(StorageError) {
            return try attempt(body)
        } catch {
            // A disk on which new files are damaged at once is not to be worn out by that.
            guard error.kind.isDamage, replaced.map({ Reactor.now - $0 >= Self.pause }) ?? true
            else { throw OutboxError(error) }
            (database, identity) = try Self.replace(accessed, paths, gate, error.message, onDamage)
            replaced = Reactor.now
            hasMoved = true
        }
        do throws(StorageError) { return try attempt(body) } catch { throw OutboxError(error) }
    }

    private func attempt<Value>(_ body: (Database) throws(StorageError) -> Value) throws(StorageError)
        -> Value
    {
        try Self.enter(paths, gate, onDamage)
        defer { gate.unlock() }
        accessed = FileIdentity(paths.database)
        if accessed != identity {
            database = try Self.open(paths)
            identity = FileIdentity(paths.database)
            accessed = identity
            hasMoved = true
        }
        return try body(database)
    }
}
