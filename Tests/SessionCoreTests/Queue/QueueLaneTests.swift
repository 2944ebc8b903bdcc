// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// Those of one lane, of one host, and those that wait for others.
struct QueueLaneTests {
    @Test func lanesGoOneByOne() {
        var queue = NamedQueue()
        queue.add("a") { $0.lane = "x" }
        queue.add("b") { $0.lane = "x" }
        queue.add("c") { $0.lane = "y" }
        queue.add("d") {
            $0.lane = "x"
            $0.priority = 1
        }
        queue.add("e")
        #expect(queue.started() == "ace")
        #expect(queue.machine.hold(of: queue.ticket("b")) == .lane)
        #expect(queue.machine.counts.waitingForOthers == 2)
        // One in the middle goes.
        #expect(queue.finish("b") == nil)
        #expect(queue.started() == "")
        #expect(queue.finish("a") == "d")
        #expect(queue.started() == "d")
        queue.finish("d")
        // The name is free again.
        queue.add("f") { $0.lane = "x" }
        #expect(queue.started() == "f")
    }

    @Test func aParkedOneKeepsItsLane() {
        var queue = NamedQueue()
        queue.add("a") { $0.lane = "x" }
        queue.add("b") { $0.lane = "x" }
        #expect(queue.started() == "a")
        queue.gate(open: false)
        queue.machine.parked(queue.ticket("a"), demand: .anyPath, at: 0)
        queue.gate(open: true)
        #expect(queue.started() == "a")
    }

    @Test func dependencies() {
        var queue = NamedQueue()
        queue.add("a") { $0.dependencies = 2 }
        #expect(queue.started() == "")
        #expect(queue.machine.hold(of: queue.ticket("a")) == .dependency)
        queue.machine.dependencyEnded(queue.ticket("a"), at: 0)
        #expect(queue.started() == "")
        queue.machine.dependencyEnded(queue.ticket("a"), at: 0)
        #expect(queue.started() == "a")
        // It has ended: a late word changes nothing.
        queue.finish("a")
        queue.machine.dependencyEnded(queue.ticket("a"), at: 0)
        #expect(queue.started() == "")
    }

    @Test func hosts() {
        var queue = NamedQueue { $0.maximumPerHost = 1 }
        for (name, host) in [("a", "x"), ("b", "x"), ("c", "y"), ("d", "x")] {
            queue.add(name) { $0.host = host }
        }
        #expect(queue.started() == "ac")
        queue.finish("c")
        #expect(queue.started() == "")
        queue.finish("a")
        #expect(queue.started() == "b")
        queue.machine.suspended(queue.ticket("b"), at: 0)
        #expect(queue.started() == "d")
        var limits = RequestQueueStateMachine.Limits()
        limits.maximumPerHost = 2
        queue.machine.limitsChanged(limits)
        queue.machine.resumed(queue.ticket("b"), at: 0)
        #expect(queue.started() == "b")
    }
}
