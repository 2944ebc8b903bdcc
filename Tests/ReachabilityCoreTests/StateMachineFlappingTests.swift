// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// The statuses published for a flapping network.
///
/// Marbles: one character is 100 ms.
struct StateMachineFlappingTests {
    @Test func flappingReturnsAreDamped() {
        var marbles = Marbles()
        // Eight flaps, 800 ms down and 800 ms up: four returns are published, then a return needs two stable
        // seconds.
        let flap = "x-------e-------"
        let reported = marbles.run(
            "e-" + String(repeating: flap, count: 8) + String(repeating: "-", count: 40))
        #expect(reported.filter { $0 == "x" }.count == 5)
        #expect(reported.filter { $0 == "e" }.count == 6)  // the first report, four returns, the last one
        #expect(reported.last { $0 != "-" && $0 != "·" } == "e")
        #expect(marbles.updates.last?.event == .status)
    }

    @Test("RS-117 fifty flaps of 150 ms are hidden, then twenty of 800 ms damped, and the last word is wired")
    func flaps() {
        var machine = ReachabilityStateMachine(timing: .init())
        var now = MonotonicInstant(nanoseconds: 0)
        var reported: [ReachabilityStatus] = []
        func collect(_ action: ReachabilityStateMachine.EvaluationAction) {
            if case .publish(let update) = action, update.event == .status { reported.append(update.status) }
        }
        func stay(_ letter: Character, for duration: Duration) {
            let path = Marbles.path(letter)
            #expect(machine.observed(.requested, at: now) == .evaluate)
            collect(machine.evaluated(path, at: now))
            let end = now + duration
            while let due = machine.nextDeadline, due < end {
                guard case .evaluate = machine.deadlineReached(at: due) else { break }
                collect(machine.evaluated(path, at: due))
            }
            now = end
        }
        machine.started()
        collect(machine.evaluated(Marbles.path("e"), at: now))
        for _ in 0..<50 {
            stay("x", for: .milliseconds(150))
            stay("e", for: .milliseconds(150))
        }
        #expect(reported == [])
        for _ in 0..<20 {
            stay("x", for: .milliseconds(800))
            stay("e", for: .milliseconds(800))
        }
        stay("e", for: .seconds(60))
        #expect(reported.count <= 10)
        #expect(reported.last == .wired)
        #expect(zip(reported, reported.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func dampingLastsOnlyUntilItIsQuiet() {
        var damping = FlapDamping(.init())
        var now = MonotonicInstant(nanoseconds: 0)
        for _ in 0..<4 {
            damping.flapped(at: now)
            #expect(damping.holdForReturn(at: now) == nil)
            damping.returned(at: now)
            now = now + .seconds(2)
        }
        damping.flapped(at: now)
        #expect(damping.holdForReturn(at: now) == .seconds(2))
        damping.returned(at: now)
        #expect(damping.holdForReturn(at: now) == .seconds(4))
        for _ in 0..<6 { damping.returned(at: now) }
        #expect(damping.holdForReturn(at: now) == .seconds(30))
        now = now + .seconds(61)
        damping.flapped(at: now)
        #expect(damping.holdForReturn(at: now) == nil)
    }
}
