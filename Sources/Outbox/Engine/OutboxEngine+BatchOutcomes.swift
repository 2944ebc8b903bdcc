// SPDX-License-Identifier: Apache-2.0

import Storage

// What becomes of the entries of a batch.
extension OutboxEngine {
    /// Stores the outcome of a batch: all of it, or, when this throws, nothing.
    func settle(
        _ batch: OutboxBatch, _ outcome: DeliveryOutcome, _ tables: OutboxTables, _ now: Int64,
        _ files: inout [String]
    ) throws(StorageError) -> [OutboxEvent] {
        var state = try tables.batch(of: outcome.lane)
        let former = state
        let members = batch.members
        var events: [OutboxEvent] = []
        let verdict = BatchVerdict(
            outcome.verdict, outcome.items, count: members.count, isRepeated: outcome.isRepeated)
        switch verdict {
        case .whole(.untried): return []
        case .whole(.delivered(let status)):
            let reply = members.count == 1 ? outcome.reply : nil
            for id in members { events += try delivered(id, status, reply, tables, now, &files) }
            events += try release(outcome.origin, tables)
            state.settled(members)
        case .whole(.retry(let failure)):
            events = try postpone(members, failure, outcome, tables, now, &files)
        case .whole(.dead(let failure)):
            events = try markDead(outcome, entries: members, failure, tables, now, &files)
            if members.count == 1, try tables.trial(members[0]) == nil { state.found(members[0]) }
        case .each(let verdicts):
            events = try settle(members, verdicts, outcome, tables, now, &files)
            state.settled(members)
        case .halves(let searches, let later):
            if let later { events = try postpone(members, later, outcome, tables, now, &files) }
            state.halved(members, searches: searches)
            if !searches {
                batches.ceilings[outcome.lane] = BatchCeiling(refused: batch.contentSize, at: now)
            }
        }
        switch verdict {
        case .whole(.retry): break
        default: batches.composed[outcome.lane] = nil
        }
        try tables.refresh(lane: outcome.lane)
        if try tables.head(of: outcome.lane) == nil { state = BatchState() }
        if state != former { try tables.store(state, of: outcome.lane) }
        return events
    }

    /// Removes an entry that the server has, and stores its next repetition.
    private func delivered(
        _ id: OutboxID, _ status: Int, _ reply: OutboxReply?, _ tables: OutboxTables, _ now: Int64,
        _ files: inout [String]
    ) throws(StorageError) -> [OutboxEvent] {
        let next = try tables.storeNext(after: id, now: now)
        let isThere = try tables.remove(
            id, as: .delivered, statusCode: status, reply: reply, now: now, refreshes: false, files: &files)
        var events: [OutboxEvent] = isThere ? [.delivered(id, statusCode: status)] : []
        if let next { events.append(.repeated(id, next: next)) }
        return events
    }

    /// Each entry has an outcome of its own.
    private func settle(
        _ members: [OutboxID], _ verdicts: [DeliveryVerdict], _ outcome: DeliveryOutcome,
        _ tables: OutboxTables, _ now: Int64, _ files: inout [String]
    ) throws(StorageError) -> [OutboxEvent] {
        var (events, isAccepted): ([OutboxEvent], Bool) = ([], false)
        for (index, (id, verdict)) in zip(members, verdicts).enumerated() {
            let item = outcome.items?[index]
            var own = outcome
            own.id = id
            own.reply = item.map { reply($0, outcome.reply, verdict) }
            switch verdict {
            case .delivered(let status):
                isAccepted = true
                events += try delivered(id, status, own.reply, tables, now, &files)
            // The server has looked at each entry, so that no gateway is to blame.
            case .dead(let failure): events += try died(own, failure, tables, now, &files)
            case .retry(let failure): events += try postpone([id], failure, own, tables, now, &files)
            case .untried: break
            }
        }
        if isAccepted { events += try release(outcome.origin, tables) }
        return events
    }

    /// What is stored of an entry's part of an answer; the head is that of the whole, and not stored for each
    /// one that the server has.
    private func reply(_ item: BatchItem, _ whole: OutboxReply?, _ verdict: DeliveryVerdict) -> OutboxReply {
        var header = whole?.header ?? ""
        if case .delivered = verdict { header = "" }
        return OutboxReply(
            statusCode: item.statusCode, header: header,
            body: item.text.prefix(max(configuration.limits.maximumReplySize, 0)))
    }

    /// Entries are sent again, but those whose last attempt this was.
    private func postpone(
        _ members: [OutboxID], _ failure: OutboxFailure, _ outcome: DeliveryOutcome, _ tables: OutboxTables,
        _ now: Int64, _ files: inout [String]
    ) throws(StorageError) -> [OutboxEvent] {
        var (events, ended): ([OutboxEvent], [OutboxID]) = ([], [])
        var trials: [(id: OutboxID, pause: Int64)] = []
        let (isCounted, chance) = (
            failure.kind == .credentials || failure.isConflict, Double.random(in: 0...1)
        )
        for id in members {
            guard let trial = try tables.trial(id) else { continue }
            if let successor = trial.successor {
                events += try replace(id, by: successor, tables, now, &files)
                continue
            }
            var retries = configuration.retries
            if let own = trial.maximumAttempts { retries.maximumAttempts = own }
            let pause = retries.pause(
                afterFailures: (isCounted ? trial.refusals : trial.attempts) + 1, kind: failure.kind,
                isConflict: failure.isConflict, retryAfter: outcome.retryAfter, chance: chance)
            if let pause, retries.maximumAttempts.map({ trial.attempts + 1 < $0 }) ?? true {
                trials.append((id, pause))
            } else {
                ended.append(id)
            }
        }
        // They are sent together, so that they wait together.
        let next = now + (trials.map(\.pause).max() ?? 0)
        for trial in trials {
            try tables.postpone(
                trial.id, lane: outcome.lane, failure, next: next, isUnanswered: outcome.isUnanswered,
                refreshes: false)
            events.append(.failed(trial.id, failure, nextAttempt: WallClock.date(next)))
        }
        if !ended.isEmpty { events += try markDead(outcome, entries: ended, failure, tables, now, &files) }
        return events
    }

    /// Entries that wait now do not wait for others.
    func flushBatches() {
        guard !configuration.batches.isEmpty else { return }
        do throws(OutboxError) {
            batches.flushed = try file.read { (database) throws(StorageError) in
                try OutboxTables(database).lastEntry()
            }
        } catch { report(error, .reading) }
    }
}
