// SPDX-License-Identifier: Apache-2.0

public import ReachabilityCore

extension ReachabilityManager {
    /// The statuses: the present one first, then each different one.
    ///
    /// A slow reader gets the newest. The sequence ends with the task's cancellation or with the manager, and
    /// continues over stop and start.
    public var statuses: StatusSequence { StatusSequence(updates: pathUpdates) }

    /// The updates of status and path: the present state first; a slow reader gets the newest.
    public var pathUpdates: AsyncStream<ReachabilityUpdate> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observeInline(
                waits: false, { continuation.yield($0) }, onClose: { continuation.finish() })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}

/// The statuses of a manager, each different from the previous one.
public struct StatusSequence: AsyncSequence, Sendable {
    /// A status.
    public typealias Element = ReachabilityStatus

    private let updates: AsyncStream<ReachabilityUpdate>

    package init(updates: AsyncStream<ReachabilityUpdate>) { self.updates = updates }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var updates: AsyncStream<ReachabilityUpdate>.Iterator
        private var last: ReachabilityStatus?

        fileprivate init(_ updates: AsyncStream<ReachabilityUpdate>.Iterator) { self.updates = updates }

        /// The next different status; nil after cancellation.
        public mutating func next() async -> ReachabilityStatus? {
            while let update = await updates.next() {
                // After a restart the first report counts even with the same status.
                guard update.status != last || update.event == .initial else { continue }
                last = update.status
                return update.status
            }
            return nil
        }
    }

    /// A new iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(updates.makeAsyncIterator()) }
}
