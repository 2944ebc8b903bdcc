// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import Testing

@Suite("What events tell of links", .needsNamespace)
struct CachedLinksTests {
    /// Changes of links, in an order in which all are possible.
    private static let changes = [
        "ip link set p0 down", "ip link set p0 up", "ip link set v0 down", "ip link set v0 up",
        "ip link set v0 mtu 1400", "ip link set p1 down", "ip link set p1 up",
        "ip link add mac0 link v0 type macvlan", "ip link set mac0 up", "ip link set p0 down",
        "ip link set p0 up", "ip link set mac0 protodown on", "ip link set mac0 protodown off",
        "ip link set mac0 down; ip link set mac0 name mac7; ip link set mac7 up",
        "ip link set v0 down", "ip link set v0 up", "ip link add br0 type bridge", "ip link set br0 up",
        "ip link set v1 master br0", "ip link set p1 down", "ip link set p1 up",
        "ip link set v1 nomaster", "ip link del br0",
        "ip link add x0 type vxlan id 5 remote 10.0.0.9 dstport 4789", "ip link set x0 up",
        "ip link set x0 type vxlan remote 10.0.0.8", "ip link del x0",
        "echo 1 > /proc/sys/net/ipv6/conf/v1/disable_ipv6",
        "echo 0 > /proc/sys/net/ipv6/conf/v1/disable_ipv6",
        "echo 1 > /proc/sys/net/ipv6/conf/v1/forwarding", "ip link set v1 down", "ip link set v1 up",
        "ip link add n0 index 77 type veth peer name n1", "ip link del n0",
        "ip link add other0 index 77 type bridge", "ip link del mac7",
    ]

    private func links(_ kernel: KernelClient) throws -> [LinkState] {
        guard case .links(let links)? = try kernel.answers(to: [.links]).first else { return [] }
        return links
    }

    @Test("API-571 after any change of a link, the list that its events keep is the kernel's own")
    func truth() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        try namespace.shell(
            """
            sysctl -qw net.ipv6.conf.default.disable_ipv6=0 net.ipv6.conf.default.accept_dad=0
            ip link add v1 index 30 type veth peer name p1 index 31
            ip link set v1 up
            ip link set p1 up
            """)
        let socket = RouteEventSocket(namespace: namespace.entry)
        try socket.open()
        let kernel = KernelClient(namespace: namespace.entry)
        _ = try links(kernel)
        for change in Self.changes {
            try namespace.shell(change)
            // A carrier has its event later than the command's end.
            var isRight = false
            for _ in 0..<100 where !isRight {
                var events: [NetworkEvent] = []
                while socket.drain(limit: 64, into: &events) == .more {}
                kernel.handle(events)
                isRight = try links(kernel) == links(KernelClient(namespace: namespace.entry))
                var readiness = pollfd(fd: socket.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
                if !isRight { poll(&readiness, 1, 100) }
            }
            #expect(isRight, "\(change)")
        }
    }

    @Test("API-572 a cable that is unplugged leads to questions about routes alone")
    func questions() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry)
        try socket.open()
        let kernel = KernelClient(namespace: namespace.entry)
        let evaluator = PathEvaluator(
            target: .general(sentinels: ReachabilityConfiguration.defaultSentinels), configuration: .init())
        func reports() throws -> [LinkReport] {
            var evaluation = try KernelEvaluation(evaluator, kernel)
            return try evaluation.linkReports(evaluator, kernel)
        }
        #expect(try reports().first { $0.name == "v0" }?.isOnline == true)
        try namespace.shell("ip link set p0 down")
        var events: [NetworkEvent] = []
        repeat {
            var readiness = pollfd(fd: socket.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
            try #require(poll(&readiness, 1, 10_000) == 1)
            while socket.drain(limit: 64, into: &events) == .more {}
        } while !events.contains(where: Self.isLoss)
        kernel.handle(events.filter(Self.isLinkEvent))
        let held: [KernelQuestion] = [.links, .link(10), .addresses, .rules]
        #expect(held.filter { kernel.cache[$0] == nil } == [])
        #expect(try reports().first { $0.name == "v0" }?.isOnline == false)
    }

    private static func isLinkEvent(_ event: NetworkEvent) -> Bool {
        if case .linkChanged = event { true } else { false }
    }

    private static func isLoss(_ event: NetworkEvent) -> Bool {
        guard case .linkChanged(let link, _) = event else { return false }
        return link.index == 10 && link.stateUsability == .noCarrier
    }
}
