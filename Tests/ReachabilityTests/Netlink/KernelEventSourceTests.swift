// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Reachability
import ReachabilityCore
import TestSupport
import Testing

@Suite("The source on the loop", .needsNamespace, .timeLimit(.minutes(10)))
struct KernelEventSourceTests {
    /// A source with its loop; unchecked, since only the loop's thread uses the source.
    private final class Bench: @unchecked Sendable {
        let reactor: Reactor
        let source: KernelEventSource
        let log = EventLog<NetworkEvent>()

        init(_ namespace: TestNamespace, receiveBufferSize: Int = 1 << 20) throws {
            reactor = try Reactor(name: "source test")
            source = KernelEventSource(
                reactor: reactor, namespace: namespace.entry, receiveBufferSize: receiveBufferSize)
        }

        func start() async throws {
            try await reactor.result { [self] in
                try source.start { [log] events in events.forEach(log.append) }
            }
        }

        func stop() async throws { try await reactor.result { [self] in source.stop() } }

        var counters: MonitorCounters {
            get async throws { try await reactor.result { [self] in source.counters } }
        }

        deinit { reactor.stop() }
    }

    private static func isRemoval(_ event: NetworkEvent) -> Bool { event == .linkRemoved(index: 10) }

    @Test("when start returns, the next change leads to an event")
    func start() async throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let bench = try Bench(namespace)
        try await bench.start()
        try namespace.shell("ip route del default")
        let prefix = try #require(IPPrefix("0.0.0.0/0"))
        let seen = await bench.log.wait { $0.contains(.routeRemoved(prefix, through: 10)) }
        #expect(seen.contains(.routeRemoved(prefix, through: 10)))
        #expect(try await bench.counters.events >= 1)
        try await bench.stop()
    }

    @Test("after stop nothing comes; stopping twice is fine; it can start again")
    func stop() async throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let bench = try Bench(namespace)
        try await bench.start()
        try await bench.stop()
        try await bench.stop()
        try namespace.shell("ip route del default")
        try await bench.start()
        try namespace.shell("ip link del v0")
        let seen = await bench.log.wait { $0.contains(where: Self.isRemoval) }
        #expect(seen.contains(where: Self.isRemoval))
        #expect(!seen.contains { if case .routeRemoved = $0 { true } else { false } })
        try await bench.stop()
    }

    @Test("a handler that stops the source inside its call is not called again")
    func stopInside() async throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let bench = try Bench(namespace)
        try await bench.reactor.result {
            try bench.source.start { events in
                bench.source.stop()
                events.forEach(bench.log.append)
            }
        }
        try namespace.shell("ip route del default")
        let count = await bench.log.wait(forCount: 1).count
        try namespace.shell("ip link del v0")
        // Nothing has arrived after one turn of the loop.
        try await bench.reactor.result {}
        #expect(count > 0)
        #expect(bench.log.elements.count == count)
    }

    @Test("no route that does not matter wakes the loop")
    func wakeUps() async throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let bench = try Bench(namespace)
        try await bench.start()
        try await bench.reactor.result {}
        let before = bench.reactor.counters.turns
        try namespace.shell(
            "for i in $(seq 1 250); do echo \"route add 203.0.113.$i/32 via 10.0.0.1\"; done | ip -batch -")
        #expect(bench.reactor.counters.turns == before)
        #expect(bench.log.elements.isEmpty)
        try await bench.stop()
    }

    @Test("watched hosts count from the moment they are watched")
    func watching() async throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let bench = try Bench(namespace)
        try await bench.start()
        let host = try #require(IPAddress("203.0.113.5"))
        try await bench.reactor.result { bench.source.setHosts([host]) }
        try namespace.shell("ip route add 203.0.114.0/24 via 10.0.0.1; ip route add blackhole 203.0.113.5/32")
        let blackhole = NetworkEvent.routeAdded(try #require(IPPrefix("203.0.113.5/32")))
        #expect(await bench.log.wait { $0.contains(blackhole) } == [blackhole])
        try await bench.stop()
    }

    @Test("RB-01 RB-02 overruns are counted, the socket stays, and after a storm the last change is reported")
    func storm() async throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let bench = try Bench(namespace, receiveBufferSize: 2048)
        try await bench.start()
        // The loop is blocked, so that the small buffer overflows.
        for _ in 0..<3 {
            try await bench.reactor.result {
                try namespace.shell("for i in $(seq 1 60); do ip link set v0 alias a$i; done")
            }
        }
        let storm = await bench.log.wait { $0.contains(.overrun) }
        #expect(storm.contains(.overrun))
        // The change itself arrives, or the overrun after it.
        let before = bench.log.elements.count
        try namespace.shell("ip link del v0")
        let seen = await bench.log.wait {
            $0.dropFirst(before).contains { Self.isRemoval($0) || $0 == .overrun }
        }
        #expect(seen.dropFirst(before).contains { Self.isRemoval($0) || $0 == .overrun })
        #expect(try await bench.counters.overruns >= 1)
        #expect(try await bench.counters.reopenings == 0)
        try await bench.stop()
    }

    @Test("RB-12 a broken socket is opened again, with its filter and groups, and that is reported")
    func reopenDelay() async throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let bench = try Bench(namespace)
        try await bench.start()
        let host = try #require(IPAddress("203.0.113.5"))
        let descriptor = try await bench.reactor.result {
            bench.source.setHosts([host])
            return try #require(bench.source.descriptor)
        }
        // Another file has the same descriptor: the kernel refuses the next change of the watch.
        try await bench.reactor.result {
            let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
            dup2(null, descriptor)
            close(null)
            bench.reactor.change(descriptor, to: [])
        }
        try await bench.reactor.result { bench.reactor.change(descriptor, to: .readable) }
        let seen = await bench.log.wait { $0.contains(.reopened) }
        #expect(seen.last == .reopened)
        #expect(try await bench.counters.reopenings == 1)
        try namespace.shell("ip route add 203.0.114.0/24 via 10.0.0.1; ip route add blackhole 203.0.113.5/32")
        let blackhole = NetworkEvent.routeAdded(try #require(IPPrefix("203.0.113.5/32")))
        let later = await bench.log.wait { $0.contains(blackhole) }
        #expect(later.drop { $0 != .reopened }.dropFirst() == [blackhole])
        try await bench.stop()
    }
}
