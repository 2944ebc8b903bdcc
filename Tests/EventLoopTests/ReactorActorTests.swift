// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestSupport
import Testing

/// Actors that live on a loop.
@Suite struct ReactorActorTests {
    @Test func actor_RunsOnTheThread() async throws {
        let diary = Diary(reactor: try Reactor(name: "test"))
        await diary.record("one")
        await diary.record("two")
        #expect(await diary.entries == ["one", "two"])
    }

    @Test func twoActors_ShareTheThread() async throws {
        let reactor = try Reactor(name: "test")
        let (first, second) = (Diary(reactor: reactor), Diary(reactor: reactor))
        await withTaskGroup { group in
            for _ in 0..<500 {
                group.addTask { await first.record("a") }
                group.addTask { await second.record("b") }
            }
        }
        #expect(await first.entries.count == 500)
        #expect(await second.entries.count == 500)
    }

    @Test func handlers_ReachTheActorsState_WithoutAHop() async throws {
        let reactor = try Reactor(name: "test")
        let diary = Diary(reactor: reactor)
        let pair = try DescriptorPair()
        let log = EventLog<String>()
        let near = pair.near.number
        try await reactor.result {
            try reactor.watch(near, for: .readable) { _ in
                DescriptorPair.drain(near)
                diary.assumeIsolated { $0.record("readable") }
                log.append("readable")
            }
            _ = reactor.schedule(at: Reactor.now) {
                diary.assumeIsolated { $0.record("timer") }
                log.append("timer")
            }
        }
        await log.wait(forCount: 1)
        pair.signal()
        await log.wait(forCount: 2)
        reactor.perform { diary.assumeIsolated { $0.record("work") } }
        #expect(await diary.entries == ["timer", "readable", "work"])
        reactor.stop()
    }

    @Test func actor_MayWatchFromItsOwnMethods() async throws {
        let watcher = Watcher(reactor: try Reactor(name: "test"))
        let pair = try DescriptorPair()
        try await watcher.begin(pair.near.number)
        pair.signal()
        await watcher.log.wait(forCount: 1)
        await watcher.end()
        #expect(await watcher.seen == 1)
    }

    @Test func assumeIsolated_Fails_OnAnotherThread() async {
        await #expect(processExitsWith: .failure) {
            let diary = Diary(reactor: try Reactor(name: "test"))
            pretendIsolation(diary)
        }
    }

    @Test func actor_ThatOutlivesTheLoop_IsStillServedInOrder() async throws {
        let reactor = try Reactor(name: "test")
        let diary = Diary(reactor: reactor)
        reactor.stop()
        for number in 0..<100 { await diary.record("\(number)") }
        #expect(await diary.entries == (0..<100).map { "\($0)" })
        await withTaskGroup { group in
            for _ in 0..<500 { group.addTask { await diary.record("more") } }
        }
        #expect(await diary.entries.count == 600)
    }
}

/// Claims to run on the actor's loop, wherever it is called.
private func pretendIsolation(_ diary: Diary) {
    diary.assumeIsolated { $0.record("never") }
}

/// An actor whose handler is a closure over itself.
private actor Watcher {
    let reactor: Reactor
    let log = EventLog<Readiness>()
    private(set) var seen = 0
    private var descriptor: Int32 = -1

    init(reactor: Reactor) { self.reactor = reactor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    func begin(_ descriptor: Int32) throws {
        self.descriptor = descriptor
        try reactor.watch(descriptor, for: .readable) { [weak self] readiness in
            self?.assumeIsolated { $0.saw(readiness) }
        }
    }

    func saw(_ readiness: Readiness) {
        seen += 1
        DescriptorPair.drain(descriptor)
        log.append(readiness)
    }

    func end() { reactor.unwatch(descriptor) }
}
