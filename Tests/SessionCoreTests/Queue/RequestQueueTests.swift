// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// A queue whose requests have names, on a clock of one's own.
private struct NamedQueue: ~Copyable {
    var machine = RequestQueueStateMachine(seed: 7)
    var now: Int64 = 0
    private var tickets: [String: QueueTicket] = [:]
    private var names: [QueueTicket: String] = [:]
    private var isPaused = false
    private var passable = DemandSet.all

    static let millisecond: Int64 = 1_000_000

    init(_ change: (inout RequestQueueStateMachine.Limits) -> Void = { _ in }) {
        var limits = RequestQueueStateMachine.Limits()
        limits.ramp = .none
        change(&limits)
        machine.limitsChanged(limits)
    }

    mutating func add(_ name: String, _ change: (inout QueueRequest) -> Void = { _ in }) {
        var request = QueueRequest()
        change(&request)
        note(name, machine.enqueued(request, at: now))
    }

    mutating func note(_ name: String, _ ticket: QueueTicket) {
        tickets[name] = ticket
        names[ticket] = name
    }

    func ticket(_ name: String) -> QueueTicket {
        guard let ticket = tickets[name] else { preconditionFailure("nobody is called \(name)") }
        return ticket
    }

    /// Who starts, in order.
    mutating func started() -> String {
        var all = ""
        while let ticket = machine.next(at: now) { all += names[ticket] ?? "?" }
        return all
    }

    mutating func expired() -> String {
        var all = ""
        while let ticket = machine.nextExpired(at: now) {
            all += names[ticket] ?? "?"
            _ = machine.finished(ticket, at: now)
        }
        return all
    }

    @discardableResult
    mutating func finish(_ name: String) -> String? {
        machine.finished(ticket(name), at: now).flatMap { names[$0] }
    }

    mutating func gate(open: Bool) { gate(open ? .all : DemandSet(.nothing)) }

    mutating func gate(_ passable: DemandSet) {
        self.passable = passable
        machine.gateChanged(passable: passable, isPaused: isPaused, at: now)
    }

    mutating func pause(_ isPaused: Bool) {
        self.isPaused = isPaused
        machine.gateChanged(passable: passable, isPaused: isPaused, at: now)
    }

    /// Moves the clock, and tells what started at each deadline on the way.
    mutating func run(until end: Int64) -> [String] {
        var all: [String] = []
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            machine.deadlineReached(at: now)
            let names = started() + expired()
            if !names.isEmpty { all.append(names) }
        }
        now = end
        return all
    }
}

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
    func suspensionGivesThePlaceBack() {
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

    @Test("AF-229 paused by the user, nobody starts; the counts say who holds them")
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

    /// Whatever happens in whatever order: nobody is lost, counted twice or started twice, and the limits hold.
    @Test(arguments: 0..<40) func anyOrderOfEvents(seed: UInt64) {
        var random = SplitMix(state: seed)
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

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31
    }
}
