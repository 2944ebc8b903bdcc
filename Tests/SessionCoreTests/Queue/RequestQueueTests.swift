// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@Suite struct RequestQueueTests {
    @Test func inOrderWithinTheLimit() {
        var queue = NamedQueue { $0.maximumActive = 2 }
        for name in ["a", "b", "c", "d"] { queue.add(name) }
        #expect(queue.started() == "ab")
        #expect(queue.machine.counts.waitingForTurn == 2)
        queue.finish("b")
        #expect(queue.started() == "c")
        queue.finish("a")
        queue.finish("c")
        #expect(queue.started() == "d")
        queue.finish("d")
        #expect(queue.machine.counts == QueueCounts())
    }

    @Test func theMoreUrgentFirst() {
        var queue = NamedQueue { $0.maximumActive = 1 }
        queue.gate(open: false)
        queue.add("a") { $0.priority = 0.1 }
        queue.add("b")
        queue.add("c") { $0.priority = 1 }
        queue.add("d")
        queue.add("e") { $0.priority = .nan }
        queue.gate(open: true)
        var order = ""
        for _ in 0..<5 {
            let name = queue.started()
            order += name
            queue.finish(name)
        }
        #expect(order == "cbdae")
    }

    @Test("AF-228 what is parked comes before what came after it")
    func parkedGoesFirst() {
        var queue = NamedQueue { $0.maximumActive = 2 }
        for name in ["a", "b", "c"] { queue.add(name) }
        #expect(queue.started() == "ab")
        queue.gate(open: false)
        queue.machine.parked(queue.ticket("b"), demand: .anyPath, at: 0)
        queue.machine.parked(queue.ticket("a"), demand: .anyPath, at: 0)
        #expect(queue.started() == "")
        #expect(queue.machine.counts.parked == 2)
        #expect(queue.machine.counts.waitingForNetwork == 3)
        queue.gate(open: true)
        #expect(queue.started() == "ab")
        #expect(queue.machine.counts.parked == 0)
    }

    @Test("AF-232 who is suspended has no place, and takes one again")
    func suspensionFreesTheSlot() {
        var queue = NamedQueue { $0.maximumActive = 2 }
        for name in ["a", "b", "c", "d"] { queue.add(name) }
        #expect(queue.started() == "ab")
        queue.machine.suspended(queue.ticket("a"), at: 0)
        #expect(queue.started() == "c")
        #expect(queue.machine.hold(of: queue.ticket("a")) == .user)
        #expect(queue.machine.counts.waitingForUser == 1)
        queue.machine.resumed(queue.ticket("a"), at: 0)
        #expect(queue.started() == "")
        queue.finish("b")
        // It came first.
        #expect(queue.started() == "a")
        // One that waits is passed over meanwhile.
        queue.machine.suspended(queue.ticket("d"), at: 0)
        queue.finish("a")
        #expect(queue.started() == "")
        queue.machine.resumed(queue.ticket("d"), at: 0)
        #expect(queue.started() == "d")
    }

    @Test func demandsAreLetGoApart() {
        var queue = NamedQueue()
        queue.gate(open: false)
        queue.add("a") { $0.demand = NetworkDemand(.wiredOnly) }
        queue.add("b")
        queue.add("c") { $0.demand = .nothing }
        #expect(queue.started() == "c")
        queue.gate([DemandSet(.anyPath), DemandSet(.nothing)])
        #expect(queue.started() == "b")
        queue.gate(open: true)
        #expect(queue.started() == "a")
    }

    @Test("AF-229 paused by the user, no task starts; the counts say what holds them")
    func pausedByUser() {
        var queue = NamedQueue()
        queue.pause(true)
        queue.add("a")
        queue.add("b") { $0.demand = .nothing }
        #expect(queue.started() == "")
        #expect(queue.machine.counts.waitingForUser == 2)
        queue.gate(open: false)
        queue.pause(false)
        #expect(queue.started() == "b")
        #expect(queue.machine.counts.waitingForNetwork == 1)
        queue.gate(open: true)
        #expect(queue.started() == "a")
    }

    @Test("AF-236 who is cancelled while waiting never starts")
    func cancelled() {
        var queue = NamedQueue { $0.maximumActive = 1 }
        for name in ["a", "b", "c"] { queue.add(name) }
        #expect(queue.started() == "a")
        queue.finish("b")
        queue.finish("a")
        #expect(queue.started() == "c")
        // The slot is used again; the old ticket means nothing.
        queue.finish("b")
        queue.add("e")
        queue.finish("b")
        queue.finish("c")
        #expect(queue.started() == "e")
    }

    @Test("AF-237 patience runs only while the network holds")
    func patience() {
        let second: Int64 = 1_000_000_000
        var queue = NamedQueue()
        queue.add("r") { $0.offlineLimit = 5 * second }
        #expect(queue.started() == "r")
        queue.gate(open: false)
        queue.add("a") { $0.offlineLimit = 5 * second }
        queue.add("b")
        queue.machine.parked(queue.ticket("r"), demand: .anyPath, at: 0)
        #expect(queue.machine.nextDeadline == 5 * second)
        #expect(queue.run(until: 4 * second) == [])
        // The user's pause stops it, and it begins anew.
        queue.pause(true)
        #expect(queue.machine.nextDeadline == nil)
        queue.now = 10 * second
        queue.pause(false)
        #expect(queue.run(until: 14 * second) == [])
        #expect(queue.run(until: 15 * second) == ["ra"])
        // Back and lost again: from the beginning.
        queue.add("c") { $0.offlineLimit = second }
        queue.now += second / 2
        queue.gate(open: true)
        queue.gate(open: false)
        #expect(queue.run(until: queue.now + second * 3 / 4) == [])
        #expect(queue.run(until: queue.now + second / 4) == ["c"])
        #expect(queue.machine.counts.total == 1)
    }

    @Test func noPatienceAtAll() {
        var queue = NamedQueue()
        queue.gate(open: false)
        queue.add("a") { $0.offlineLimit = 0 }
        #expect(queue.started() == "")
        #expect(queue.expired() == "a")
    }

    @Test func nothingHappensWhileAllWait() {
        var queue = NamedQueue { $0.ramp = RequestRamp() }
        queue.gate(open: false)
        for number in 0..<1000 { queue.add("\(number)") }
        #expect(queue.started() == "")
        #expect(queue.machine.nextDeadline == nil)
    }

    @Test("AF-226 the ramp lets all go in order, the first at once and the last of 100 within 200 ms")
    func ramp() {
        var queue = NamedQueue { $0.ramp = RequestRamp() }
        queue.gate(open: false)
        for number in 0..<100 { queue.add("\(number),") }
        queue.gate(open: true)
        #expect(queue.started() == "0,1,")
        // Who comes now has to wait as well.
        queue.add("new,")
        #expect(queue.started() == "")
        let steps = queue.run(until: 200 * NamedQueue.millisecond)
        #expect(steps.first == "2,3,4,5,")
        #expect(steps.joined() == (2..<100).map { "\($0)," }.joined() + "new,")
        #expect(steps.count > 3)
        #expect(queue.machine.nextDeadline == nil)
        #expect(queue.machine.counts.active == 101)
    }

    @Test func aLossEndsTheRamp() {
        var queue = NamedQueue { $0.ramp = RequestRamp() }
        queue.gate(open: false)
        for number in 0..<10 { queue.add("\(number)") }
        queue.gate(open: true)
        #expect(queue.started() == "01")
        queue.gate(open: false)
        #expect(queue.machine.nextDeadline == nil)
        #expect(queue.run(until: NamedQueue.millisecond * 1000) == [])
        queue.gate(open: true)
        #expect(queue.started() == "23")
    }

    @Test func theStraightWayIsOnlyForTheUnhindered() {
        var queue = NamedQueue { $0.maximumActive = 2 }
        let first = queue.machine.admitted()
        #expect(first != nil)
        queue.add("a") { $0.dependencies = 1 }
        #expect(queue.machine.admitted() != nil)
        #expect(queue.machine.admitted() == nil)
        _ = first.map { queue.machine.finished($0, at: 0) }
        queue.pause(true)
        #expect(queue.machine.admitted() == nil)
        queue.pause(false)
        queue.gate(open: false)
        #expect(queue.machine.admitted() == nil)
        queue.gate(open: true)
        queue.add("b")
        #expect(queue.machine.admitted() == nil)
        #expect(queue.started() == "b")
    }
}
