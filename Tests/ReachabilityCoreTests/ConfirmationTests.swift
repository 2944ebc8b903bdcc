// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Further questions after events that the kernel sends before their changes.
struct ConfirmationTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private static let everything = [IPPrefix("0.0.0.0/0"), IPPrefix("::/0")].compactMap { $0 }
    private static let address = IPAddress("192.0.2.2").map {
        InterfaceAddress(interface: 2, address: $0, prefixLength: 24)
    }

    @Test("FLD-099 reports before the change: removed IPv4 routes and addresses, dead links, lost events")
    func events() throws {
        let (ipv4, ipv6) = (Self.everything[0], Self.everything[1])
        let address = try #require(Self.address)
        let on = LinkState(index: 2, name: "eth0", flags: [.up])
        let off = LinkState(index: 2, name: "eth0")
        let early: [NetworkEvent] = [
            .routeRemoved(ipv4, through: 2), .routeRemoved(ipv4), .routeAdded(ipv4),
            .linkChanged(off, isWirelessNoise: false), .addressRemoved(address), .nexthopChanged(7), .overrun,
            .reopened,
        ]
        let held: [NetworkEvent] = [
            .routeAdded(ipv4, through: 2), .routeAdded(ipv6), .routeRemoved(ipv6),
            .linkChanged(on, isWirelessNoise: false), .linkChanged(off, isWirelessNoise: true),
            .linkRemoved(index: 2), .addressAdded(address), .ruleChanged(.ipv4), .settingChanged(.ipv4),
            .routerChanged(interface: 2), .wirelessChanged(index: 2), .resumed(after: .seconds(9)),
            .destinationsChanged, .requested,
        ]
        for event in early { #expect(event.precedesItsChange, "\(event)") }
        for event in held { #expect(!event.precedesItsChange, "\(event)") }
    }

    @Test("FLD-099 such an event is followed by questions after 10 ms, 100 ms and 1 s") func times() {
        var schedule = ConfirmationSchedule()
        #expect(schedule.next(after: Self.start) == nil)
        schedule.observed(.requested, at: Self.start)
        #expect(schedule.next(after: Self.start) == nil)
        schedule.observed(.routeRemoved(Self.everything[0]), at: Self.start)
        let due = [10, 100, 1000].map { Self.start + .milliseconds($0) }
        #expect(schedule.next(after: Self.start) == due[0])
        #expect(schedule.next(after: Self.start + .milliseconds(1)) == due[0], "a question in between")
        #expect(schedule.next(after: due[0]) == due[1])
        #expect(schedule.next(after: due[1]) == due[2])
        let later = due[1] + .milliseconds(1)
        schedule.observed(.requested, at: later)
        #expect(schedule.next(after: later) == due[2], "an event that holds changes nothing")
        schedule.observed(.routeRemoved(Self.everything[0]), at: later)
        #expect(schedule.next(after: later) == later + .milliseconds(10), "another event begins anew")
        #expect(schedule.next(after: later + .seconds(1)) == nil)
        #expect(schedule.next(after: later) == nil)
    }

    /// A machine that has published the wired path.
    private func machine() -> ReachabilityStateMachine {
        var timing = ReachabilityTiming()
        timing.safetyInterval = nil
        timing.lossGrace = .zero
        var machine = ReachabilityStateMachine(timing: timing)
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: Self.start)
        return machine
    }

    @Test("FLD-099 a report may have come just before the start, so its answer is asked for again")
    func start() {
        var machine = machine()
        for delay in [10, 100, 1000] {
            let due = Self.start + .milliseconds(delay)
            #expect(machine.nextDeadline == due)
            #expect(machine.deadlineReached(at: due) == .evaluate(afresh: false))
            _ = machine.evaluated(Marbles.path("e"), at: due)
        }
        #expect(machine.nextDeadline == nil)
    }

    @Test("FLD-099 a start without an answer is confirmed from its first answer on") func startWithoutAnswer()
    {
        var machine = ReachabilityStateMachine(timing: .init())
        machine.started()
        machine.evaluationPostponed(took: 1_000_000, at: Self.start)
        let answered = Self.start + .seconds(3)
        _ = machine.evaluated(Marbles.path("x"), at: answered)
        #expect(machine.nextDeadline == answered + .milliseconds(10))
    }

    @Test("FLD-099 the answer after lost events is confirmed: one of them may have come before its change")
    func loss() {
        var machine = machine()
        let event = Self.start + .seconds(5)
        #expect(machine.observed(.overrun, at: event) == .evaluate)
        _ = machine.evaluated(Marbles.path("e"), at: event)
        #expect(machine.nextDeadline == event + .milliseconds(10))
    }

    @Test("FLD-099 a route that goes after its event is a loss, without another event") func removal() {
        var machine = machine()
        let event = Self.start + .seconds(5)
        #expect(machine.observed(.routeRemoved(Self.everything[0], through: 2), at: event) == .evaluate)
        guard case .refresh = machine.evaluated(Marbles.path("e"), at: event) else {
            Issue.record("the same path was published")
            return
        }
        let isSettled = machine.isSettled
        #expect(isSettled, "a re-check does not count")
        let due = event + .milliseconds(10)
        #expect(machine.nextDeadline == due)
        #expect(machine.deadlineReached(at: due) == .evaluate(afresh: false))
        guard case .publish(let update) = machine.evaluated(Marbles.path("x"), at: due) else {
            Issue.record("the loss was not published")
            return
        }
        #expect(update.status == .unreachable)
        #expect(machine.nextDeadline == event + .milliseconds(100))
    }

    @Test("FLD-099 a question that was put before its time does not count as the confirmation") func slow() {
        var machine = machine()
        let event = Self.start + .seconds(5)
        _ = machine.observed(.routeRemoved(Self.everything[0], through: 2), at: event)
        _ = machine.evaluated(Marbles.path("e"), took: 40_000_000, at: event + .milliseconds(40))
        #expect(machine.nextDeadline == event + .milliseconds(50), "put at the event, answered 40 ms later")
        _ = machine.evaluated(Marbles.path("e"), at: event + .milliseconds(50))
        #expect(machine.nextDeadline == event + .milliseconds(100))
    }

    @Test("FLD-099 confirmations keep the pace of slow evaluations") func pace() {
        var machine = machine()
        var now = Self.start + .seconds(5)
        for _ in 0..<3 {
            _ = machine.observed(.routeRemoved(Self.everything[0], through: 2), at: now)
            now = now + .milliseconds(40)
            _ = machine.evaluated(Marbles.path("e"), took: 40_000_000, at: now)
        }
        #expect(machine.nextDeadline == now + .milliseconds(400), "one part in ten of the time")
    }

    @Test("FLD-099 in a storm of losses the evaluation after them is the confirmation") func storm() {
        var machine = machine()
        let event = Self.start + .seconds(5)
        _ = machine.observed(.overrun, at: event)
        _ = machine.observed(.routeRemoved(Self.everything[0], through: 2), at: event)
        _ = machine.observed(.overrun, at: event)
        _ = machine.evaluated(Marbles.path("e"), at: event)
        let resync = event + .milliseconds(250)
        #expect(machine.nextDeadline == resync)
        #expect(machine.deadlineReached(at: resync) == .evaluate(afresh: true))
        _ = machine.evaluated(Marbles.path("e"), at: resync)
        #expect(machine.nextDeadline == event + .seconds(1))
    }

    @Test("FLD-099 without an answer the confirmation waits for the retry") func failure() {
        var machine = machine()
        let event = Self.start + .seconds(5)
        _ = machine.observed(.routeRemoved(Self.everything[0], through: 2), at: event)
        _ = machine.evaluationFailed(
            ReachabilityError(.timedOut, context: "no answer", advice: ""), at: event)
        #expect(machine.nextDeadline == event + .milliseconds(250))
    }
}
