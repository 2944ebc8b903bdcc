// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Synchronization

// Following entries to their end.
extension RequestOutbox {
    /// The changes of an entry, the first of which tells how it is now, until it has left, whichever process
    /// changes it; progress is that of deliveries by this process.
    ///
    /// It ends with ``OutboxChange/left(_:)``, at once for an entry that is not known, and when the outbox is
    /// closed. Of unread changes the newest thousand are kept.
    public func changes(of id: OutboxID) -> AsyncStream<OutboxChange> { stream(.entry(id)) }

    /// The changes of all entries of a lane, with a tag, or of all; it ends when the outbox is closed.
    ///
    /// The oldest thousand are followed; the next ones as soon as some of these have left.
    public func changes(lane: String? = nil, tag: String? = nil) -> AsyncStream<OutboxChange> {
        stream(.selection(OutboxSelection(lane: lane, tag: tag)))
    }

    private func stream(_ target: EntryFollower.Target) -> AsyncStream<OutboxChange> {
        AsyncStream(bufferingPolicy: .bufferingNewest(2_000)) { continuation in
            let follower = follow(target) { change in
                if let change { continuation.yield(change) } else { continuation.finish() }
            }
            continuation.onTermination = { _ in follower.cancel() }
        }
    }

    private func follow(
        _ target: EntryFollower.Target, _ report: @escaping @Sendable (OutboxChange?) -> Void
    ) -> EntryObservation {
        let number = Self.lastFollower.add(1, ordering: .relaxed).newValue
        engine.perform { $0.follow(number, target, report) }
        return EntryObservation(number: number, engine: engine)
    }

    /// Calls `report` on the outbox's thread with each change of an entry, and with nil at the end.
    package func follow(_ id: OutboxID, _ report: @escaping @Sendable (OutboxChange?) -> Void)
        -> EntryObservation
    { follow(.entry(id), report) }

    /// The same for all entries of a lane or with a tag.
    package func follow(
        lane: String?, tag: String?, _ report: @escaping @Sendable (OutboxChange?) -> Void
    ) -> EntryObservation { follow(.selection(OutboxSelection(lane: lane, tag: tag)), report) }

    private static let lastFollower = Atomic<Int>(0)

    /// How many bytes of an entry's content were sent in the attempt under way; nil if there is none here.
    package func sentBytes(of id: OutboxID) async throws -> Int64? {
        try await on { (engine) throws(OutboxError) in engine.inFlight[id]?.task.sentBytes }
    }
}

/// A subscription to changes of entries.
package struct EntryObservation: Sendable {
    fileprivate let number: Int
    fileprivate let engine: LoopBound<OutboxEngine>

    package func cancel() { engine.perform { [number] in $0.unfollow(number) } }
}
