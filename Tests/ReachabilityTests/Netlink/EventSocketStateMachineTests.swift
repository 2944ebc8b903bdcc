// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

/// Reading and opening of the route socket, on a manual clock.
@Suite("The route socket's state machine")
struct EventSocketStateMachineTests {
    private static let millisecond: Int64 = 1_000_000

    @Test("RB-11 a socket that cannot be opened again is tried with pauses that double from 10 ms to 5 s")
    func reopenDelay() {
        var machine = EventSocketStateMachine()
        machine.opened()
        var now: Int64 = 0
        var action = machine.drained(.broken(errno: 24), hasEvents: false, at: now)
        var pauses: [Int64] = []
        while case .reopen(let instant) = action, now < 60_000 * Self.millisecond {
            pauses.append((instant - now) / Self.millisecond)
            now = instant
            #expect(machine.deadlineReached() == .reopen)
            action = machine.openingFailed(at: now)
        }
        // A minute without descriptors costs 20 attempts.
        #expect(pauses.prefix(11) == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000])
        #expect(pauses.count == 20)
    }

    @Test(
        "RB-11 a socket that opens and breaks at once counts as one that does not open; events set the pauses back"
    )
    func breakingAtOnce() {
        var machine = EventSocketStateMachine()
        for pause in [10, 20, 40, 80] as [Int64] {
            machine.opened()
            let broken = machine.drained(.broken(errno: 9), hasEvents: false, at: 0)
            #expect(broken == .reopen(at: pause * Self.millisecond))
            #expect(machine.deadlineReached() == .reopen)
        }
        machine.opened()
        #expect(machine.drained(.drained, hasEvents: false, at: 0) == .listen)
        #expect(
            machine.drained(.broken(errno: 9), hasEvents: false, at: 0) == .reopen(at: 160 * Self.millisecond)
        )
        machine.opened()
        #expect(machine.drained(.more, hasEvents: true, at: 0) == .listen)
        #expect(
            machine.drained(.broken(errno: 9), hasEvents: true, at: 0) == .reopen(at: 10 * Self.millisecond))
    }

    @Test(
        "RB-02 the first overrun is no storm; the second within a second begins one, and a quiet second ends it"
    )
    func rests() {
        var machine = EventSocketStateMachine()
        machine.opened()
        #expect(machine.drained(.overran, hasEvents: true, at: 0) == .listen)
        #expect(
            machine.drained(.overran, hasEvents: true, at: 999 * Self.millisecond)
                == .pause(until: 1009 * Self.millisecond))
        // The loop may have one more event pending.
        #expect(machine.drained(.overran, hasEvents: true, at: 999 * Self.millisecond) == .ignore)
        #expect(machine.deadlineReached() == .listen)
        #expect(machine.deadlineReached() == .nothing)
        #expect(
            machine.drained(.overran, hasEvents: true, at: 1010 * Self.millisecond)
                == .pause(until: 1030 * Self.millisecond))
        #expect(machine.deadlineReached() == .listen)
        #expect(machine.drained(.overran, hasEvents: true, at: 2010 * Self.millisecond) == .listen)
        #expect(
            machine.drained(.overran, hasEvents: true, at: 2011 * Self.millisecond)
                == .pause(until: 2021 * Self.millisecond))
    }

    @Test("RB-02 a minute of a storm that never ends: reading and evaluating take less than 2 % of a CPU")
    func share() {
        var socket = EventSocketStateMachine()
        var machine = ReachabilityStateMachine(timing: .init())
        var now: Int64 = 0
        var (readings, evaluations) = (0, 0)
        // A full buffer of 1 MiB holds about a thousand messages; 3 ms are enough to read and process them.
        let (reading, evaluation) = (3 * Self.millisecond, Self.millisecond)
        func evaluate() {
            evaluations += 1
            now += evaluation
            _ = machine.evaluated(
                ReachabilityPath(status: .wired), took: evaluation, at: MonotonicInstant(nanoseconds: now))
        }
        socket.opened()
        machine.started()
        evaluate()
        let minute = 60_000 * Self.millisecond
        while now < minute {
            readings += 1
            now += reading
            let action = socket.drained(.overran, hasEvents: true, at: now)
            // Relevant events, then the overrun.
            for event in Array(repeating: NetworkEvent.nexthopChanged(1), count: 3) + [.overrun] {
                if machine.observed(event, at: MonotonicInstant(nanoseconds: now)) == .evaluate { evaluate() }
            }
            var next = now
            if case .pause(let until) = action {
                next = until
                #expect(socket.deadlineReached() == .listen)
            }
            // Deadlines of the state machine during the pause.
            while let deadline = machine.nextDeadline, deadline.nanoseconds <= next {
                now = max(now, deadline.nanoseconds)
                if case .evaluate = machine.deadlineReached(at: MonotonicInstant(nanoseconds: now)) {
                    evaluate()
                }
            }
            now = max(now, next)
        }
        let busy = Int64(readings) * reading + Int64(evaluations) * evaluation
        #expect(busy * 50 < minute, "\(readings) readings, \(evaluations) evaluations")
        #expect(readings > 100, "a storm is not slept through")
    }

    @Test("what comes after a stop is ignored")
    func stopped() {
        var machine = EventSocketStateMachine()
        machine.opened()
        _ = machine.drained(.broken(errno: 9), hasEvents: false, at: 0)
        machine.closed()
        #expect(machine.deadlineReached() == .nothing)
        #expect(machine.openingFailed(at: 0) == .ignore)
        #expect(machine.drained(.overran, hasEvents: true, at: 0) == .ignore)
    }
}
