// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Storage

/// Who follows entries, on the outbox's thread.
final class EntryFollowers {
    final class Follower {
        var state: EntryFollower
        /// Called with each change, and with nil at the end.
        let report: @Sendable (OutboxChange?) -> Void

        init(_ target: EntryFollower.Target, _ report: @escaping @Sendable (OutboxChange?) -> Void) {
            (state, self.report) = (EntryFollower(target), report)
        }
    }

    var followers: [Int: Follower] = [:]
    /// The entries that may have changed since the last look.
    var touched: Set<OutboxID> = []
    var touchesAll = false
    var isLookDue = false
    /// The subscription to the outbox's own events; nil without followers.
    var subscription: Int?
    /// When the progress of an entry was reported last, by the monotonic clock in nanoseconds.
    var reported: [OutboxID: Int64] = [:]

    var isEmpty: Bool { followers.isEmpty }
}

// Reporting changes of entries, whichever process makes them.
extension OutboxEngine {
    /// The shortest time between two reports of an entry's progress, in nanoseconds.
    private static let progressPause: Int64 = 250_000_000

    func follow(
        _ number: Int, _ target: EntryFollower.Target, _ report: @escaping @Sendable (OutboxChange?) -> Void
    ) {
        guard !isClosed else { return report(nil) }
        let follower = EntryFollowers.Follower(target, report)
        following.followers[number] = follower
        if following.subscription == nil {
            let bound = LoopBound(self, to: reactor)
            following.subscription = broadcaster.subscribe { event in bound.here { $0.mark(event.scope) } }
        }
        do throws(OutboxError) {
            if case .entry(let id) = target {
                let (entry, result, reply) = try file.read {
                    (database) throws(StorageError) -> (OutboxEntry?, OutboxResult?, OutboxReply?) in
                    let tables = OutboxTables(database)
                    return (try tables.entry(id), try tables.result(id), try tables.reply(id))
                }
                if let entry {
                    let replies = reply.map { [id: $0] } ?? [:]
                    for change in follower.state.found([entry], replies: replies) { report(change) }
                } else if let result {
                    report(.left(result))
                }
            }
            if follower.state.hasEnded { return unfollow(number, isOver: true) }
            try reportChanges(to: follower, [])
            report(.ready)
        } catch {
            self.report(error, .reading)
            unfollow(number, isOver: true)
        }
    }

    /// - Parameter isOver: whether the end is reported.
    func unfollow(_ number: Int, isOver: Bool = false) {
        guard let follower = following.followers.removeValue(forKey: number) else { return }
        if isOver { follower.report(nil) }
        guard following.isEmpty else { return }
        if let subscription = following.subscription { broadcaster.unsubscribe(subscription) }
        following.subscription = nil
        following.reported = [:]
    }

    func endFollowing() {
        for number in following.followers.keys.sorted() { unfollow(number, isOver: true) }
    }

    /// The next look compares these entries with what was reported.
    func mark(_ scope: OutboxEvent.Scope) {
        guard !following.isEmpty else { return }
        switch scope {
        case .none: return
        case .all: following.touchesAll = true
        case .entries(let ids): following.touched.formUnion(ids)
        }
        guard !following.isLookDue else { return }
        following.isLookDue = true
        let bound = LoopBound(self, to: reactor)
        bound.perform { $0.reportChanges() }
    }

    /// Reports what has changed; another process may have changed anything.
    func reportAllChanges() {
        guard !following.isEmpty else { return }
        following.touchesAll = true
        reportChanges()
    }

    /// Reports new entries, before they are sent, and what has changed.
    func reportChanges() {
        following.isLookDue = false
        guard !following.isEmpty, !isClosed else { return }
        let touched = following.touchesAll ? nil : following.touched
        (following.touched, following.touchesAll) = ([], false)
        for (number, follower) in following.followers.sorted(by: { $0.key < $1.key }) {
            do throws(OutboxError) { try reportChanges(to: follower, touched) } catch {
                report(error, .reading)
            }
            if follower.state.hasEnded { unfollow(number, isOver: true) }
        }
    }

    /// - Parameter touched: the entries that may have changed; nil for all.
    private func reportChanges(to follower: EntryFollowers.Follower, _ touched: Set<OutboxID>?)
        throws(OutboxError)
    {
        let ids = follower.state.known.keys.filter { touched?.contains($0) ?? true }.sorted()
        let state = follower.state
        let found = try file.read { (database) throws(StorageError) -> Findings in
            let tables = OutboxTables(database)
            var seen = Findings()
            for id in ids {
                if let entry = try tables.entry(id) {
                    seen.known.append((id, entry, nil))
                    if entry.state == .dead { seen.replies[id] = try tables.reply(id) }
                } else {
                    seen.known.append((id, nil, try tables.result(id)))
                }
            }
            let room = state.room + seen.known.count(where: { $0.1 == nil })
            guard case .selection(let selection) = state.target, room > 0 else { return seen }
            seen.last = try tables.lastEntry()
            seen.new = try tables.entries(
                selection, after: state.newest, limit: room, now: WallClock.now)
            // The entries of other lanes are not read again each time.
            if seen.new.count == room { seen.last = nil }
            for entry in seen.new where entry.state == .dead {
                seen.replies[entry.id] = try tables.reply(entry.id)
            }
            return seen
        }
        for (id, entry, result) in found.known {
            let change = follower.state.looked(at: id, entry, result, reply: found.replies[id])
            if let change { follower.report(change) }
        }
        for change in follower.state.found(found.new, upTo: found.last, replies: found.replies) {
            follower.report(change)
        }
    }

    /// What a look at the tables has found.
    private struct Findings {
        var known: [(OutboxID, OutboxEntry?, OutboxResult?)] = []
        var new: [OutboxEntry] = []
        /// The greatest number, if all up to it were looked at.
        var last: OutboxID?
        /// The answers to dead letters.
        var replies: [OutboxID: OutboxReply] = [:]
    }

    /// The number of bytes of a body that were sent, or of a file that were received.
    func progressed(_ pending: PendingDelivery, _ sent: Int64, of total: Int64) {
        guard !following.isEmpty else { return }
        let now = Reactor.now
        let isLast = total > 0 && sent >= total
        if !isLast, let last = following.reported[pending.id], now - last < Self.progressPause { return }
        following.reported[pending.id] = isLast ? nil : now
        for follower in following.followers.values where follower.state.known[pending.id] != nil {
            follower.report(.progress(pending.id, sent: sent, total: total))
        }
    }

    // MARK: Waiting for the end of one entry

    func answerWaiters() {
        let asked = waiters
        waiters = []
        for waiter in asked { answer(waiter) }
    }

    func answer(_ waiter: SettlementWaiter) {
        if waiter.isForgotten { return waiter.end(.failure(CancellationError())) }
        let id = waiter.id
        do throws(OutboxError) {
            guard !isClosed else { throw OutboxError(.closed, "the outbox was closed") }
            let settlement = try file.read { (database) throws(StorageError) -> OutboxSettlement? in
                let tables = OutboxTables(database)
                if let entry = try tables.entry(id) { return entry.state == .dead ? .dead(entry) : nil }
                return try tables.result(id).map { .left($0) } ?? .unknown
            }
            if let settlement { return waiter.end(.success(settlement)) }
            waiters.append(waiter)
        } catch {
            waiter.end(.failure(error))
        }
    }

    func forget(_ waiter: SettlementWaiter) {
        waiter.isForgotten = true
        waiters.removeAll { $0 === waiter }
        waiter.end(.failure(CancellationError()))
    }
}
