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
}
