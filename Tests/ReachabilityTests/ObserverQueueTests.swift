// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import Synchronization
import TestSupport
import Testing

/// The updates for an observer that is further behind than its queue holds.
struct ObserverQueueTests {
    /// The delivered ones of updates that were appended before the first delivery, numbered in their order.
    private func delivered(_ events: [ReachabilityUpdate.Event]) -> [(ReachabilityUpdate.Event, UInt64)] {
        let log = EventLog<ReachabilityUpdate>()
        let queue = ObserverQueue(queue: .custom { $0() }) { log.append($0) }
        for (number, event) in events.enumerated() {
            var path = ReachabilityPath()
            path.generation = UInt64(number)
            queue.append(ReachabilityUpdate(event: event, status: .wired, previous: nil, path: path))
        }
        queue.deliver()
        return log.elements.map { ($0.event, $0.path.generation) }
    }

    @Test("RB-19 paths go before statuses, the oldest first")
    func pathsGoFirst() {
        let seen = delivered([.initial, .path, .status] + Array(repeating: .path, count: 70))
        #expect(seen.count == 64)
        #expect(seen.first?.0 == .initial)
        #expect(seen.dropFirst().first?.0 == .status)
        #expect(seen.dropFirst(2).map(\.1) == Array(11...72))
    }

    @Test("RB-19 the newest arrives behind statuses alone, be it a path")
    func newestStays() {
        let seen = delivered(Array(repeating: .status, count: 64) + [.path])
        #expect(seen.count == 64)
        #expect(seen.first?.1 == 1)
        #expect(seen.last?.0 == .path)
    }

    @Test(
        "UPL-517 a Swift task that is cancelled while its sequence gets an update does not wait for that",
        .timeLimit(.minutes(5)))
    func cancelledSequence() async throws {
        let (loop, canceller) = (try Reactor(name: "loop"), try Reactor(name: "canceller"))
        let removed = ConditionLock(false)
        let queues = Mutex<[ObserverQueue]>([])
        let log = EventLog<ReachabilityUpdate.Event>()
        let queue = ObserverQueue(queue: .custom { $0() }, waits: false) { update in
            log.append(update.event)
            canceller.perform {
                queues.withLock { $0.first }?.removeAll(permanently: true)
                removed.withLock { $0 = true }
            }
            // A call that resumes a task waits for the canceller like this.
            removed.wait { $0 }
        }
        queues.withLock { $0 = [queue] }
        // Ends the cycle of the queue with its observer.
        defer { queues.withLock { $0 = [] } }
        for event in [ReachabilityUpdate.Event.initial, .path] {
            queue.append(ReachabilityUpdate(event: event, status: .wired, previous: nil, path: .init()))
        }
        try await loop.result { queue.deliver() }
        #expect(log.elements == [.initial])
    }
}
