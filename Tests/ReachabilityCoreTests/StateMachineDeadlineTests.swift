// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// The deadlines of the state machine, to the nanosecond.
struct StateMachineDeadlineTests {
    private let start = MonotonicInstant(nanoseconds: 0)
    private let error = ReachabilityError(.timedOut, context: "no answer", advice: "")

    private static func event() throws -> NetworkEvent { .routeAdded(try #require(IPPrefix("0.0.0.0/0"))) }

    /// A machine that published a wired path a second ago, after which the start needs no confirmation.
    private func machine(
        _ configure: (inout ReachabilityTiming) -> Void = { $0.safetyInterval = nil }
    ) -> ReachabilityStateMachine {
        var timing = ReachabilityTiming()
        configure(&timing)
        var machine = ReachabilityStateMachine(timing: timing)
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: start + .seconds(-1))
        _ = machine.evaluated(Marbles.path("e"), at: start)
        return machine
    }

    @Test func graceBeginsWithTheLossAndIsNotProlonged() {
        var machine = machine()
        _ = machine.evaluated(Marbles.path("x"), at: start + .seconds(1))
        #expect(machine.nextDeadline == start + .milliseconds(1500))
        _ = machine.evaluated(Marbles.path("x"), at: start + .milliseconds(1400))
        #expect(machine.nextDeadline == start + .milliseconds(1500))
    }

    @Test("RB-10 a question without an answer at the end of the grace is put again after a pause")
    func failureAtTheEndOfTheGrace() {
        var machine = machine()
        _ = machine.evaluated(Marbles.path("x"), at: start + .seconds(1))
        var now = start + .milliseconds(1500)
        for pause in [250, 500, 1000] {
            #expect(machine.deadlineReached(at: now) == .evaluate(afresh: false))
            _ = machine.evaluationFailed(error, at: now)
            #expect(machine.nextDeadline == now + .milliseconds(pause))
            now = now + .milliseconds(pause)
        }
        // The grace has ended before the answer.
        guard case .publish(let update) = machine.evaluated(Marbles.path("x"), at: now) else {
            Issue.record("nothing was published")
            return
        }
        #expect(update.status == .unreachable)
    }

    @Test("RB-10 so is one at the end of a damped return")
    func failureAtTheEndOfTheHold() {
        var machine = machine {
            $0.safetyInterval = nil
            $0.lossGrace = .zero
            $0.dampingThreshold = 0
        }
        _ = machine.evaluated(Marbles.path("x"), at: start + .seconds(1))
        _ = machine.evaluated(Marbles.path("e"), at: start + .seconds(2))
        let held = start + .seconds(4)
        #expect(machine.nextDeadline == held)
        _ = machine.evaluationFailed(error, at: held)
        #expect(machine.nextDeadline == held + .milliseconds(250))
    }

    @Test("a failure before the end of the grace leaves its end where it was")
    func failureWithinTheGrace() {
        var machine = machine()
        _ = machine.evaluated(Marbles.path("x"), at: start + .seconds(1))
        _ = machine.evaluationFailed(error, at: start + .seconds(1))
        #expect(machine.nextDeadline == start + .milliseconds(1250))
        #expect(machine.deadlineReached(at: start + .milliseconds(1250)) == .evaluate(afresh: false))
        _ = machine.evaluated(Marbles.path("x"), at: start + .milliseconds(1250))
        #expect(machine.nextDeadline == start + .milliseconds(1500))
    }

    @Test("times beyond 292 years are endless, not over")
    func endless() {
        let late = MonotonicInstant(nanoseconds: 1_000_000_000)
        let end = MonotonicInstant(nanoseconds: .max)
        #expect(late.advanced(by: .max) == end)
        #expect(late + .seconds(Int64.max) == end)
        #expect(MonotonicInstant(nanoseconds: -5).advanced(by: .min) == MonotonicInstant(nanoseconds: .min))
        var machine = machine {
            $0.safetyInterval = .seconds(Int64.max)
            $0.lossGrace = .seconds(Int64.max)
        }
        _ = machine.evaluated(Marbles.path("x"), at: late)
        #expect(machine.nextDeadline == end)
        guard case .refresh = machine.evaluated(Marbles.path("x"), at: late + .seconds(86_400)) else {
            Issue.record("an endless grace ended")
            return
        }
    }

    @Test("RB-02 what is counted as lost events: overruns, not the looks in between")
    func resyncs() {
        var machine = machine { _ in }
        #expect(machine.observed(.overrun, at: start + .seconds(1)) == .evaluate)
        _ = machine.evaluated(Marbles.path("e"), at: start + .seconds(1))
        #expect(machine.resyncs == 1)
        #expect(machine.observed(.overrun, at: start + .seconds(1)) == .wait)
        #expect(machine.observed(.overrun, at: start + .seconds(1)) == .wait)
        #expect(machine.deadlineReached(at: start + .milliseconds(1250)) == .evaluate(afresh: true))
        _ = machine.evaluated(Marbles.path("e"), at: start + .milliseconds(1250))
        #expect(machine.resyncs == 2)
        #expect(machine.deadlineReached(at: start + .seconds(400)) == .evaluate(afresh: true))
        #expect(machine.resyncs == 2)
        machine.started()
        #expect(machine.resyncs == 0)
    }

    @Test func graceEndsWithTheHandOver() {
        var machine = machine()
        _ = machine.evaluated(Marbles.path("x"), at: start + .seconds(1))
        _ = machine.evaluated(Marbles.path("w"), at: start + .milliseconds(1100))
        #expect(machine.nextDeadline == nil)
        let isSettled = machine.isSettled
        #expect(isSettled)
    }

    @Test func graceEndsWhileANameIsResolved() {
        var machine = machine()
        _ = machine.evaluated(Marbles.path("x"), at: start + .seconds(1))
        machine.evaluationPostponed(at: start + .milliseconds(1100))
        #expect(machine.nextDeadline == nil)
    }

    @Test(
        "API-575 two evaluations that take long are followed by a pause ten times as long as the shorter one, half a second at most"
    )
    func pace() throws {
        let durations: [(first: Int64, second: Int64, pause: Int)] = [
            (0, 0, 10), (1, 1, 10), (5, 5, 50), (40, 40, 400), (3000, 3000, 500), (40, 5, 50), (5, 40, 50),
            // One alone may have been preempted.
            (3000, 0, 10), (0, 3000, 10),
        ]
        for (first, second, pause) in durations {
            var machine = machine()
            let event = try Self.event()
            for took in [first, second] {
                _ = machine.observed(event, at: start)
                _ = machine.evaluated(Marbles.path("e"), took: took * 1_000_000, at: start)
            }
            #expect(machine.observed(event, at: start + .microseconds(100)) == .wait)
            #expect(machine.nextDeadline == start + .milliseconds(pause), "\(first) and \(second) ms")
        }
    }

    @Test func firstEventAfterAQuietMomentCountsAtOnce() throws {
        var machine = machine()
        let event = try Self.event()
        _ = machine.observed(event, at: start)
        _ = machine.evaluated(Marbles.path("e"), at: start)
        #expect(machine.observed(event, at: start + .milliseconds(2)) == .evaluate)
        #expect(machine.observed(event, at: start + .milliseconds(2)) == .wait)
    }

    @Test func wirelessNoiseDoesNotPutOffWhatWasPlanned() throws {
        var machine = machine()
        let event = try Self.event()
        _ = machine.observed(event, at: start)
        _ = machine.observed(event, at: start)
        let noise = NetworkEvent.linkChanged(LinkState(index: 2, name: "wlan0"), isWirelessNoise: true)
        #expect(machine.observed(noise, at: start) == .wait)
        #expect(machine.nextDeadline == start + .milliseconds(10))
    }

    @Test func safetyCheckAsksAfresh() {
        var machine = machine { _ in }
        #expect(machine.nextDeadline == start + .seconds(300))
        let isSettled = machine.isSettled
        #expect(isSettled)
        #expect(machine.deadlineReached(at: start + .seconds(300)) == .evaluate(afresh: true))
    }

    @Test(
        "RB-14 RB-16 the less the kernel reports, the sooner it is asked, which reveals the other changes",
        arguments: [
            ([], 30), (.unfiltered, 30), (.partialEvents, 6), ([.partialEvents, .unfiltered], 6),
            (.noEvents, 1),
        ] as [(MonitorLimitations, Int)])
    func recheck(limitations: MonitorLimitations, step: Int) {
        var marbles = Marbles()
        marbles.step = .seconds(10)
        marbles.timing.lossGrace = .seconds(15)
        marbles.limitations = limitations
        let quiet = String(repeating: "-", count: step - 1)
        #expect(marbles.run("eX" + String(repeating: "-", count: step)) == "e\(quiet)·x")
    }

    @Test("RB-14 the re-check moves as soon as something is missing, and back") func limited() {
        var machine = machine { _ in }
        #expect(machine.nextDeadline == start + .seconds(300))
        machine.limited(by: .partialEvents)
        #expect(machine.nextDeadline == start + .seconds(60))
        #expect(machine.deadlineReached(at: start + .seconds(60)) == .evaluate(afresh: true))
        _ = machine.evaluated(Marbles.path("e"), at: start + .seconds(60))
        #expect(machine.nextDeadline == start + .seconds(120))
        machine.limited(by: .noEvents)
        #expect(machine.nextDeadline == start + .seconds(70))
        machine.limited(by: [])
        #expect(machine.nextDeadline == start + .seconds(360))
    }

    @Test("RB-14 a longer re-check never replaces a shorter one; each can be switched off") func recheckOff()
    {
        var short = machine { $0.safetyInterval = .seconds(5) }
        short.limited(by: [.partialEvents, .noEvents])
        #expect(short.nextDeadline == start + .seconds(5))
        var off = machine {
            $0.safetyInterval = nil
            $0.partialSafetyInterval = nil
        }
        off.limited(by: .partialEvents)
        #expect(off.nextDeadline == nil)
        off.limited(by: .noEvents)
        #expect(off.nextDeadline == start + .seconds(10))
    }

    @Test("RB-02 after lost events everything is asked afresh, and after a quiet time at once again")
    func resync() {
        var machine = machine()
        #expect(machine.observed(.overrun, at: start) == .evaluate)
        #expect(machine.observed(.overrun, at: start + .milliseconds(1)) == .wait)
        #expect(machine.nextDeadline == start + .milliseconds(250))
        #expect(machine.deadlineReached(at: start + .milliseconds(250)) == .evaluate(afresh: true))
        #expect(machine.observed(.overrun, at: start + .milliseconds(251)) == .wait)
        #expect(machine.nextDeadline == start + .milliseconds(750))
        #expect(machine.deadlineReached(at: start + .milliseconds(750)) == .evaluate(afresh: true))
        // After twice the longest delay without a loss, the delays start again with the first one.
        let later = start + .milliseconds(750) + .seconds(10)
        #expect(machine.observed(.overrun, at: later) == .evaluate)
        #expect(machine.observed(.overrun, at: later) == .wait)
        #expect(machine.nextDeadline == later + .milliseconds(250))
    }

    @Test("RB-10 an answer sets the pauses back")
    func retry() {
        var machine = machine()
        for pause in [250, 500, 1000] {
            _ = machine.evaluationFailed(error, at: start)
            #expect(machine.nextDeadline == start + .milliseconds(pause))
        }
        _ = machine.evaluated(Marbles.path("e"), at: start)
        #expect(machine.nextDeadline == nil)
        _ = machine.evaluationFailed(error, at: start)
        #expect(machine.nextDeadline == start + .milliseconds(250))
    }

    @Test func returnsOutsideTheWindowDoNotCount() {
        var damping = FlapDamping(.init())
        for i in 0..<10 {
            let now = start + .seconds(11 * i)  // three of them in any 30 seconds
            damping.flapped(at: now)
            #expect(damping.holdForReturn(at: now) == nil)
            damping.returned(at: now)
        }
    }

    @Test("the damping uses the configured numbers")
    func ownDamping() {
        var timing = ReachabilityTiming()
        timing.dampingThreshold = 1
        timing.dampingWindow = .seconds(10)
        timing.dampingHold = .seconds(1)
        timing.dampingHoldLimit = .seconds(3)
        timing.dampingReset = .seconds(5)
        var damping = FlapDamping(timing)
        damping.flapped(at: start)
        #expect(damping.holdForReturn(at: start) == nil)
        damping.returned(at: start)
        for hold in [1, 2, 3, 3].map({ Duration.seconds($0) }) {
            damping.flapped(at: start + .seconds(1))
            #expect(damping.holdForReturn(at: start + .seconds(1)) == hold)
            damping.returned(at: start + .seconds(1))
        }
        damping.flapped(at: start + .milliseconds(5999))
        #expect(damping.holdForReturn(at: start + .milliseconds(5999)) == .seconds(3))
        damping.flapped(at: start + .milliseconds(10_999))
        #expect(damping.holdForReturn(at: start + .milliseconds(10_999)) == nil)
    }

    @Test("a gap between events that is shorter than the set one makes them a burst")
    func burstGap() throws {
        let event = try Self.event()
        for (gap, second) in [(1, .evaluate), (5, .wait)] as [(Int, ReachabilityStateMachine.EventAction)] {
            var machine = machine {
                $0.safetyInterval = nil
                $0.burstGap = .milliseconds(gap)
            }
            #expect(machine.observed(event, at: start + .seconds(1)) == .evaluate)
            _ = machine.evaluated(Marbles.path("e"), at: start + .seconds(1))
            #expect(machine.observed(event, at: start + .milliseconds(1003)) == second, "\(gap) ms")
        }
    }

    @Test("the delays after lost events and failures are the configured ones")
    func ownBackoff() {
        func machine() -> ReachabilityStateMachine {
            self.machine {
                $0.safetyInterval = nil
                $0.resyncBackoff = .milliseconds(100)
                $0.resyncBackoffLimit = .milliseconds(300)
            }
        }
        var failing = machine()
        for pause in [100, 200, 300, 300] {
            _ = failing.evaluationFailed(error, at: start)
            #expect(failing.nextDeadline == start + .milliseconds(pause))
        }
        var losing = machine()
        #expect(losing.observed(.overrun, at: start) == .evaluate)
        #expect(losing.observed(.overrun, at: start) == .wait)
        #expect(losing.nextDeadline == start + .milliseconds(100))
        #expect(losing.deadlineReached(at: start + .milliseconds(100)) == .evaluate(afresh: true))
        // Twice the longest delay without a loss resets the back-off.
        #expect(losing.observed(.overrun, at: start + .milliseconds(700)) == .evaluate)
    }
}
