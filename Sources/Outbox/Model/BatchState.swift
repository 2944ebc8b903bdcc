// SPDX-License-Identifier: Apache-2.0

/// What is known of a lane's batch, on the disk before it is sent: after a crash the same one is sent again,
/// with the same key.
///
/// A refused batch is followed by its first half: one that is too large (413) until it fits, one with a bad
/// entry (400, 422) until a single entry is refused. While that search lasts, the entries up to ``suspects``
/// contain the bad one.
struct BatchState: Sendable, Equatable {
    /// The entries of the batch that is, or was, being sent.
    private(set) var members: [OutboxID]
    /// The last entry of those among which a bad one is; nil without a search.
    private(set) var suspects: OutboxID?

    init(members: [OutboxID] = [], suspects: OutboxID? = nil) {
        (self.members, self.suspects) = (members, suspects)
    }

    /// Whether there is nothing to store.
    var isEmpty: Bool { members.isEmpty && suspects == nil }

    /// The entries that have to be sent next; nil where a new batch may be chosen.
    ///
    /// - Parameter waiting: the lane's entries, in order.
    func next(of waiting: [OutboxID]) -> [OutboxID]? {
        let known = Set(members)
        let left = waiting.filter { known.contains($0) }
        // An older one that waits again, such as a dead letter, goes before them on its own.
        if let first = left.first, let head = waiting.first { return first == head ? left : [head] }
        guard let suspects else { return nil }
        let rest = waiting.prefix { $0 <= suspects }
        return rest.isEmpty ? nil : Array(rest.prefix(max(rest.count / 2, 1)))
    }

    /// A batch is about to be sent.
    mutating func willSend(_ entries: [OutboxID], of waiting: [OutboxID]) {
        if let suspects, waiting.first.map({ $0 > suspects }) ?? true { self.suspects = nil }
        // One that goes before the batch does not take its place.
        guard Set(members).isDisjoint(with: waiting) || members.contains(where: entries.contains) else {
            return
        }
        members = entries
    }

    /// The server has the batch, or has answered for each entry.
    mutating func settled(_ entries: [OutboxID]) {
        let done = Set(entries)
        members.removeAll { done.contains($0) }
    }

    /// The search is over: a single entry was refused.
    mutating func found(_ entry: OutboxID) {
        guard members.contains(entry) else { return }
        settled([entry])
        suspects = nil
    }

    /// A batch of more than one was refused: its first half is sent next.
    ///
    /// - Parameter searches: whether one entry is at fault, and not the size.
    mutating func halved(_ entries: [OutboxID], searches: Bool) {
        if searches { suspects = entries.last }
        members = Array(entries.prefix(max(entries.count / 2, 1)))
    }
}

extension BatchState {
    /// The entries as text: the first number, and for each other one the difference to that before it.
    var text: String {
        var (parts, last): ([String], Int64) = ([], 0)
        for member in members {
            parts.append("\(member.rawValue - last)")
            last = member.rawValue
        }
        return parts.joined(separator: " ")
    }

    init(text: String, suspects: OutboxID?) {
        var (members, last): ([OutboxID], Int64) = ([], 0)
        for part in text.split(separator: " ") {
            last &+= Int64(part) ?? 0
            members.append(OutboxID(rawValue: last))
        }
        self.init(members: members, suspects: suspects)
    }
}

/// The largest batch that a server may take, after it has refused a larger one with 413.
struct BatchCeiling: Sendable, Equatable {
    /// In bytes of joined content.
    let bytes: Int64
    /// When larger ones are tried again, in milliseconds since 1970.
    let until: Int64

    /// After a batch of `bytes` was too large.
    init(refused bytes: Int64, at now: Int64) {
        self.bytes = max(bytes / 2, 1)
        until = now + Self.pause
    }

    /// The limit at an instant; nil if it is over.
    ///
    /// A clock that was set back does not make it longer.
    func limit(at now: Int64) -> Int64? { now < until && until - now <= Self.pause ? bytes : nil }

    /// An hour.
    private static let pause: Int64 = 3_600_000
}
