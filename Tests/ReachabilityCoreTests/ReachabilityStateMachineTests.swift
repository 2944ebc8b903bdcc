// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Marbles: one character is 100 ms; the upper line is the input, the lower the output.
struct ReachabilityStateMachineTests {
    @Test func firstReportAlwaysComes() {
        var marbles = Marbles()
        #expect(marbles.run("x---") == "x---")
        #expect(marbles.updates.map(\.event) == [.initial])
        #expect(marbles.updates.first?.previous == nil)
        #expect(marbles.updates.first?.path.generation == 1)
    }

    @Test func gainIsReportedAtOnceAndLossAfterTheGrace() {
        var marbles = Marbles()
        #expect(
            marbles.run("x--e-----x---------")
                == "x--e-----·----x----")
        #expect(marbles.updates.map(\.status) == [.unreachable, .wired, .wired, .unreachable])
        #expect(marbles.updates[2].path.isOnline == false, "the path says at once what the status says later")
    }

    @Test func bounceWithinTheGraceIsNoStatus() {
        var marbles = Marbles()
        #expect(
            marbles.run("e--x--e--------")
                == "e--·--·--------")
        #expect(marbles.updates.map(\.path.generation) == [1, 1, 2])
    }

    @Test func handOverIsReportedAtOnce() {
        var marbles = Marbles()
        #expect(
            marbles.run("e--w--e--x-w------")
                == "e--w--e--·-w------")
    }

    @Test("RS-118 a loss lasting 499 ms and one lasting 501 ms")
    func lossJustBelowAndAboveTheGrace() {
        func lossLasting(_ duration: Duration) -> [ReachabilityStatus] {
            var machine = ReachabilityStateMachine(timing: .init())
            var reported: [ReachabilityStatus] = []
            func collect(_ action: ReachabilityStateMachine.EvaluationAction) {
                if case .publish(let update) = action, update.event == .status {
                    reported.append(update.status)
                }
            }
            let start = MonotonicInstant(nanoseconds: 0)
            machine.started()
            collect(machine.evaluated(Marbles.path("e"), at: start))
            let lost = start + .seconds(10)
            collect(machine.evaluated(Marbles.path("x"), at: lost))
            let found = lost + duration
            while let deadline = machine.nextDeadline, deadline <= found {
                guard case .evaluate = machine.deadlineReached(at: deadline) else { break }
                collect(machine.evaluated(Marbles.path("x"), at: deadline))
            }
            collect(machine.evaluated(Marbles.path("e"), at: found))
            return reported
        }
        #expect(lossLasting(.milliseconds(499)) == [])
        #expect(lossLasting(.milliseconds(501)) == [.unreachable, .wired])
    }

    @Test("RS-124 a loss pending and restored in the same tick")
    func restoredInTheSameTick() {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: start)
        _ = machine.evaluated(Marbles.path("x"), at: start + .seconds(1))
        let tick = start + .milliseconds(1500)
        #expect(machine.deadlineReached(at: tick) == .evaluate(afresh: false))
        guard case .publish(let update) = machine.evaluated(Marbles.path("e"), at: tick) else {
            Issue.record("the path is back, which is a path update")
            return
        }
        #expect(update.event == .path)
        #expect(update.status == .wired)
        #expect(machine.nextDeadline != tick)
    }

    @Test("RS-026 a thousand wireless events that change nothing")
    func wirelessNoise() {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        machine.started()
        _ = machine.evaluated(Marbles.path("w"), at: start + .seconds(-1))
        _ = machine.evaluated(Marbles.path("w"), at: start)
        let link = LinkState(index: 2, name: "wlan0")
        for i in 0..<1000 {
            let reaction = machine.observed(
                .linkChanged(link, isWirelessNoise: true), at: start + .microseconds(i * 10))
            #expect(reaction == .wait)
        }
        #expect(machine.nextDeadline == start + .milliseconds(100))
        #expect(machine.deadlineReached(at: start + .milliseconds(100)) == .evaluate(afresh: false))
        #expect(machine.evaluated(Marbles.path("w"), at: start + .milliseconds(100)).isRefresh)
    }

    @Test func eventsInAStormAreEvaluatedAtTheirPaceAndTheLastOneCounts() throws {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        let event = NetworkEvent.routeAdded(try #require(IPPrefix("0.0.0.0/0")))
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: start)
        var evaluations = 0
        for i in 1...1000 {  // one event each 100 µs, 100 ms in all
            let now = start + .microseconds(i * 100)
            var evaluates = machine.observed(event, at: now) == .evaluate
            if let due = machine.nextDeadline, due <= now, machine.deadlineReached(at: now) != .nothing {
                evaluates = true
            }
            if evaluates {
                evaluations += 1
                _ = machine.evaluated(Marbles.path("e"), at: now)
            }
        }
        #expect((9...11).contains(evaluations))
        #expect(machine.observed(event, at: start + .microseconds(100_050)) == .wait)
        let armed = machine.nextDeadline
        #expect(try #require(armed) <= start + .milliseconds(111))
    }

    @Test("RS-120 RS-121 after a sleep: one evaluation, a new generation, a call only if something changed")
    func resume() {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: start)
        #expect(machine.observed(.resumed(after: .seconds(30)), at: start + .seconds(1)) == .evaluate)
        guard case .publish(let same) = machine.evaluated(Marbles.path("e"), at: start + .seconds(1)) else {
            Issue.record("a new generation is a path update")
            return
        }
        #expect(same.event == .path)
        #expect(same.path.generation == 2)
        _ = machine.observed(.resumed(after: .seconds(30)), at: start + .seconds(2))
        guard case .publish(let other) = machine.evaluated(Marbles.path("w"), at: start + .seconds(2)) else {
            Issue.record("another medium is a status")
            return
        }
        #expect(other.event == .status)
        #expect(other.path.generation == 3)
    }

    @Test("RB-01 RB-02 lost events: at once the first time, then no faster than the back-off")
    func overrunStorm() {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: start)
        var evaluations: [MonotonicInstant] = []
        for i in 0..<10_000 {  // ten seconds of overruns, one each millisecond
            let now = start + .milliseconds(i)
            var evaluates = machine.observed(.overrun, at: now) == .evaluate
            if let due = machine.nextDeadline, due <= now, machine.deadlineReached(at: now) != .nothing {
                evaluates = true
            }
            if evaluates {
                evaluations.append(now)
                _ = machine.evaluated(Marbles.path("e"), at: now)
            }
        }
        #expect(evaluations.first == start)
        #expect(evaluations.count <= 8, "0, 250 ms, 750 ms, 1.75 s, 3.75 s, 7.75 s …")
        #expect(evaluations.count >= 5)
    }

    @Test("RB-10 a kernel that does not answer: the last status stays, marked stale, and is asked again")
    func silentKernel() throws {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        let error = ReachabilityError(.timedOut, context: "no answer", advice: "")
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: start)
        guard case .refresh(let path) = machine.evaluationFailed(error, at: start + .seconds(1)) else {
            Issue.record("silence is not worth a call")
            return
        }
        #expect(path.isStale)
        #expect(path.interface == "eth0")
        let armed = machine.nextDeadline
        #expect(try #require(armed) == start + .milliseconds(1250))
    }

    @Test("FLD-069 another reason is a path update: it is no status, and prolongs no grace")
    func otherReason() {
        var machine = ReachabilityStateMachine(timing: .init())
        func events(_ code: ReachabilityReason.Code, _ milliseconds: Int64) -> ReachabilityUpdate.Event? {
            var path = Marbles.path("x")
            path.reason = ReachabilityReason(code, sentence: "the words of the reason")
            let now = MonotonicInstant(nanoseconds: 1_000_000 * milliseconds)
            guard case .publish(let update) = machine.evaluated(path, at: now) else { return nil }
            #expect(update.path.reason.code == code)
            return update.event
        }
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: MonotonicInstant(nanoseconds: 0))
        #expect(events(.linkDown, 100) == .path)
        #expect(events(.noRoute, 300) == .path)
        #expect(events(.noRoute, 599) == nil)
        #expect(events(.noRoute, 600) == .status)
        #expect(events(.blackhole, 700) == .path)
        #expect(events(.prohibited, 800) == .path)
        #expect(events(.prohibited, 900) == nil)
    }

    @Test("RB-16 where the kernel never answers the first report is unknown")
    func unknownWhereMonitoringIsImpossible() {
        var machine = ReachabilityStateMachine(timing: .init())
        let error = ReachabilityError(.netlinkRefused, context: "refused", advice: "")
        machine.started()
        guard case .publish(let update) = machine.evaluationFailed(error, at: .init(nanoseconds: 0)) else {
            Issue.record("the first report always comes")
            return
        }
        #expect(update.status == .unknown)
        #expect(update.event == .initial)
        #expect(update.path.reason.code == .kernelRefused)
    }

    @Test("RB-27 a carrier that was away between two looks is a new generation")
    func carrierCounter() {
        var machine = ReachabilityStateMachine(timing: .init())
        machine.started()
        var path = Marbles.path("e")
        _ = machine.evaluated(path, at: .init(nanoseconds: 0))
        path.carrierDownCount += 1
        guard case .publish(let update) = machine.evaluated(path, at: .init(nanoseconds: 1_000_000_000))
        else {
            Issue.record("nothing was published")
            return
        }
        #expect(update.event == .path)
        #expect(update.path.generation == 2)
    }

    @Test func anExpiringRouteIsAskedAgainWhenItExpires() throws {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: start + .seconds(-1))
        _ = machine.evaluated(Marbles.path("e"), expires: .seconds(2), at: start)
        let armed = machine.nextDeadline
        let deadline = try #require(armed)
        #expect(deadline > start + .seconds(2) && deadline < start + .milliseconds(2200))
        #expect(machine.deadlineReached(at: deadline) == .evaluate(afresh: false))
    }

    @Test("asked just before it expires, a route says nothing of its end: the deadline stays") func lastTick()
        throws
    {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), expires: .seconds(2), at: start)
        _ = machine.evaluated(Marbles.path("e"), at: start + .milliseconds(1995))
        let armed = machine.nextDeadline
        let deadline = try #require(armed)
        #expect(deadline > start + .seconds(2) && deadline < start + .milliseconds(2200))
        // The path is the same after that time, so it no longer expires.
        #expect(machine.deadlineReached(at: deadline) == .evaluate(afresh: false))
        _ = machine.evaluated(Marbles.path("e"), at: deadline)
        let next = machine.nextDeadline
        #expect(next.map { $0 > start + .seconds(100) } ?? true, "only the safety re-check is left")
    }

    @Test("a route that no longer expires is not waited for") func renewed() {
        var machine = ReachabilityStateMachine(timing: .init())
        let start = MonotonicInstant(nanoseconds: 0)
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), expires: .seconds(2), at: start)
        _ = machine.evaluated(Marbles.path("e"), at: start + .seconds(1))
        let next = machine.nextDeadline
        #expect(next.map { $0 > start + .seconds(100) } ?? true, "only the safety re-check is left")
    }

    @Test func nothingComesOutAfterStop() throws {
        var machine = ReachabilityStateMachine(timing: .init())
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: .init(nanoseconds: 0))
        machine.stopped()
        #expect(machine.nextDeadline == nil)
        #expect(machine.observed(.requested, at: .init(nanoseconds: 1)) == .ignore)
        #expect(machine.evaluated(Marbles.path("x"), at: .init(nanoseconds: 2)) == .ignore)
    }
}

extension ReachabilityStateMachine.EvaluationAction {
    fileprivate var isRefresh: Bool { if case .refresh = self { true } else { false } }
}
