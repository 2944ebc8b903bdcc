// SPDX-License-Identifier: Apache-2.0

import Reachability
import SessionCore
import Storage

/// The path that requests leave by, as far as its cost goes.
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
    /// Whether what leaves now costs.
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

    /// The path has changed, perhaps from one that costs to one that does not.
    func follow(_ path: CarryingPath?) {
        guard !isClosed, path != self.path else { return }
        let isOther = path?.isExpensive != self.path?.isExpensive
        self.path = path
        guard isOther, machine.isRunning, !configuration.budgets.isEmpty else { return }
        do throws(OutboxError) { _ = try checkBudgets(now: WallClock.now) } catch { report(error, .reading) }
        recall()
        startReady()
    }
}
