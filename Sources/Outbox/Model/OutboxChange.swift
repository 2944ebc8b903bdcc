// SPDX-License-Identifier: Apache-2.0

/// What became of an entry that is followed (``RequestOutbox/changes(of:)``).
public enum OutboxChange: Sendable, Equatable {
    /// It waits in the outbox; the first report of each entry.
    case present(OutboxEntry)
    /// Every entry that was there when following began has been reported.
    case ready
    /// Another state, failure, time or reason for waiting.
    case changed(OutboxEntry)
    /// It is a dead letter, with the server's answer; it may be retried. Also the first report of such an
    /// entry.
    case died(OutboxEntry, OutboxReply?)
    /// How many bytes of its content were sent in the attempt under way; of contents from 64 KiB on, a few
    /// times a second. Of a download: how many of the file have come; `total` is 0 if that is not known.
    case progress(OutboxID, sent: Int64, total: Int64)
    /// It has left the outbox.
    case left(OutboxResult)
}

/// Which entries a follower knows, and what of them has changed.
struct EntryFollower: Sendable {
    enum Target: Sendable, Equatable {
        case entry(OutboxID)
        case selection(OutboxSelection)
    }

    /// The most entries that are followed at once; the next ones are when some of these have left.
    static let most = 1_000

    let target: Target
    private(set) var known: [OutboxID: OutboxEntry] = [:]
    /// The greatest number that was seen.
    private(set) var newest = OutboxID(rawValue: 0)

    init(_ target: Target) { self.target = target }

    /// How many more entries it takes.
    var room: Int {
        if case .selection = target { Self.most - known.count } else { 0 }
    }

    /// New entries, in their order; with `last`, all up to that number were looked at.
    mutating func found(
        _ entries: [OutboxEntry], upTo last: OutboxID? = nil, replies: [OutboxID: OutboxReply] = [:]
    ) -> [OutboxChange] {
        if let last { newest = max(newest, last) }
        return entries.map { entry in
            known[entry.id] = entry
            newest = max(newest, entry.id)
            return entry.state == .dead ? .died(entry, replies[entry.id]) : .present(entry)
        }
    }

    /// A known entry, as it is now, or its result; nil if nothing has changed.
    mutating func looked(
        at id: OutboxID, _ entry: OutboxEntry?, _ result: OutboxResult?, reply: OutboxReply? = nil
    ) -> OutboxChange? {
        guard let former = known[id] else { return nil }
        guard let entry else {
            known[id] = nil
            // A result that is not stored any more, for instance.
            return .left(
                result ?? OutboxResult(id: id, outcome: .removed, statusCode: nil, date: former.created))
        }
        guard entry != former else { return nil }
        known[id] = entry
        return entry.state == .dead ? .died(entry, reply) : .changed(entry)
    }

    /// Whether nothing more is reported: the one entry has left.
    var hasEnded: Bool {
        if case .entry = target { known.isEmpty } else { false }
    }
}

extension OutboxEvent {
    /// Which entries an event is about.
    enum Scope: Sendable, Equatable {
        case none
        case entries([OutboxID])
        /// Perhaps all of them, for instance a hold.
        case all
    }

    var scope: Scope {
        switch self {
        case .delivered(let id, _), .failed(let id, _, _), .postponed(let id, _, _), .died(let id, _),
            .expired(let id),
            .dropped(let id):
            .entries([id])
        case .replaced(let id, _), .repeated(let id, _): .entries([id])
        case .retried(let ids), .removed(let ids), .due(let ids): .entries(ids)
        case .enqueued(let receipts): .entries(receipts.flatMap(\.replaced))
        case .held, .released, .gateHeld, .gateReleased, .damaged: .all
        case .paused, .delivering, .storageFailed, .storageRecovered: .none
        }
    }
}
