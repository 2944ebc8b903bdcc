// SPDX-License-Identifier: Apache-2.0

import SessionCore
import TestSupport
import Testing

/// What holds whatever happens.
struct QueueInvariantTests {
    /// Whatever happens in whatever order: no request is lost, counted twice or started twice, and the limits
    /// hold.
    @Test(arguments: 0..<40) func anyOrderOfEvents(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = RequestQueueStateMachine(seed: seed)
        var limits = RequestQueueStateMachine.Limits()
        limits.maximumActive = 3
        limits.maximumPerHost = 2
        queue.limitsChanged(limits)
        var running: Set<QueueTicket> = []
        var waiting: Set<QueueTicket> = []
        var suspended: Set<QueueTicket> = []
        var now: Int64 = 0
        var isOpen = true
        for _ in 0..<2000 {
            now += Int64(random.next() % 30_000_000)
            let all = running.union(waiting).sorted { $0.packed < $1.packed }
            let one = all.isEmpty ? nil : all[Int(random.next() % UInt64(all.count))]
            switch random.next() % 9 {
            case 0, 1, 2:
                var request = QueueRequest()
                request.host = ["a", "b", nil][Int(random.next() % 3)]
                request.lane = ["l", nil, nil][Int(random.next() % 3)]
                request.priority = Float(random.next() % 3) / 2
                request.offlineLimit = random.next() % 4 == 0 ? 50_000_000 : nil
                waiting.insert(queue.enqueued(request, at: now))
            case 3, 4:
                guard let one else { break }
                _ = queue.finished(one, at: now)
                do {
                    running.remove(one)
                    waiting.remove(one)
                    suspended.remove(one)
                }
            case 5:
                isOpen.toggle()
                queue.gateChanged(passable: isOpen ? .all : DemandSet(.nothing), isPaused: false, at: now)
            case 6:
                guard let one, running.contains(one) else { break }
                queue.parked(one, demand: .anyPath, at: now)
                running.remove(one)
                waiting.insert(one)
            case 7:
                guard let one else { break }
                queue.suspended(one, at: now)
                running.remove(one)
                waiting.insert(one)
                suspended.insert(one)
            default:
                guard let one else { break }
                queue.resumed(one, at: now)
                suspended.remove(one)
            }
            queue.deadlineReached(at: now)
            while let ticket = queue.next(at: now) {
                #expect(isOpen && waiting.contains(ticket) && !suspended.contains(ticket))
                waiting.remove(ticket)
                #expect(running.insert(ticket).inserted)
            }
            while let ticket = queue.nextExpired(at: now) {
                #expect(!isOpen && waiting.contains(ticket))
                _ = queue.finished(ticket, at: now)
                waiting.remove(ticket)
            }
            #expect(queue.counts.active == running.count)
            #expect(queue.counts.total == running.count + waiting.count)
            #expect(queue.counts.waitingForUser == suspended.count)
            #expect(running.count <= 3)
        }
        // At the end all can go.
        queue.gateChanged(passable: .all, isPaused: false, at: now)
        for ticket in suspended { queue.resumed(ticket, at: now) }
        var started = 0
        let left = waiting.count
        while running.count + (left - started) > 0 {
            now += 1_000_000_000
            queue.deadlineReached(at: now)
            while let ticket = queue.next(at: now) {
                started += 1
                running.insert(ticket)
            }
            guard let one = running.popFirst() else { break }
            _ = queue.finished(one, at: now)
        }
        #expect(started == left)
        #expect(queue.counts == QueueCounts())
    }
}
