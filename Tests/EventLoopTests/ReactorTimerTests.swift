// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestSupport
import Testing

/// Deadlines.
@Suite struct ReactorTimerTests {
    private let millisecond: Int64 = 1_000_000

    @Test func timers_FireInOrderOfDeadline_ThenOfBeingSet() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Int>()
        try await reactor.result { [millisecond] in
            let now = Reactor.now
            for (number, delay) in [(4, 9), (2, 5), (1, 2), (3, 5), (0, -7)] {
                _ = reactor.schedule(at: now + Int64(delay) * millisecond) { log.append(number) }
            }
        }
        #expect(await log.wait(forCount: 5) == [0, 1, 2, 3, 4])
    }

    @Test func timer_NeverFiresEarly_AndCostsOneTurn() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<(late: Int64, turns: Int)>()
        try await reactor.result { [millisecond] in
            let deadline = Reactor.now + 20 * millisecond + 1
            let turns = reactor.counters.turns
            _ = reactor.schedule(at: deadline) {
                log.append((Reactor.now - deadline, reactor.counters.turns - turns))
            }
        }
        let seen = try #require(await log.wait(forCount: 1).first)
        #expect(seen.late >= 0)
        #expect(seen.turns == 1)
    }

    @Test func cancel_KeepsItFromFiring() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<String>()
        try await reactor.result { [millisecond] in
            let now = Reactor.now
            let timer = reactor.schedule(at: now + millisecond) { log.append("cancelled") }
            _ = reactor.schedule(at: now + 2 * millisecond) { log.append("kept") }
            precondition(reactor.cancel(timer))
            precondition(!reactor.cancel(timer))
            precondition(!reactor.reschedule(timer, at: now))
        }
        #expect(await log.wait(forCount: 1) == ["kept"])
    }

    @Test func cancel_FromATimerDueInTheSameTurn_KeepsTheOtherFromFiring() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<String>()
        try await reactor.result { [millisecond] in
            let now = Reactor.now
            var second: TimerID?
            _ = reactor.schedule(at: now - 2) {
                log.append("first")
                if let second { reactor.cancel(second) }
            }
            second = reactor.schedule(at: now - 1) { log.append("second") }
            _ = reactor.schedule(at: now + millisecond) { log.append("third") }
        }
        #expect(await log.wait(forCount: 2) == ["first", "third"])
    }

    @Test func reschedule_MovesBothWays() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<String>()
        try await reactor.result { [millisecond] in
            let now = Reactor.now
            let early = reactor.schedule(at: now + millisecond) { log.append("early") }
            let late = reactor.schedule(at: now + 3600 * 1000 * millisecond) { log.append("late") }
            _ = reactor.schedule(at: now + 3 * millisecond) { log.append("middle") }
            precondition(reactor.reschedule(early, at: now + 5 * millisecond))
            precondition(reactor.reschedule(late, at: now + millisecond))
        }
        #expect(await log.wait(forCount: 3) == ["late", "middle", "early"])
    }

    @Test func identifier_OfAFiredTimer_DoesNotNameTheNextOne() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<String>()
        try await reactor.result {
            var first: TimerID?
            first = reactor.schedule(at: Reactor.now) {
                _ = reactor.schedule(at: Reactor.now) { log.append("next") }
                if let first { precondition(!reactor.cancel(first)) }
            }
        }
        #expect(await log.wait(forCount: 1) == ["next"])
    }

    @Test func timerThatSetsItselfAnew_StarvesNothing() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Bool>()
        let pair = try DescriptorPair()
        let near = pair.near.number
        try await reactor.result {
            let ticker = Ticker(reactor: reactor)
            ticker.tick()
            try reactor.watch(near, for: .readable) { _ in
                reactor.unwatch(near)
                ticker.isRunning = false
                log.append(ticker.ticks > 0)
            }
        }
        pair.signal()
        #expect(await log.wait(forCount: 1) == [true])
    }

    @Test func thousandTimers_SetMovedAndCancelledAtRandom_FireAsTheModelSays() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Int>()
        let expected = try await reactor.result { [millisecond] in
            var random = SystemRandomNumberGenerator()
            let start = Reactor.now
            var model: [(deadline: Int64, order: Int, number: Int, timer: TimerID)] = []
            var order = 0
            func deadline() -> Int64 { start + Int64.random(in: -20...40, using: &random) * millisecond / 4 }
            for number in 0..<1000 {
                let at = deadline()
                model.append((at, order, number, reactor.schedule(at: at) { log.append(number) }))
                order += 1
            }
            for _ in 0..<700 {
                let index = Int.random(in: model.indices, using: &random)
                if Bool.random(using: &random) {
                    precondition(reactor.cancel(model.remove(at: index).timer))
                } else {
                    let at = deadline()
                    precondition(reactor.reschedule(model[index].timer, at: at))
                    (model[index].deadline, model[index].order) = (at, order)
                    order += 1
                }
            }
            return model.sorted { ($0.deadline, $0.order) < ($1.deadline, $1.order) }.map(\.number)
        }
        #expect(await log.wait(forCount: expected.count) == expected)
    }
}

/// A timer that is always due.
private final class Ticker {
    let reactor: Reactor
    var isRunning = true
    var ticks = 0

    init(reactor: Reactor) { self.reactor = reactor }

    func tick() {
        ticks += 1
        if isRunning { _ = reactor.schedule(at: Reactor.now) { self.tick() } }
    }
}
