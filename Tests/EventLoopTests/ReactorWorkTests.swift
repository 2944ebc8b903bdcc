// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestSupport
import Testing

/// Work that is handed to a loop.
@Suite struct ReactorWorkTests {
    @Test func perform_KeepsOrder_FromOneThread() throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Int>()
        for number in 0..<1000 { reactor.perform { log.append(number) } }
        reactor.stop()
        #expect(log.elements == Array(0..<1000))
    }

    @Test func perform_KeepsEachCallersOrder_FromManyThreads() async throws {
        let reactor = try Reactor(name: "test")
        let logs = (0..<8).map { _ in EventLog<Int>() }
        await withTaskGroup { group in
            for log in logs {
                group.addTask {
                    for number in 0..<1000 { reactor.perform { log.append(number) } }
                }
            }
        }
        reactor.stop()
        for log in logs { #expect(log.elements == Array(0..<1000)) }
    }

    @Test func perform_RunsOnTheThread_AndNowhereElse() async throws {
        let reactor = try Reactor(name: "test")
        #expect(!reactor.isCurrent)
        #expect(try await reactor.result { reactor.isCurrent })
    }

    @Test func perform_StaysInOrderWithJobs() async throws {
        let reactor = try Reactor(name: "test")
        let diary = Diary(reactor: reactor)
        let log = EventLog<String>()
        // All posts fall into one turn, since the loop is busy with the first.
        reactor.perform {
            reactor.perform { log.append("work") }
            Task {
                await diary.record("job")
                log.append("job")
                reactor.perform { log.append("last") }
            }
        }
        #expect(await log.wait(forCount: 3) == ["work", "job", "last"])
        #expect(await diary.entries == ["job"])
    }

    @Test func perform_OnTheLoopsThread_WritesNoEvent_AndRunsNextTurn() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Int>()
        let wakeUps = try await reactor.result {
            reactor.perform {
                log.append(2)
                reactor.perform { log.append(3) }
            }
            log.append(1)
            return reactor.counters.wakeUps
        }
        #expect(await log.wait(forCount: 3) == [1, 2, 3])
        #expect(reactor.counters.wakeUps == wakeUps)
    }

    @Test func perform_WakesOnce_WhileTheLoopIsBusy() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Int>()
        let gate = try DescriptorPair()
        let blocked = gate.near.number
        reactor.perform {
            blockUntilReadable(blocked)
            log.append(0)
        }
        for number in 1...100 { reactor.perform { log.append(number) } }
        gate.signal()
        #expect(await log.wait(forCount: 101) == Array(0...100))
        #expect(reactor.counters.wakeUps <= 1)
    }

    @Test func perform_LetsGoOfWhatWorkHolds_BeforeTheNextRuns() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Bool>()
        let gate = try DescriptorPair()
        let blocked = gate.near.number
        // All in one batch.
        reactor.perform { blockUntilReadable(blocked) }
        weak var held: Canary?
        do {
            let canary = Canary()
            held = canary
            reactor.perform { withExtendedLifetime(canary) {} }
        }
        let look = Look(held)
        reactor.perform { log.append(look.isAlive) }
        gate.signal()
        #expect(await log.wait(forCount: 1) == [false])
    }
}

private final class Canary: Sendable {}

/// Observes an object without retaining it; unchecked, since `weak` is a variable although it never changes.
private final class Look: @unchecked Sendable {
    private weak var object: Canary?
    init(_ object: Canary?) { self.object = object }
    var isAlive: Bool { object != nil }
}
