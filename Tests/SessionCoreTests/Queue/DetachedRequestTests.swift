// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@Suite("Requests that run without a slot")
struct DetachedRequestTests {
    private func request(lane: String? = nil) -> QueueRequest {
        var request = QueueRequest()
        request.lane = lane
        request.host = "http://a"
        return request
    }

    private func queue(_ active: Int, perHost: Int = .max) -> RequestQueueStateMachine {
        var queue = RequestQueueStateMachine()
        var limits = RequestQueueStateMachine.Limits()
        limits.maximumActive = active
        limits.maximumPerHost = perHost
        queue.limitsChanged(limits)
        return queue
    }

    @Test("API-337 One that is detached lets the next of the queue, of its host and of its lane run")
    func room() {
        var queue = queue(1, perHost: 1)
        let first = queue.enqueued(request(lane: "x"), at: 0)
        let second = queue.enqueued(request(lane: "x"), at: 0)
        #expect(queue.next(at: 0) == first)
        #expect(queue.next(at: 0) == nil)
        #expect(queue.detached(first, at: 1) == second)
        #expect(queue.next(at: 1) == second)
        #expect(queue.counts.active == 1 && queue.counts.detached == 1 && queue.counts.total == 2)
        #expect(queue.hold(of: first).isEmpty)
        #expect(queue.detached(first, at: 2) == nil)
        #expect(queue.finished(second, at: 2) == nil && queue.finished(first, at: 2) == nil)
        #expect(queue.counts == QueueCounts())
        let isWaiting = queue.isWaiting
        #expect(!isWaiting)
    }

    @Test("API-338 One that is detached is not suspended, and can be parked")
    func parked() {
        var queue = queue(1)
        let ticket = queue.enqueued(request(), at: 0)
        #expect(queue.detached(ticket, at: 0) == nil)
        #expect(queue.next(at: 0) == ticket)
        _ = queue.detached(ticket, at: 0)
        queue.suspended(ticket, at: 1)
        #expect(queue.isDetached(ticket) && queue.counts.detached == 1)
        queue.parked(ticket, demand: .anyPath, at: 2)
        #expect(!queue.isDetached(ticket) && queue.counts.detached == 0 && queue.counts.parked == 1)
        #expect(queue.next(at: 3) == ticket)
        #expect(queue.counts.active == 1)
    }
}
