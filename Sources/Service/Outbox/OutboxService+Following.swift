// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Outbox
package import ServiceCore
import SessionCore

/// Clients that follow entries, on the loop's thread.
extension OutboxService {
    final class Follower {
        let answer: (VarlinkReply) -> Int?
        /// The one entry, which has an end; nil for a lane or a tag.
        let entry: String?
        var observation: EntryObservation?
        var unread = 0

        init(_ entry: String?, _ answer: @escaping (VarlinkReply) -> Int?) {
            (self.entry, self.answer) = (entry, answer)
        }
    }

    package func followEntries(
        _ entry: String?, lane: String?, tag: String?, for id: ConnectionQuota.ID,
        _ answer: @escaping (VarlinkReply) -> Int?
    ) {
        guard let context, case .open(let outbox) = phase else {
            _ = answer(.unavailable("the outbox is not open"))
            return
        }
        var number: Int64?
        if let entry {
            number = Int64(entry)
            guard number != nil else {
                _ = answer(.noSuchEntry(entry))
                return
            }
        }
        forget(id)
        let follower = Follower(entry, answer)
        followers[id] = follower
        let (here, bound) = (
            LoopBound(self, to: context.reactor), LoopBound(follower, to: context.reactor)
        )
        let report: @Sendable (OutboxChange?) -> Void = { change in
            here.perform { service in bound.here { service.changed(id, $0, change) } }
        }
        follower.observation =
            if let number {
                outbox.follow(OutboxID(rawValue: number), report)
            } else {
                outbox.follow(lane: lane, tag: tag, report)
            }
    }

    private func changed(_ id: ConnectionQuota.ID, _ follower: Follower, _ change: OutboxChange?) {
        guard followers[id] === follower else { return }
        guard let change else {
            // The entry has left, was never there, or the outbox is closed.
            let isClosed = if case .open = phase { false } else { true }
            let reply: VarlinkReply =
                isClosed ? .unavailable("the service ends") : .noSuchEntry(follower.entry ?? "")
            return end(id, follower, reply)
        }
        if case .progress = change, follower.unread > 0 { return }
        let isLast = follower.entry != nil && change.isEnd
        let answer = VarlinkReply(change.json, continues: !isLast)
        if isLast { return end(id, follower, answer) }
        guard let unread = follower.answer(answer) else { return forget(id) }
        follower.unread = unread
        guard unread > VarlinkLimits().followed else { return }
        end(id, follower, .limit("\(unread) bytes about requests were not read yet"))
    }

    private func end(_ id: ConnectionQuota.ID, _ follower: Follower, _ reply: VarlinkReply) {
        followers[id] = nil
        follower.observation?.cancel()
        _ = follower.answer(reply)
    }

    /// Ends all with the service.
    func endFollowing() {
        for (id, follower) in followers { end(id, follower, .unavailable("the service ends")) }
    }
}

extension OutboxChange {
    /// Whether an entry is over with this: it has left, or is given up.
    fileprivate var isEnd: Bool {
        switch self {
        case .left, .died: true
        case .present, .ready, .changed, .progress: false
        }
    }

    /// The change as a reply of `MonitorOutbox`.
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [:]
        switch self {
        case .ready: members = ["event": "ready"]
        case .present(let entry):
            members = ["event": "present", "id": .string("\(entry.id)"), "entry": entry.json]
        case .changed(let entry):
            members = ["event": "changed", "id": .string("\(entry.id)"), "entry": entry.json]
        case .died(let entry, let reply):
            members = [
                "event": "dead", "id": .string("\(entry.id)"), "entry": entry.json, "outcome": "dead",
                "statusCode": entry.failure?.statusCode.map { .integer(Int64($0)) } ?? .null,
                "answer": reply.map(\.json) ?? .null,
            ]
        case .progress(let id, let sent, let total):
            members = [
                "event": "progress", "id": .string("\(id)"), "sent": .integer(sent), "total": .integer(total),
            ]
        case .left(let result):
            members = [
                "event": "left", "id": .string("\(result.id)"), "outcome": .string(result.outcome.rawValue),
                "statusCode": result.statusCode.map { .integer(Int64($0)) } ?? .null,
                "successor": result.successor.map { .string("\($0)") } ?? .null,
                "answer": result.reply.map(\.json) ?? .null,
                "file": result.file.map { .string($0) } ?? .null,
                "bytes": result.fileSize.map { .integer($0) } ?? .null,
            ]
        }
        return .object(members)
    }
}
