// SPDX-License-Identifier: Apache-2.0

public import ReachabilityCore

extension ReachabilityManager {
    /// The statuses: the present one first, then each different one.
    ///
    /// A slow reader gets the newest.
    ///
    /// The sequence ends when the task is cancelled or the manager is gone; it goes on over stop and start.
    public var statuses: StatusSequence { StatusSequence(updates: pathUpdates) }

    /// The updates of status and path: the present state first.
    ///
    /// A slow reader gets the newest.
    public var pathUpdates: AsyncStream<ReachabilityUpdate> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observeInline({ continuation.yield($0) }, onClose: { continuation.finish() })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}

/// The statuses of a manager, each different from the one before.
public struct StatusSequence: AsyncSequence, Sendable {
    /// One of the statuses.
    public typealias Element = ReachabilityStatus

    fileprivate let updates: AsyncStream<ReachabilityUpdate>

    /// Reads the statuses.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var updates: AsyncStream<ReachabilityUpdate>.Iterator
        private var last: ReachabilityStatus?

        fileprivate init(_ updates: AsyncStream<ReachabilityUpdate>.Iterator) { self.updates = updates }

        /// The next status that differs from the last one; nil once the task is cancelled.
        public mutating func next() async -> ReachabilityStatus? {
            while let update = await updates.next() {
                // After a restart the first report counts even where it says the same.
                guard update.status != last || update.event == .initial else { continue }
                last = update.status
                return update.status
            }
            return nil
        }
    }

    /// A reader of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(updates.makeAsyncIterator()) }
}
