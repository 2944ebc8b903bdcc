// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionManager
import Storage

/// What this process knows of the lanes that join their entries.
///
/// A restart finds it again, but for ``ceilings`` and ``flushed``, which it does without.
struct BatchLanes {
    /// The batches that gather, by lane.
    var plans: [String: BatchPlan] = [:]
    /// The lanes that wait for more entries.
    var waiting: Set<String> = []
    /// Batches that are sent again, so that they are compressed once.
    var composed: [String: PendingDelivery] = [:]
    /// Below which size a server takes batches.
    var ceilings: [String: BatchCeiling] = [:]
    /// The lanes whose batches are not sent yet, against what was expected.
    var unready: Set<String> = []
    /// Entries up to this one do not wait for others.
    var flushed = OutboxID(rawValue: 0)
}

// Joining the entries of a lane.
extension OutboxEngine {
    /// Looks which lanes wait for more entries; returns when the first is due.
    func gatherBatches(now: Int64) throws(OutboxError) -> Int64? {
        guard !configuration.batches.isEmpty else { return nil }
        var due: Int64?
        for (lane, rule) in configuration.batches {
            let plan = machine.isBusy(lane) ? nil : try plan(lane, rule, now: now)
            if let plan, !isDue(plan, now) {
                batches.waiting.insert(lane)
                due = min(due ?? .max, plan.due)
            } else {
                batches.waiting.remove(lane)
            }
        }
        return due
    }

    /// When batches are due, after entries were sent: of those that were not ready, what has come meanwhile
    /// is looked up again.
    func nextBatch(now: Int64) throws(OutboxError) -> Int64? {
        let due = try gatherBatches(now: now)
        defer { batches.unready = [] }
        return batches.unready.isSubset(of: batches.waiting) ? due : now + 1_000
    }

    private func isDue(_ plan: BatchPlan, _ now: Int64) -> Bool {
        plan.isDue(at: now) || plan.members.first.map { $0 <= batches.flushed } ?? true
    }

    /// The batch that a lane gathers, with entries that have come since; nil for one that is known already,
    /// or an empty lane.
    private func plan(_ lane: String, _ rule: BatchRule, now: Int64) throws(OutboxError) -> BatchPlan? {
        let former = batches.plans[lane]
        let ceiling = batches.ceilings[lane]?.limit(at: now)
        let plan = try file.read { (database) throws(StorageError) -> BatchPlan? in
            let tables = OutboxTables(database)
            guard let head = try tables.head(of: lane) else { return nil }
            var plan: BatchPlan
            if let former, former.members.first == head {
                plan = former
            } else {
                guard try tables.batch(of: lane).isEmpty else { return nil }
                let first = try tables.candidates(lane, limit: 1, now: now).first
                guard let first, first.id == head else { return nil }
                let bounds = [ceiling, try rest(of: lane, now: now, tables)].compactMap { $0 }
                plan = BatchPlan(first: first, rule: rule, ceiling: bounds.min(), now: now)
            }
            guard let last = plan.members.last, plan.room > 0 else { return plan }
            for next in try tables.candidates(lane, after: last, limit: plan.room, now: now) {
                plan.offer(next)
            }
            return plan
        }
        batches.plans[lane] = plan
        return plan
    }

    /// The request to send for a lane's oldest entry: its batch, once that is on the disk, or, in a lane
    /// without a rule, itself; nil if it waits for others.
    func composed(_ pending: PendingDelivery, now: Int64) throws(OutboxError) -> PendingDelivery? {
        let lane = pending.lane
        guard let rule = configuration.batches[lane] else { return pending }
        batches.plans[lane] = nil
        let isFlushed = pending.id <= batches.flushed
        let (ceiling, bodies) = (batches.ceilings[lane]?.limit(at: now), bodies)
        let known = batches.composed.removeValue(forKey: lane)
        let found = try file.write { (database) throws(StorageError) -> Composition? in
            let tables = OutboxTables(database)
            var state = try tables.batch(of: lane)
            let candidates = try tables.candidates(
                lane, upTo: state.members.last, limit: rule.count, now: now)
            // Another process has changed the lane; this one is told of it.
            guard let first = candidates.first, first.id == pending.id else { return nil }
            guard first.kind != nil else { return .alone }
            let waiting = candidates.map(\.id)
            let bounds = [ceiling, try rest(of: lane, now: now, tables)].compactMap { $0 }
            var chosen: [BatchCandidate]
            if let next = state.next(of: waiting) {
                let ids = Set(next)
                chosen = candidates.filter { ids.contains($0.id) }
                chosen = Array(chosen.prefix { $0.kind == first.kind })
            } else {
                var new = BatchPlan(first: first, rule: rule, ceiling: bounds.min(), now: now)
                for candidate in candidates.dropFirst() { new.offer(candidate) }
                // Entries have gone since it was looked at.
                guard new.isDue(at: now) || isFlushed else {
                    let former = state
                    state.willSend([], of: waiting)
                    if state != former { try tables.store(state, of: lane) }
                    return nil
                }
                chosen = Array(candidates.prefix(new.members.count))
            }
            let (members, former) = (chosen.map(\.id), state)
            state.willSend(members, of: waiting)
            if state != former { try tables.store(state, of: lane) }
            let size = chosen.reduce(0) { $0 + $1.size + rule.form.overhead }
            let batch = OutboxBatch(members: members, contentSize: size)
            if let known, known.batch == batch { return .known(known) }
            let contents = try tables.contents(of: members) { name in
                (try? Data(contentsOf: URL(fileURLWithPath: bodies.paths.body(name)))).map { Array($0) }
            }
            // Its own delivery says what is wrong with the file.
            guard let contents else { return .alone }
            return .new(batch, contents.keys, contents.contents, isRepeated: former.members == members)
        }
        switch found {
        case nil: return nil
        case .alone?: return pending
        case .known(let known)?:
            let repeated = pending.repeating(known)
            batches.composed[lane] = repeated
            return repeated
        case .new(let batch, let keys, let contents, let isRepeated)?:
            let joined = pending.joined(batch, keys, contents, by: rule, isRepeated: isRepeated)
            batches.composed[lane] = joined
            return joined
        }
    }

    private enum Composition {
        /// The entry is sent as it is.
        case alone
        /// It was composed before, as it is now.
        case known(PendingDelivery)
        case new(OutboxBatch, [String], [[UInt8]], isRepeated: Bool)
    }

    /// The delivery in which an entry is on its way.
    func delivery(of id: OutboxID) -> InFlightDelivery? {
        machine.head(with: id).flatMap { inFlight[$0] }
    }
}

extension PendingDelivery {
    /// The batch as it was sent before, with what is known of its first entry now.
    func repeating(_ known: PendingDelivery) -> PendingDelivery {
        var request = self
        request.key = known.key
        request.header = known.header
        request.body = known.body
        request.file = nil
        request.size = known.size
        request.attempts = max(attempts, 1)
        request.batch = known.batch
        return request
    }

    /// The request of a batch that begins with this entry.
    func joined(
        _ batch: OutboxBatch, _ keys: [String], _ contents: [[UInt8]], by rule: BatchRule, isRepeated: Bool
    ) -> PendingDelivery {
        var body = rule.form.joined(contents)
        var fields = PreparedEntry.fields(header)
        if let type = rule.contentType ?? rule.form.contentType { fields[.contentType] = type }
        // Without zlib it is sent as it is.
        if let compression = rule.compression, let small = try? compression.compress(Data(body)) {
            body = Array(small)
            fields[.contentEncoding] = compression.rawValue
        }
        var joined = self
        joined.key = rule.form.key(of: keys)
        joined.header = PreparedEntry.text(of: fields)
        joined.body = body
        joined.file = nil
        joined.size = Int64(body.count)
        joined.attempts = isRepeated ? max(attempts, 1) : attempts
        joined.batch = batch
        return joined
    }
}
