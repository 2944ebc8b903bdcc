// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

@Suite("What is cached of a real kernel's routes", .needsNamespace)
struct CachedRoutesTests {
    /// Lookups in both families, bound to each link and unbound.
    private let questions: [KernelQuestion] = [
        IPAddress(v4: 0x0C00_0001), IPAddress(v6High: 0x2001_07FD << 32, low: 1),
    ]
    .flatMap { destination in
        [0, 10, 11].flatMap { index in
            [false, true].map { wantsEntry in
                .route(RouteLookup(destination: destination, interface: index, wantsEntry: wantsEntry))
            }
        }
    }

    /// Two links, each with a router of either family.
    private func twoLinks() throws -> TestNamespace {
        let namespace = try TestNamespace.withDefaultRoute()
        try namespace.shell(
            """
            sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0
            sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.v0.accept_dad=0
            ip link add v1 index 11 type veth peer name p1 index 22
            ip link set v1 up
            ip link set p1 up
            ip addr add 10.1.0.2/24 dev v1
            ip addr add fd00::2/64 dev v0 nodad
            ip addr add fd01::2/64 dev v1 nodad
            for link in v1 p1; do until ip link show $link | grep -q "state UP"; do :; done; done
            """)
        return namespace
    }

    private static let changes = [
        "ip route add default via 10.1.0.1 dev v1 metric 50", "ip route del default dev v0",
        "ip route add default via 10.0.0.1 dev v0 metric 10",
        // With the same metric one route replaces the other, without a message about the old one.
        "ip route replace default via 10.0.0.1 dev v0 metric 50",
        "ip route replace default via 10.1.0.1 dev v1 metric 50",
        "ip route add blackhole default metric 5", "ip route del blackhole default metric 5",
        "ip route add prohibit default metric 5", "ip route replace default via 10.1.0.1 dev v1 metric 5",
        "ip route del default metric 5",
        "ip route add default metric 7 nexthop via 10.0.0.1 dev v0 nexthop via 10.1.0.1 dev v1",
        "ip route del default metric 7",
        "ip route add default metric 7 nexthop via 10.1.0.1 dev v1 nexthop via 10.0.0.1 dev v0",
        "ip route replace default via 10.0.0.1 dev v0 metric 7", "ip route del default metric 7",
        "ip nexthop add id 5 via 10.1.0.1 dev v1", "ip route add default nhid 5 metric 3",
        "ip nexthop replace id 5 via 10.0.0.1 dev v0", "ip nexthop del id 5",
        "ip route add throw default metric 2", "ip route del throw default metric 2",
        "ip rule add pref 100 oif v1 prohibit", "ip route add default via 10.0.0.1 dev v0 metric 1",
        "ip rule del pref 100", "ip route flush default",
        "ip -6 route add default via fd00::1 dev v0 metric 10",
        "ip -6 route add default via fd01::1 dev v1 metric 20",
        "ip -6 route append default via fd01::1 dev v1 metric 10",
        "ip -6 route del default via fd00::1 dev v0 metric 10",
        "ip -6 route append default via fd00::1 dev v0 metric 10",
        "ip -6 route del default via fd01::1 dev v1 metric 10",
        "ip -6 route replace default via fd01::1 dev v1 metric 10",
        "ip -6 route add unreachable default metric 1", "ip -6 route del unreachable default metric 1",
        "ip -6 route add default via fd00::1 dev v0 metric 5 expires 60",
        "ip -6 route del default metric 5", "ip -6 route flush default",
    ]

    @Test("after any change, the cached answers equal the kernel's new ones")
    func truth() throws {
        let namespace = try twoLinks()
        let socket = RouteEventSocket(namespace: namespace.entry)
        try socket.open()
        let kernel = KernelClient(namespace: namespace.entry)
        _ = try kernel.answers(to: questions + [.links])
        var recalled: [Int] = []
        for change in Self.changes {
            try namespace.shell(change)
            // The kernel queues its notifications before the command returns.
            var events: [NetworkEvent] = []
            while socket.drain(limit: 64, into: &events) == .more {}
            #expect(!events.isEmpty, "\(change)")
            kernel.handle(events)
            recalled.append(questions.count { kernel.cache[$0] != nil })
            let answers = try kernel.answers(to: questions)
            let afresh = try KernelClient(namespace: namespace.entry).answers(to: questions)
            for (question, (cached, fresh)) in zip(questions, zip(answers, afresh)) {
                guard case .route(var a) = cached, case .route(var b) = fresh else {
                    #expect(cached == fresh, "\(change): \(question)")
                    continue
                }
                // The remaining seconds.
                (a.expires, b.expires) = (a.expires.map { _ in 1 }, b.expires.map { _ in 1 })
                #expect(a == b, "\(change): \(question)")
            }
        }
        // Six of the other family, and two bound to the link that the first change does not concern.
        #expect(recalled.first == 8)
    }
}
