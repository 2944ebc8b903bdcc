// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@testable import Outbox

@Suite struct DispatchStateMachineTests {
    private func id(_ number: Int64) -> OutboxID { OutboxID(rawValue: number) }

    @Test("A lane has one request on its way at a time")
    func lanes() {
        let machine = Dispatcher(limit: 4, limitPerHost: 4)
        _ = machine.started()
        #expect(machine.start(id(1), lane: "a", host: "h", condition: .any))
        #expect(!machine.start(id(2), lane: "a", host: "h", condition: .any))
        #expect(machine.start(id(3), lane: "b", host: "h", condition: .any))
        #expect(machine.isInFlight(id(1)) && !machine.isInFlight(id(2)))
        machine.settled(lane: "a")
        #expect(machine.start(id(2), lane: "a", host: "h", condition: .any))
    }

    @Test("One host does not take all paths, nor do those that wait for another network")
    func paths() {
        let machine = Dispatcher(limit: 3, limitPerHost: 2)
        _ = machine.started()
        #expect(machine.start(id(1), lane: "a", host: "dead", condition: .any))
        #expect(machine.start(id(2), lane: "b", host: "dead", condition: .any))
        #expect(machine.fullHosts(.any) == ["dead"])
        #expect(!machine.start(id(3), lane: "c", host: "dead", condition: .any))
        #expect(machine.start(id(4), lane: "d", host: "live", condition: .any))
        #expect(machine.room(.any) == 0)
        #expect(!machine.start(id(5), lane: "e", host: "other", condition: .any))
        #expect(machine.room(.wiredOnly) == 3 && machine.fullHosts(.wiredOnly).isEmpty)
        #expect(machine.start(id(6), lane: "f", host: "dead", condition: .wiredOnly))
        #expect(machine.busyLanes(.any) == 3 && machine.busyLanes(.wiredOnly) == 1)
    }

    @Test("OBX-215 All entries of a batch are in flight, until it is settled")
    func batch() {
        var machine = DispatchStateMachine(limit: 4, limitPerHost: 4)
        _ = machine.started()
        let starts = machine.start(id(1), lane: "a", origin: "o", host: "h", condition: .any)
        machine.joined([id(1), id(3), id(4)], lane: "a")
        let inFlight = [1, 2, 3, 4].map { machine.isInFlight(id($0)) }
        #expect(starts && inFlight == [true, false, true, true])
        let (head, isBusy) = (machine.head(with: id(4)), machine.isBusy("a"))
        #expect(head == id(1) && isBusy)
        machine.settled(lane: "a")
        let (later, isStillBusy) = (machine.isInFlight(id(3)), machine.isBusy("a"))
        #expect(!later && !isStillBusy)
    }

    @Test("UPL-360 A held request takes no place, in all and of its host, and closes its origin alone")
    func held() {
        let machine = Dispatcher(limit: 2, limitPerHost: 1)
        _ = machine.started()
        #expect(machine.start(id(1), lane: "a", host: "h", condition: .any))
        #expect(machine.start(id(2), lane: "b", host: "i", condition: .any))
        #expect(machine.room(.any) == 0 && machine.fullHosts(.any).sorted() == ["h", "i"])
        #expect(machine.held(id(1), lane: "a", "a clock") && !machine.held(id(1), lane: "a", "a clock"))
        #expect(machine.room(.any) == 1 && machine.busyLanes(.any) == 2 && machine.fullHosts(.any) == ["i"])
        #expect(machine.hold(of: "https://h") == "a clock" && machine.heldOrigins == ["https://h"])
        #expect(!machine.start(id(3), lane: "c", host: "h", condition: .any))
        #expect(!machine.start(id(3), lane: "a", host: "j", condition: .any))
        #expect(machine.start(id(3), lane: "c", origin: "http://h", host: "h", condition: .any))
        // It was held for an earlier request of its lane.
        #expect(!machine.held(id(9), lane: "b", "a clock"))
        #expect(machine.held(id(1), lane: "a", nil) && !machine.held(id(1), lane: "a", nil))
        #expect(machine.heldOrigins.isEmpty && machine.room(.any) <= 0)
        #expect(!machine.start(id(4), lane: "d", host: "k", condition: .any))
        machine.settled(lane: "a")
        machine.settled(lane: "c")
        #expect(machine.start(id(4), lane: "d", host: "h", condition: .any))
    }

    @Test("UPL-361 Held requests are four times as many as may be sent, and no more")
    func manyHeld() {
        let machine = Dispatcher(limit: 2, limitPerHost: 2)
        _ = machine.started()
        var count = 0
        while count < 100, machine.start(id(1), lane: "\(count)", host: "\(count)", condition: .any) {
            #expect(machine.held(id(1), lane: "\(count)", "a clock"))
            count += 1
        }
        #expect(count == 10 && machine.room(.any) == 0 && machine.room(.wiredOnly) == 2)
        machine.settled(lane: "0")
        #expect(machine.room(.any) == 2)
    }

    @Test("Nothing leaves before the start, during a pause, and after the end")
    func phases() {
        let machine = Dispatcher(limit: 1, limitPerHost: 1)
        #expect(!machine.start(id(1), lane: "a", host: "h", condition: .any))
        #expect(machine.pauseChanged(true) && !machine.pauseChanged(true))
        #expect(machine.started() && !machine.started())
        #expect(machine.room(.any) == 0 && machine.isRunning)
        #expect(machine.pauseChanged(false) && machine.room(.any) == 1)
        #expect(machine.stopped() && !machine.stopped())
        #expect(machine.room(.any) == 0)
    }
}

/// The machine behind a reference, since `#expect` would copy it.
private final class Dispatcher {
    private var machine: DispatchStateMachine

    init(limit: Int, limitPerHost: Int) {
        machine = DispatchStateMachine(limit: limit, limitPerHost: limitPerHost)
    }

    var isRunning: Bool { machine.isRunning }
    func started() -> Bool { machine.started() }
    func stopped() -> Bool { machine.stopped() }
    func pauseChanged(_ isPaused: Bool) -> Bool { machine.pauseChanged(isPaused) }
    func room(_ condition: NetworkCondition) -> Int { machine.room(condition) }
    func fullHosts(_ condition: NetworkCondition) -> [String] { machine.fullHosts(condition) }
    func busyLanes(_ condition: NetworkCondition) -> Int { machine.busyLanes(condition) }
    func isInFlight(_ entry: OutboxID) -> Bool { machine.isInFlight(entry) }
    func settled(lane: String) { machine.settled(lane: lane) }

    func held(_ entry: OutboxID, lane: String, _ reason: String?) -> Bool {
        machine.held(entry, lane: lane, reason)
    }
    func hold(of origin: String) -> String? { machine.hold(of: origin) }
    var heldOrigins: Set<String> { machine.heldOrigins }

    /// - Parameter origin: the host's by https, unless another one is given.
    func start(
        _ entry: OutboxID, lane: String, origin: String? = nil, host: String, condition: NetworkCondition
    ) -> Bool {
        machine.start(
            entry, lane: lane, origin: origin ?? "https://\(host)", host: host, condition: condition)
    }
}
