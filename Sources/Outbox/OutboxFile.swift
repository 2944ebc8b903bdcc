// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import OutboxCore
import Storage

/// The outbox on the disk, for one thread; several processes may have it open.
///
/// A damaged database is replaced under everybody's feet, so each access first looks whether the file is still the one that is open, and
/// each writing one keeps it from being replaced meanwhile: else it would go to a file that nobody reads any more.
final class OutboxFile {
    let places: OutboxPlaces
    private let gate: LockFile
    private(set) var database: Database
    /// Tells whether the file at the path is still this one.
    private var identity: FileIdentity
    /// That of the last access, whether it went well or not.
    private var accessed: FileIdentity
    /// When this process has replaced it, by the monotonic clock in nanoseconds.
    private var replaced: Int64?
    /// Called when a damaged database was replaced.
    var onDamage: (_ aside: String, _ reason: String, _ salvaged: Int) -> Void = { _, _, _ in }
    /// Whether another file is open than before; reset by whoever looks.
    var hasMoved = false

    init(
        _ folder: String, checks: Bool, onDamage: @escaping (String, String, Int) -> Void
    ) throws(OutboxError) {
        let places = OutboxPlaces(folder: folder)
        // This thread is the outbox's own, so the rights need not be given back.
        do throws(StorageError) { try places.rights?.assume() } catch { throw OutboxError(error) }
        try places.make()
        let gate = try LockFile(places.gate)
        self.onDamage = onDamage
        let found: Opening
        do throws(StorageError) {
            found = try Self.openChecked(places, gate, checks: checks, onDamage)
        } catch { throw OutboxError(error) }
        switch found {
        case .sound(let database, let identity): (self.database, self.identity) = (database, identity)
        case .damaged(let which, let reason):
            (database, identity) = try Self.replace(which, places, gate, reason, onDamage)
        }
        accessed = identity
        self.places = places
        self.gate = consume gate
    }

    private enum Opening {
        case sound(Database, FileIdentity)
        case damaged(FileIdentity, String)
    }

    private static func openChecked(
        _ places: OutboxPlaces, _ gate: borrowing LockFile, checks: Bool,
        _ tell: (String, String, Int) -> Void
    ) throws(StorageError) -> Opening {
        try enter(places, gate, tell)
        defer { gate.unlock() }
        do throws(StorageError) {
            let database = try open(places)
            let (identity, faults) = (FileIdentity(places.database), checks ? try database.faults() : [])
            return faults.first.map { .damaged(identity, $0) } ?? .sound(database, identity)
        } catch {
            guard error.kind.isDamage else { throw error }
            return .damaged(FileIdentity(places.database), error.message)
        }
    }

    /// Takes the gate with others, when no exchange is half done: what was written into the damaged database then would be lost with it.
    private static func enter(
        _ places: OutboxPlaces, _ gate: borrowing LockFile, _ tell: (String, String, Int) -> Void
    ) throws(StorageError) {
        gate.lockShared()
        while places.isExchangeBegun {
            gate.unlock()
            gate.lockExclusive()
            do throws(StorageError) { try finishExchange(places, tell) } catch {
                gate.unlock()
                throw error
            }
            gate.unlock()
            gate.lockShared()
        }
    }

    /// Finishes an exchange that a process began which was killed; the caller holds the gate alone.
    private static func finishExchange(
        _ places: OutboxPlaces, _ tell: (String, String, Int) -> Void
    ) throws(StorageError) {
        guard places.isExchangeBegun else { return }
        let (aside, count) = try Salvage(places).finish()
        tell(aside, "a process was ended while it replaced a damaged file", count)
    }

    /// Opens what is there, or makes a new one; the caller holds the gate.
    ///
    /// - Throws: ``StorageError/Kind/corrupt`` where what was there has gone.
    private static func open(_ places: OutboxPlaces) throws(StorageError) -> Database {
        if let traces = places.traces { throw StorageError(.corrupt, traces, path: places.database) }
        return try givingWay(places) { () throws(StorageError) in
            let database = try Database(places.database)
            // A short log: it is overwritten in place sooner, which costs less to sync than growing, and fits into the reserve.
            try database.execute("PRAGMA wal_autocheckpoint = 250")
            try database.migrate(to: .outbox)
            return database
        }
    }

    /// Does the work, and once more on a full disk, in the room kept back: what waits has to be able to leave there as well, and even to
    /// open it or to read takes some, for the log's index and the tables of a newer version.
    private static func givingWay<Value>(
        _ places: OutboxPlaces, _ work: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        do throws(StorageError) {
            return try work()
        } catch {
            guard error.kind.mayWantRoom else { throw error }
            places.reserve.release()
            return try work()
        }
    }

    /// Replaces a damaged database, unless somebody else has done so meanwhile.
    ///
    /// - Parameter damaged: the file that has reported damage. No check is asked whether it is right: the one that is quick does not compare
    ///   indices with their tables, so it may find nothing, for ever, in a file that nothing can be removed from.
    private static func replace(
        _ damaged: FileIdentity, _ places: OutboxPlaces, _ gate: borrowing LockFile, _ reason: String,
        _ tell: (String, String, Int) -> Void
    ) throws(OutboxError) -> (Database, FileIdentity) {
        gate.lockExclusive()
        defer { gate.unlock() }
        do throws(StorageError) {
            try finishExchange(places, tell)
            if FileIdentity(places.database) != damaged, let database = try? open(places),
                (try? database.faults()) == []
            {
                return (database, FileIdentity(places.database))
            }
            let (aside, salvaged) = try givingWay(places) { () throws(StorageError) in
                try Salvage(places).run()
            }
            let database = try open(places)
            tell(aside, reason, salvaged)
            return (database, FileIdentity(places.database))
        } catch {
            throw OutboxError(error)
        }
    }

    /// Runs what reads.
    func read<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value {
        try access { (database) throws(StorageError) in
            try Self.givingWay(places) { () throws(StorageError) in try body(database) }
        }
    }

    /// Runs what takes something in, in one transaction: it is on the disk when this returns.
    func add<Value>(_ body: (Database) throws(StorageError) -> Value) throws(OutboxError) -> Value {
        try places.reserve.ensure()
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
                places.reserve.release()
                // What the log holds goes into the file, so that the log begins anew.
                try database.checkpoint()
                return try database.transaction { () throws(StorageError) in try body(database) }
            }
        }
    }

    /// Makes the file smaller where more than `spare` bytes and three quarters of it are free.
    ///
    /// SQLite writes what is left anew, in one transaction (`VACUUM`), and keeps it in memory meanwhile: so only where that is little.
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
            (database, identity) = try Self.replace(accessed, places, gate, error.message, onDamage)
            replaced = Reactor.now
            hasMoved = true
        }
        do throws(StorageError) { return try attempt(body) } catch { throw OutboxError(error) }
    }

    private func attempt<Value>(_ body: (Database) throws(StorageError) -> Value) throws(StorageError)
        -> Value
    {
        try Self.enter(places, gate, onDamage)
        defer { gate.unlock() }
        accessed = FileIdentity(places.database)
        if accessed != identity {
            database = try Self.open(places)
            identity = FileIdentity(places.database)
            accessed = identity
            hasMoved = true
        }
        return try body(database)
    }
}
