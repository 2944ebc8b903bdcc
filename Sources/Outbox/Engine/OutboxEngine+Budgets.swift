// SPDX-License-Identifier: Apache-2.0

import Reachability
import SessionCore
import Storage

/// The cost of the path over which requests are sent.
struct CarryingPath: Sendable, Equatable {
    var interface: String?
    var isExpensive: Bool

    /// nil for none.
    init?(_ path: ReachabilityPath) {
        guard path.isOnline else { return nil }
        (interface, isExpensive) = (path.interface, path.isExpensive)
    }
}

// What lanes may spend on expensive paths.
extension OutboxEngine {
    /// Whether what is sent now costs.
    var isExpensive: Bool { path?.isExpensive ?? false }

    /// Whether an exchange went over an expensive path.
    ///
    /// - Parameters:
    ///   - address: this machine's address in it; nil where no connection came about.
    ///   - left: whether the path in use was expensive when the exchange began.
    func wasExpensive(_ address: String?, left: Bool) -> Bool {
        guard let address else { return left }
        let names = LocalInterfaces.holding(address)
        if let path, let interface = path.interface, names.contains(interface) { return path.isExpensive }
        let uplink = internet?.uplinks.first { names.contains($0.interface) }
        return uplink?.traits.isExpensive ?? left
    }

    /// Looks which lanes have spent what they may; returns when the next day begins, if one waits for it.
    func checkBudgets(now: Int64) throws(OutboxError) -> Int64? {
        guard !configuration.budgets.isEmpty else { return nil }
        LocalZone.refresh()
        let day = LocalDay.number(at: now, LocalZone.offset)
        let (budgets, isExpensive) = (configuration.budgets, isExpensive)
        var reasons: [String: String] = [:]
        var (isAhead, stored): (Bool, [String: String]) = (false, [:])
        try file.read { (database) throws(StorageError) in
            let tables = OutboxTables(database)
            isAhead = try tables.isAhead(of: day)
            stored = try tables.waits()
            for (lane, budget) in budgets {
                guard let head = try tables.headNeeds(of: lane), head.condition != .notExpensive else {
                    continue
                }
                reasons[lane] = budget.reason(try tables.spending(of: lane, on: day), size: head.size)
            }
        }
        overBudget = Set(reasons.keys)
        if !isExpensive { reasons = [:] }
        spent = Set(reasons.keys)
        if isAhead || stored != reasons {
            try file.write { (database) throws(StorageError) in
                let tables = OutboxTables(database)
                if isAhead { try tables.bringBack(to: day) }
                try tables.store(waits: reasons)
            }
            mark(.all)
        }
        return reasons.isEmpty && !isAhead
            ? nil : isAhead ? now + 1 : LocalDay.next(after: now, LocalZone.offset)
    }

    /// The bytes that a lane's batch may have; nil for any number.
    func rest(of lane: String, now: Int64, _ tables: OutboxTables) throws(StorageError) -> Int64? {
        guard isExpensive, let budget = configuration.budgets[lane] else { return nil }
        let day = LocalDay.number(at: now, LocalZone.offset)
        return budget.rest(try tables.spending(of: lane, on: day))
    }

    /// Records what an attempt has moved, in the transaction of its outcome.
    func spend(_ outcome: DeliveryOutcome, _ tables: OutboxTables, now: Int64) throws(StorageError) {
        guard outcome.wasExpensive, outcome.traffic > 0, configuration.budgets[outcome.lane] != nil else {
            return
        }
        try tables.spend(
            outcome.traffic, of: outcome.lane, on: LocalDay.number(at: now, LocalZone.offset))
    }

    /// A download has so many bytes of its file.
    ///
    /// It stops where its lane's budget of the day ends, and goes on from there when the lane may spend:
    /// how many bytes will come is often known only by the answer.
    func received(_ bytes: Int64, _ pending: PendingDelivery, now: Int64) {
        guard let limit = configuration.budgets[pending.lane]?.bytesPerDay,
            var delivery = inFlight[pending.id]
        else { return }
        delivery.received.attempt += max(bytes - (delivery.received.file ?? bytes), 0)
        delivery.received.file = bytes
        inFlight[pending.id] = delivery
        guard isExpensive else { return }
        do throws(OutboxError) {
            let spending = try file.read { (database) throws(StorageError) in
                let day = LocalDay.number(at: now, LocalZone.offset)
                return try OutboxTables(database).spending(of: pending.lane, on: day)
            }
            if spending.bytes + delivery.received.attempt >= limit { delivery.work.cancel() }
        } catch { report(error, .reading) }
    }

    /// The path has changed, perhaps from one that costs to one that does not.
    func follow(_ path: CarryingPath?) {
        guard !isClosed, path != self.path else { return }
        let isOther = path?.isExpensive != self.path?.isExpensive
        self.path = path
        guard isOther, machine.isRunning, !configuration.budgets.isEmpty else { return }
        // What has come until now was on the former path; a download goes on from there.
        for delivery in inFlight.values
        where delivery.part != nil && configuration.budgets[delivery.lane] != nil {
            delivery.work.cancel()
        }
        do throws(OutboxError) { _ = try checkBudgets(now: WallClock.now) } catch { report(error, .reading) }
        recall()
        startReady()
    }
}
