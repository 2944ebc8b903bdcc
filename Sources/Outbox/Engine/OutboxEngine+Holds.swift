// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore
import SessionManager
import Storage

// Requests that wait although their turn has come: for the clock, the internet or a network without a
// portal.
extension OutboxEngine {
    /// The manager holds a delivery for this reason, or, with nil, no longer; false if that is not new.
    ///
    /// Its origin waits with it; lists say so, also those of other processes.
    func held(_ pending: PendingDelivery, _ reason: String?) -> Bool {
        let origin = pending.origin
        let former = machine.hold(of: origin)
        guard machine.held(pending.id, lane: pending.lane, reason) else { return false }
        let now = machine.hold(of: origin)
        guard now != former else { return true }
        do throws(OutboxError) {
            try file.write { (database) throws(StorageError) in
                try OutboxTables(database).hold(origin, now, beside: refusals.record(origin))
            }
        } catch { report(error, .settling) }
        broadcaster.publish(now.map { .held(origin, reason: $0, until: nil) } ?? .released(origin))
        return true
    }

    /// Applies what the probe has found; nil if there is no probe any more.
    func follow(_ internet: InternetFindings?) {
        guard !isClosed, internet != self.internet else { return }
        let former = PlainHolds.reason(self.internet)
        self.internet = internet
        let reason = PlainHolds.reason(internet)
        if reason != former { reportPlain(reason) }
        recall()
        startReady()
    }

    /// Publishes and stores why requests without TLS wait; nil if they do not.
    private func reportPlain(_ reason: String?) {
        do throws(OutboxError) {
            try file.write { (database) throws(StorageError) in try OutboxTables(database).holdPlain(reason) }
        } catch { report(error, .reading) }
        let plain = PlainHolds.everyOrigin
        broadcaster.publish(reason.map { .held(plain, reason: $0, until: nil) } ?? .released(plain))
    }

    /// Cancels held tasks if delivery is paused, the entry gone or replaced, its window closed or one of its
    /// gates held: the next network would send them.
    ///
    /// Downloads too that run: they may take hours, and go on from where they were.
    func recall() {
        let held = inFlight.filter { $0.value.task.isHeld || $0.value.part != nil }
        guard !held.isEmpty else { return }
        do throws(OutboxError) {
            for (id, delivery) in held {
                let waits =
                    machine.isPaused || spent.contains(delivery.lane)
                    || delivery.isPlain && !isRight(delivery.uplink)
                let stays = waits ? false : try maySend(id, delivery)
                if !stays { delivery.work.cancel() }
            }
        } catch { report(error, .reading) }
    }

    /// Whether requests without TLS are still sent over this uplink; nil for the path in use.
    private func isRight(_ uplink: String?) -> Bool {
        guard PlainHolds.mayNotUsePath(internet) else { return true }
        return uplink != nil && uplink == PlainHolds.uplink(internet)
    }

    private func maySend(_ id: OutboxID, _ delivery: InFlightDelivery) throws(OutboxError) -> Bool {
        try file.read { (database) throws(StorageError) in
            let tables = OutboxTables(database)
            if let batch = delivery.batch, try !tables.areWaiting(batch, in: delivery.lane) { return false }
            return try tables.maySend(id, now: WallClock.now)
        }
    }

    /// When the window of a delivery closes that the manager holds, which must not be sent after that.
    func nextClosing(after now: Int64) -> Int64? {
        let closings = inFlight.values.compactMap { delivery -> Int64? in
            guard let window = delivery.window, delivery.task.isHeld || delivery.part != nil else {
                return nil
            }
            return window.opening(at: now, LocalZone.offset)?.end
        }
        return closings.min()
    }

    func isPlainAndLocal(_ pending: PendingDelivery) -> Bool {
        PlainHolds.isPlain(pending.origin) && PlainHolds.mayNotUsePath(internet)
            && !PlainHolds.isBehindEveryUplink(pending.host)
    }
}
