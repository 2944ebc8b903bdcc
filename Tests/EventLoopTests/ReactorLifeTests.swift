// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestSupport
import Testing

/// Beginning, idleness and end.
@Suite struct ReactorLifeTests {
    @Test func stop_RunsWhatIsQueued_WithAllThatItQueues() throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Int>()
        for number in 0..<100 {
            reactor.perform {
                log.append(number)
                reactor.perform { log.append(number) }
            }
        }
        reactor.stop()
        #expect(log.elements.count == 200)
    }

    @Test func stop_FromInside_EndsWithTheTurn() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<String>()
        let pair = try DescriptorPair()
        let near = pair.near.number
        try await reactor.result {
            try reactor.watch(near, for: .readable) { _ in
                reactor.perform { log.append("queued") }
                reactor.stop()
                log.append("stopped")
            }
            _ = reactor.schedule(at: Reactor.now + 3_600_000_000_000) { log.append("timer") }
        }
        pair.signal()
        await log.wait(forCount: 2)
        reactor.stop()
        #expect(log.elements == ["stopped", "queued"])
    }

    @Test func stop_FromManyThreads_ReturnsToAll() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Int>()
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    reactor.perform { log.append(number) }
                    reactor.stop()
                }
            }
        }
        reactor.stop()
        await log.wait(forCount: 8)
        #expect(log.elements.count == 8)
    }

    @Test func stop_ReleasesHandlers_OnTheThread() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let log = EventLog<Bool>()
        try await reactor.result {
            let witness = Witness(reactor: reactor, log: log)
            try reactor.watch(near, for: .readable) { _ in witness.use() }
            _ = reactor.schedule(at: .max) { witness.use() }
            _ = reactor.beforeWait { witness.use() }
        }
        reactor.stop()
        #expect(log.elements == [true])
    }

    @Test func stoppedLoop_RefusesToWatch_ButRunsWork() async throws {
        let reactor = try Reactor(name: "test")
        reactor.stop()
        await #expect(throws: ReactorError.stopped) {
            try await reactor.result { try reactor.watch(0, for: .readable) { _ in } }
        }
        #expect(try await reactor.result { reactor.cancel(reactor.schedule(at: 0) {}) } == false)
        #expect(!reactor.isCurrent)
    }

    @Test func idleLoop_DoesNotTurn() async throws {
        let idle = try Reactor(name: "idle")
        let busy = try Reactor(name: "busy")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let log = EventLog<Void>()
        try await idle.result {
            try idle.watch(near, for: .readable) { _ in }
            _ = idle.schedule(at: Reactor.now + 3_600_000_000_000) {}
        }
        let turns = try await idle.result { idle.counters.turns }
        try await busy.result { _ = busy.schedule(at: Reactor.now + 50_000_000) { log.append(()) } }
        await log.wait(forCount: 1)
        #expect(idle.counters.turns == turns)
    }

    @Test func shared_IsOne() throws {
        #expect(try Reactor.shared === Reactor.shared)
    }

    @Test func signals_AreLeftToOtherThreads() async throws {
        let reactor = try Reactor(name: "test")
        let isBlocked = try await reactor.result {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGCHLD) == 1
        }
        #expect(isBlocked)
    }

    @Test func forgottenReactors_LeaveNoThreadAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            // The first round starts the runtime's own pool of threads and timers, which remain.
            try await useAndForget()
            _ = await EventLog<Int>().wait(within: .milliseconds(1)) { _ in false }
            let before = ProcessInventory()
            for _ in 0..<20 { try await useAndForget() }
            #expect(await ProcessInventory.leftovers(since: before, threadsNamed: "forgotten") == [])
        }
    }

    @Test func reactorWhoseLastReferenceDiesOnItsOwnThread_EndsToo() async {
        await #expect(processExitsWith: .success) {
            // The first round starts the runtime's own pool of threads and timers, which remain.
            try await diesOnItsOwnThread(times: 2)
            let before = ProcessInventory()
            try await diesOnItsOwnThread(times: 20)
            #expect(await ProcessInventory.leftovers(since: before, threadsNamed: "own") == [])
        }
    }
}

/// Reactors whose last reference belongs to their queued work.
private func diesOnItsOwnThread(times: Int) async throws {
    let log = EventLog<Void>()
    for _ in 0..<times {
        let reactor = try Reactor(name: "own")
        reactor.perform { withExtendedLifetime(reactor) {} }
        reactor.perform { log.append(()) }
    }
    await log.wait(forCount: times)
}

/// A reactor with an actor, a watch and a timer, all released without being stopped.
private func useAndForget() async throws {
    let reactor = try Reactor(name: "forgotten")
    let diary = Diary(reactor: reactor)
    let pair = try DescriptorPair()
    let near = pair.near.number
    try await reactor.result { [weak reactor] in
        try reactor?.watch(near, for: .readable) { _ in }
        _ = reactor?.schedule(at: .max) {}
    }
    await diary.record("once")
}

/// Records the thread on which it is released.
private final class Witness {
    private let reactor: Reactor
    private let log: EventLog<Bool>

    init(reactor: Reactor, log: EventLog<Bool>) {
        self.reactor = reactor
        self.log = log
    }

    func use() {}

    deinit { log.append(reactor.isCurrent) }
}
