// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionManager
import Storage

// What becomes of an entry after an attempt to deliver it.
extension OutboxEngine {
    func completed(_ outcome: DeliveryOutcome?, _ pending: PendingDelivery) {
        let uplink = inFlight.removeValue(forKey: pending.id)?.uplink
        _ = held(pending, nil)
        if var outcome {
            outcome.origin = pending.origin
            if configuration.budgets[outcome.lane] != nil {
                outcome.wasExpensive = wasExpensive(outcome.local, left: outcome.wasExpensive)
            }
            if outcome.download?.placed == nil, PlainHolds.isPlain(pending.origin),
                PlainHolds.hasPortal(internet)
            {
                let carriers = uplink.map { [$0] } ?? outcome.local.map { LocalInterfaces.holding($0) }
                outcome.verdict = PlainHolds.doubt(outcome.verdict, internet, over: carriers)
            }
            outcomes.append(outcome)
        } else {
            // The manager was invalidated.
            machine.settled(lane: pending.lane)
            refusals.settled(pending.origin)
            stop()
        }
        settleSoon()
        if inFlight.isEmpty { endStopping() }
        closeFilesIfDone()
    }

    /// Outcomes of one turn share a transaction.
    private func settleSoon() {
        guard !isSettling else { return }
        isSettling = true
        let bound = LoopBound(self, to: reactor)
        bound.perform { $0.settle() }
    }

    /// Stores the outcomes; those that cannot be stored stay in memory and keep their lanes busy.
    private func settle() {
        isSettling = false
        guard !outcomes.isEmpty else { return }
        var events: [OutboxEvent] = []
        var files: [String] = []
        let known = refusals
        do throws(OutboxError) {
            try file.write { (database) throws(StorageError) in
                events = []
                files = []
                refusals = known
                let tables = OutboxTables(database)
                try tables.follow(.now)
                for outcome in outcomes {
                    events += try settle(outcome, tables, &files)
                    try spend(outcome, tables, now: WallClock.now)
                    refusals.settled(outcome.origin)
                }
                try trimResults(tables, outcomes.count)
            }
        } catch {
            refusals = known
            report(error, .settling)
            // While the lock is held no other process sends them.
            let bound = LoopBound(self, to: reactor)
            isSettling = true
            _ = reactor.schedule(at: Reactor.now + 1_000_000_000) { bound.perform { $0.settle() } }
            return
        }
        worked([.settling, .reading])
        for outcome in outcomes { machine.settled(lane: outcome.lane) }
        outcomes = []
        bodies.remove(files)
        for event in events { broadcaster.publish(event) }
        if file.hasMoved { startWatching() }
        answerWaiters()
        if inFlight.isEmpty { endStopping() }
        startReady()
        if inFlight.isEmpty { tidy() }
        closeFilesIfDone()
    }

    /// Removes old results now and then: their order is looked up anew each time.
    func trimResults(_ tables: OutboxTables, _ added: Int) throws(StorageError) {
        unremoved += added
        guard unremoved >= 256 else { return }
        try tables.trimResults()
        unremoved = 0
    }

    private func settle(_ outcome: DeliveryOutcome, _ tables: OutboxTables, _ files: inout [String])
        throws(StorageError) -> [OutboxEvent]
    {
        let now = WallClock.now
        if let batch = outcome.batch { return try settle(batch, outcome, tables, now, &files) }
        var former: String?
        if let progress = outcome.download { former = try tables.record(progress, of: outcome.id) }
        switch outcome.verdict {
        case .untried: return try postpone(outcome, waitedFor: former, tables, now)
        case .delivered(let status):
            let next = try tables.storeNext(after: outcome.id, now: now)
            let isThere = try tables.remove(
                outcome.id, as: .delivered, statusCode: status, reply: outcome.reply,
                fileSize: outcome.download?.placed, now: now, files: &files)
            var events: [OutboxEvent] = isThere ? [.delivered(outcome.id, statusCode: status)] : []
            if let next { events.append(.repeated(outcome.id, next: next)) }
            return try events + release(outcome.origin, tables)
        case .dead(let failure): return try markDead(outcome, failure, tables, now, &files)
        case .retry(let failure):
            guard let entry = try tables.entry(outcome.id), entry.state == .waiting else { return [] }
            if let successor = entry.successor {
                return try replace(outcome.id, by: successor, tables, now, &files)
            }
            var retries = configuration.retries
            if let own = entry.maximumAttempts { retries.maximumAttempts = own }
            let isCounted = failure.kind == .credentials || failure.isConflict
            let failures = isCounted ? try tables.refusals(outcome.id) : entry.attempts
            let pause = retries.pause(
                afterFailures: failures + 1, kind: failure.kind, isConflict: failure.isConflict,
                retryAfter: outcome.retryAfter, chance: Double.random(in: 0...1))
            guard let pause, retries.maximumAttempts.map({ entry.attempts + 1 < $0 }) ?? true else {
                return try markDead(outcome, failure, tables, now, &files)
            }
            try tables.postpone(
                outcome.id, lane: outcome.lane, failure, next: now + pause, isUnanswered: outcome.isUnanswered
            )
            return [.failed(outcome.id, failure, nextAttempt: WallClock.date(now + pause))]
        }
    }

    /// An entry that was not tried waits for a while if it says why.
    private func postpone(
        _ outcome: DeliveryOutcome, waitedFor former: String?, _ tables: OutboxTables, _ now: Int64
    ) throws(StorageError) -> [OutboxEvent] {
        guard let reason = outcome.download?.hold else { return [] }
        let next = now + max(configuration.retries.slow.milliseconds, 1)
        guard try tables.hold(outcome.id, lane: outcome.lane, until: next) else { return [] }
        // Told once, and not with each look.
        return reason == former ? [] : [.postponed(outcome.id, reason: reason, until: WallClock.date(next))]
    }

    /// Makes the entry a dead letter, unless its origin refuses everything.
    ///
    /// The URLs of a download are of several origins, and one of them has refused it for good.
    ///
    /// - Parameter entries: those of a batch; nil for the outcome's own.
    func markDead(
        _ outcome: DeliveryOutcome, entries: [OutboxID]? = nil, _ failure: OutboxFailure,
        _ tables: OutboxTables, _ now: Int64, _ files: inout [String]
    ) throws(StorageError) -> [OutboxEvent] {
        let entries = entries ?? [outcome.id]
        guard failure.mayBeOfGateway, outcome.download == nil else {
            return try died(outcome, entries, failure, tables, now, &files)
        }
        let wasStopped = refusals.record(outcome.origin)?.isStopped ?? false
        let ruling = refusals.refused(
            entries, by: outcome.origin, failure, at: now, chance: Double.random(in: 0...1))
        let record = refusals.record(outcome.origin)
        if let record { try tables.store(record) }
        switch ruling {
        case .final:
            let released: [OutboxEvent] = wasStopped ? [.released(outcome.origin)] : []
            return try released + died(outcome, entries, failure, tables, now, &files)
        case .passing(let until, let suspects):
            let trouble = OutboxFailure(
                .server, "\(failure.message), as to everything at the moment", statusCode: failure.statusCode)
            var events: [OutboxEvent] = []
            for id in entries {
                if let successor = try tables.plan(id)?.successor {
                    events += try replace(id, by: successor, tables, now, &files)
                } else {
                    try tables.postpone(id, lane: outcome.lane, trouble, next: until, refreshes: false)
                    events.append(.failed(id, trouble, nextAttempt: WallClock.date(until)))
                }
            }
            try tables.refresh(lane: outcome.lane)
            let revived = try tables.revive(suspects)
            if !revived.isEmpty { events.append(.retried(revived)) }
            if !wasStopped {
                events.append(
                    .held(outcome.origin, reason: record?.reason ?? "", until: WallClock.date(until)))
            }
            return events
        }
    }

    private func died(
        _ outcome: DeliveryOutcome, _ entries: [OutboxID], _ failure: OutboxFailure, _ tables: OutboxTables,
        _ now: Int64, _ files: inout [String]
    ) throws(StorageError) -> [OutboxEvent] {
        var (events, outcome): ([OutboxEvent], DeliveryOutcome) = ([], outcome)
        for id in entries {
            outcome.id = id
            events += try died(outcome, failure, tables, now, &files)
        }
        return events
    }

    func died(
        _ outcome: DeliveryOutcome, _ failure: OutboxFailure, _ tables: OutboxTables, _ now: Int64,
        _ files: inout [String]
    ) throws(StorageError) -> [OutboxEvent] {
        if let successor = try tables.plan(outcome.id)?.successor {
            return try replace(outcome.id, by: successor, tables, now, &files)
        }
        guard try tables.markDead(outcome.id, lane: outcome.lane, failure, outcome.reply) else { return [] }
        var events: [OutboxEvent] = [.died(outcome.id, failure)]
        guard let next = try tables.storeNext(after: outcome.id, now: now) else { return events }
        events.append(.repeated(outcome.id, next: next))
        for older in try tables.olderDead(than: outcome.id) {
            _ = try tables.remove(older, as: .replaced, successor: outcome.id, now: now, files: &files)
            events.append(.replaced(older, by: outcome.id))
        }
        return events
    }

    /// The attempt of an entry has ended whose place another takes.
    func replace(
        _ id: OutboxID, by successor: OutboxID, _ tables: OutboxTables, _ now: Int64, _ files: inout [String]
    ) throws(StorageError) -> [OutboxEvent] {
        try tables.remove(id, as: .replaced, successor: successor, now: now, files: &files)
            ? [.replaced(id, by: successor)] : []
    }

    /// An origin has accepted a request.
    func release(_ origin: String, _ tables: OutboxTables) throws(StorageError) -> [OutboxEvent] {
        guard let record = refusals.delivered(by: origin) else { return [] }
        try tables.remove(hold: origin)
        return record.isStopped ? [.released(origin)] : []
    }
}
