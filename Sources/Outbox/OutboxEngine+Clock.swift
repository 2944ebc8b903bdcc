// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore
import Storage

// Deliveries that the manager holds until the clock is set.
extension OutboxEngine {
    /// A delivery waits for the clock, or does not any more: lists say so, also those of other processes.
    func clockHolds(_ pending: PendingDelivery, _ isHeld: Bool) {
        let (id, origin) = (pending.id, pending.origin)
        guard isHeld != (waitingForClock[id] != nil), !isHeld || inFlight[id] != nil else { return }
        let isFirst = !waitingForClock.values.contains(origin)
        waitingForClock[id] = isHeld ? origin : nil
        let reason = isHeld ? ClockStatus.sentence : nil
        do throws(OutboxError) {
            try file.write { (database) throws(StorageError) in try OutboxTables(database).hold(id, reason) }
        } catch { report(error, .settling) }
        if isHeld, isFirst {
            broadcaster.publish(.held(origin, reason: ClockStatus.sentence, until: nil))
        } else if !isHeld, !waitingForClock.values.contains(origin) {
            broadcaster.publish(.released(origin))
        }
    }
}
