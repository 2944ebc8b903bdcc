// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// The kernel's questions about connections, on a kernel in memory.
struct PathObserverTests {
    private let reactor: Reactor
    private let kernel: FakeKernel

    init() throws {
        reactor = try Reactor(name: "observer-test")
        kernel = FakeKernel(.wired, reactor: reactor)
    }

    @Test("the interface towards a peer is found behind an IPv6 route for one prefix of sources too")
    func egressFromAPrefix() async throws {
        kernel.changeSilently {
            let eth0 = $0.index("eth0")
            $0.addAddress("2001:db8::2/64", to: eth0)
            $0.addRoute("::/0", via: "fe80::1", on: eth0, from: "2001:db8::/64")
        }
        let environment = kernel.environment
        let names = try await reactor.result { [reactor] () -> [String?] in
            let observer = PathObserver(reactor: reactor, environment: environment) { _ in }
            guard observer.open() else { return [] }
            defer { observer.close() }
            return ["2606:4700::1111", "12.0.0.1", "192.0.2.2"].map { text in
                IPAddress(text).flatMap { observer.egress(to: $0)?.link.name }
            }
        }
        #expect(names == ["eth0", "eth0", nil])
    }

    @Test("FLD-099 connections are looked at again after the start, and after an event before its change")
    func confirmation() async throws {
        let everything = try #require(IPPrefix("0.0.0.0/0"))
        let (environment, looks) = (kernel.environment, EventLog<[NetworkEvent]>())
        let box = try await reactor.result { [reactor] () -> ObserverBox in
            let box = ObserverBox()
            let observer = PathObserver(reactor: reactor, environment: environment) { [unowned box] events in
                box.observer?.confirm(events)
                looks.append(events)
            }
            box.observer = observer
            return observer.open() ? box : ObserverBox()
        }
        let confirmations = [[NetworkEvent]](repeating: [.requested], count: 3)
        #expect(await looks.wait(forCount: 3) == confirmations, "after the start")
        let event = NetworkEvent.routeRemoved(everything, through: 2)
        kernel.deliver([.destinationsChanged])
        kernel.deliver([event])
        let seen = await looks.wait(forCount: 8)
        #expect(seen.dropFirst(3) == [[.destinationsChanged], [event]] + confirmations)
        try await reactor.result { box.observer?.close() }
    }
}

/// Holds the observer for the loop's thread, the only one that uses it; unchecked for that reason.
private final class ObserverBox: @unchecked Sendable {
    var observer: PathObserver?
}
