// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionManager
import Storage

// Starting and stopping delivery, which one process does at a time.
extension OutboxEngine {
    func start(_ manager: URLSessionManager) throws(OutboxError) {
        guard !isClosed else { throw OutboxError(.closed, "the outbox was closed") }
        if machine.isRunning {
            guard self.manager !== manager else { return }
            throw OutboxError(.deliveredElsewhere, "another manager of this process delivers already")
        }
        try file.paths.checkDelivery()
        let lock = try acquiredLock()
        // A failure below releases the lock.
        let bodies = bodies
        var (records, last) = ([OriginRefusals.Record](), OutboxID(rawValue: 0))
        try file.write { (database) throws(StorageError) in
            let tables = OutboxTables(database)
            if !file.isLarge { try tables.checkLanes() }
            try tables.fillOrigins()
            try tables.forgetHolds()
            try tables.forgetOpenings()
            try tables.forgetBatches()
            try tables.makeHeldDownloadsDue()
            records = try tables.originRecords()
            last = try tables.lastEntry()
            try bodies.sweep { (name) throws(StorageError) in
                try database.first("SELECT 1 FROM contents WHERE file = ?", [.text(name)]) { _ in true }
                    ?? false
            }
        }
        if file.isLarge { check(.lanes) }
        try readPause()
        refusals = OriginRefusals(configuration.retries, records)
        lastOfOthers = last
        if let reason = PlainHolds.reason(internet) {
            try file.write { (database) throws(StorageError) in try OutboxTables(database).holdPlain(reason) }
        }
        self.lock = consume lock
        self.manager = manager
        _ = machine.started()
        broadcaster.publish(.delivering(true))
        for record in records where record.isStopped {
            broadcaster.publish(
                .held(record.origin, reason: record.reason, until: WallClock.date(record.until)))
        }
        startReady()
        if inFlight.isEmpty { tidy() }
    }

    private func acquiredLock() throws(OutboxError) -> LockFile {
        let lock = try LockFile(file.paths.deliveryLock)
        guard lock.acquire() else {
            let who = lock.holder.map { "process \($0)" } ?? "another process"
            throw OutboxError(
                .deliveredElsewhere, "\(who) delivers from \(file.paths.folder) already",
                advice: "enqueue and list here, and leave the delivery to it")
        }
        return lock
    }

    /// Locks the file that is in place where the locked one was removed; ends the delivery if another process
    /// has locked it first.
    func renewLock() throws(OutboxError) {
        let held: FileIdentity
        switch lock {
        case .some(let lock): held = FileIdentity(descriptor: lock.descriptor.number)
        case .none: return
        }
        guard !held.isSame(as: file.paths.deliveryLock) else { return }
        do throws(OutboxError) { lock = try acquiredLock() } catch {
            if error.code == .deliveredElsewhere { stop() }
            throw error
        }
    }

    /// Cancels the deliveries in flight; the lock is released after the last one.
    func stop() {
        guard machine.stopped() else { return }
        for delivery in inFlight.values { delivery.work.cancel() }
        wake(after: nil)
        if inFlight.isEmpty { endStopping() }
    }

    func endStopping() {
        if lock != nil {
            guard !machine.isRunning, inFlight.isEmpty, outcomes.isEmpty else { return }
            lock = nil
            manager = nil
            broadcaster.publish(.delivering(false))
        }
        for waiter in stopWaiters { waiter.resume() }
        stopWaiters = []
    }

    /// The network is back: entries that failed because of it are due at once.
    func networkIsBack() {
        guard machine.isRunning, !isClosed else { return }
        do throws(OutboxError) {
            try file.write { (database) throws(StorageError) in try OutboxTables(database).makeDue(.network) }
        } catch { report(error, .reading) }
        startReady()
    }
}
