// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import TestSupport
import Testing

/// Descriptors.
@Suite struct ReactorWatchTests {
    @Test func watch_ReportsWhatIsWaitedFor() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let log = EventLog<Readiness>()
        try await reactor.result {
            try reactor.watch(near, for: [.readable, .writable]) { readiness in
                log.append(readiness)
                reactor.change(near, to: readiness.contains(.readable) ? [] : .readable)
            }
        }
        await log.wait(forCount: 1)
        pair.signal()
        #expect(await log.wait(forCount: 2) == [.writable, .readable])
        reactor.stop()
        #expect(log.elements.count == 2)
    }

    @Test func watch_ReportsTheEnd_Unasked() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let log = EventLog<Readiness>()
        try await reactor.result {
            try reactor.watch(near, for: .readable) { readiness in
                log.append(readiness)
                reactor.unwatch(near)
            }
        }
        shutdown(pair.far.number, Int32(SHUT_RDWR))
        #expect(await log.wait(forCount: 1) == [[.readable, .hangUp]])
    }

    @Test func unwatch_InsideTheHandler_EndsAndReleasesIt() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let log = EventLog<String>()
        try await reactor.result {
            let token = Token { log.append("released") }
            try reactor.watch(near, for: .readable) { _ in
                reactor.unwatch(near)
                reactor.unwatch(near)
                log.append("called \(token.isAlive)")
            }
        }
        pair.signal()
        #expect(await log.wait(forCount: 2) == ["called true", "released"])
    }

    @Test func whatAHandlerHeld_MayEndOtherWaitsOnItsWayOut() async throws {
        let reactor = try Reactor(name: "test")
        let (first, second) = (try DescriptorPair(), try DescriptorPair())
        let ends = [first.near.number, second.near.number]
        let log = EventLog<String>()
        try await reactor.result {
            let late = reactor.schedule(at: .max) {}
            let token = Token {
                reactor.unwatch(ends[1])
                reactor.cancel(late)
                log.append("released")
            }
            try reactor.watch(ends[1], for: .readable) { _ in }
            try reactor.watch(ends[0], for: .readable) { _ in log.append("\(token.isAlive)") }
        }
        try await reactor.result { reactor.unwatch(ends[0]) }
        #expect(log.elements == ["released"])

        try await reactor.result {
            let token = Token {
                reactor.cancel(reactor.schedule(at: .max) {})
                log.append("cancelled")
            }
            let timer = reactor.schedule(at: .max) { log.append("\(token.isAlive)") }
            let hook = reactor.beforeWait { withExtendedLifetime(token) {} }
            reactor.cancel(timer)
            reactor.removeHook(hook)
        }
        #expect(await log.wait(forCount: 2) == ["released", "cancelled"])
    }

    @Test func unwatch_OfAnother_SilencesWhatHasBeenFetched() async throws {
        let reactor = try Reactor(name: "test")
        let (first, second) = (try DescriptorPair(), try DescriptorPair())
        let ends = [(first.near.number, first.far.number), (second.near.number, second.far.number)]
        let log = EventLog<Int32>()
        try await reactor.result {
            for (near, far) in ends {
                try reactor.watch(near, for: .readable) { _ in
                    for (other, _) in ends { reactor.unwatch(other) }
                    log.append(near)
                }
                DescriptorPair.put(far)
            }
        }
        await log.wait(forCount: 1)
        reactor.stop()
        #expect(log.elements.count == 1)
    }

    @Test func reusedNumber_DoesNotGetTheFormerOwnersEvent() async throws {
        let reactor = try Reactor(name: "test")
        let (first, second, third) = (try DescriptorPair(), try DescriptorPair(), try DescriptorPair())
        let ends = [(first.near.number, first.far.number), (second.near.number, second.far.number)]
        let fresh = third.near.number
        let log = EventLog<String>()
        try await reactor.result {
            for (near, far) in ends {
                try reactor.watch(near, for: .readable) { _ in
                    log.append("old")
                    reactor.unwatch(near)
                    // Closes the other number, whose event was fetched too, and reopens it at once.
                    for (other, _) in ends where other != near {
                        reactor.unwatch(other)
                        dup2(fresh, other)
                        do {
                            try reactor.watch(other, for: .readable) { _ in
                                DescriptorPair.drain(other)
                                log.append("new")
                            }
                        } catch { log.append("\(error)") }
                    }
                }
                DescriptorPair.put(far)
            }
        }
        await log.wait(forCount: 1)
        // After a full turn an event of the former owner would have arrived.
        try await reactor.result {}
        #expect(log.elements == ["old"])
        third.signal()
        #expect(await log.wait(forCount: 2) == ["old", "new"])
        reactor.stop()
    }

    @Test func changes_AreGathered() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let before = try await reactor.result { reactor.kernelChanges }
        try await reactor.result {
            try reactor.watch(near, for: .readable) { _ in }
            reactor.unwatch(near)
        }
        #expect(try await reactor.result { reactor.kernelChanges } == before)
        try await reactor.result { try reactor.watch(near, for: .readable) { _ in } }
        #expect(try await reactor.result { reactor.kernelChanges } == before + 1)
        try await reactor.result {
            for _ in 0..<100 {
                reactor.change(near, to: [])
                reactor.change(near, to: [.readable, .writable])
                reactor.change(near, to: .readable)
            }
        }
        #expect(try await reactor.result { reactor.kernelChanges } == before + 1)
        try await reactor.result { reactor.change(near, to: []) }
        #expect(try await reactor.result { reactor.kernelChanges } == before + 2)
        try await reactor.result { reactor.unwatch(near) }
        #expect(try await reactor.result { reactor.kernelChanges } == before + 2)
    }

    @Test func parkedDescriptor_ReportsNothing_NotEvenItsEnd() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let far = pair.far.number
        let log = EventLog<Readiness>()
        try await reactor.result { try reactor.watch(near, for: .readable) { log.append($0) } }
        try await reactor.result {
            reactor.change(near, to: [])
            shutdown(far, Int32(SHUT_RDWR))
        }
        let turns = try await reactor.result { reactor.counters.turns }
        #expect(try await reactor.result { reactor.counters.turns } == turns + 1)
        #expect(log.elements.isEmpty)
        try await reactor.result {
            reactor.change(near, to: .readable)
            reactor.perform { reactor.unwatch(near) }
        }
        #expect(await log.wait(forCount: 1) == [[.readable, .hangUp]])
    }

    @Test func replacedWatch_MeansNothingAnyMore() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let log = EventLog<String>()
        try await reactor.result {
            let former = try reactor.watch(near, for: .readable) { _ in log.append("former") }
            // As if other code had closed the number and reused it without a notice to the watcher.
            let present = try reactor.watch(near, for: .readable) { _ in
                log.append("present")
                reactor.unwatch(near)
            }
            #expect(!reactor.change(former, to: []))
            reactor.unwatch(former)
            #expect(reactor.change(present, to: .readable))
        }
        pair.signal()
        #expect(await log.wait(forCount: 1) == ["present"])
    }

    @Test func moreDescriptorsThanABatch_AreAllServed() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let log = EventLog<Int32>()
        pair.signal()
        let near = pair.near.number
        let copies = try await reactor.result {
            let copies = try (0..<300).map { _ in try OwnedDescriptor("dup", dup(near)).release() }
            for copy in copies {
                try reactor.watch(copy, for: .readable) { _ in
                    reactor.unwatch(copy)
                    close(copy)
                    log.append(copy)
                }
            }
            return copies
        }
        #expect(Set(await log.wait(forCount: 300)) == Set(copies))
        reactor.stop()
        #expect(log.elements.count == 300)
    }

    @Test func hook_RunsOnceATurn_JustBeforeTheWait() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<String>()
        let hook = try await reactor.result {
            log.append("work")
            return reactor.beforeWait { log.append("hook") }
        }
        try await reactor.result { log.append("work") }
        try await reactor.result {
            log.append("work")
            reactor.removeHook(hook)
        }
        try await reactor.result { log.append("work") }
        #expect(log.elements == ["work", "hook", "work", "hook", "work", "work"])
    }

    @Test func whatAHookHandsToItsThread_RunsBeforeTheKernelHearsOfChanges() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let log = EventLog<Int>()
        try await reactor.result { try reactor.watch(near, for: .readable) { _ in } }
        try await reactor.result {
            // No other thread posts while the timer's turn lasts.
            _ = reactor.schedule(at: Reactor.now + 1_000_000) {
                var isFirst = true
                _ = reactor.beforeWait {
                    guard isFirst else { return }
                    isFirst = false
                    let before = reactor.kernelChanges
                    reactor.change(near, to: .nothing)
                    reactor.perform { log.append(reactor.kernelChanges - before) }
                }
            }
        }
        #expect(await log.wait(forCount: 1) == [0])
    }

    @Test func hangUp_ReportsTheEndOfBothDirections_Alone() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let near = pair.near.number
        let log = EventLog<Readiness>()
        try await reactor.result {
            try reactor.watch(near, for: .hangUp) { readiness in
                log.append(readiness)
                reactor.unwatch(near)
            }
        }
        pair.signal()
        shutdown(pair.far.number, Int32(SHUT_WR))
        // The loop has waited once with both.
        for _ in 0..<2 { try await reactor.result {} }
        #expect(log.elements.isEmpty)
        shutdown(pair.far.number, Int32(SHUT_RDWR))
        #expect(await log.wait(forCount: 1) == [.hangUp])
        reactor.stop()
    }
}

/// Reports its release.
private final class Token {
    let isAlive = true
    private let farewell: () -> Void

    init(_ farewell: @escaping () -> Void) { self.farewell = farewell }

    deinit { farewell() }
}
