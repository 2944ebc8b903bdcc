// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import Testing

@Suite("Questions to a real kernel", .needsNamespace)
struct KernelClientTests {
    private func lookup(
        _ text: String, interface: Int32 = 0, entry: Bool = false, mark: UInt32 = 0, user: UInt32? = nil
    ) throws -> KernelQuestion {
        .route(
            RouteLookup(
                destination: try #require(IPAddress(text)), interface: interface, wantsEntry: entry,
                mark: mark,
                user: user))
    }

    private func route(_ answer: KernelAnswer) -> RouteAnswer? {
        if case .route(let route) = answer { route } else { nil }
    }

    @Test("a default route: interface, gateway, source; its entry also metric and length")
    func defaultRoute() throws {
        let kernel = KernelClient(namespace: try TestNamespace.withDefaultRoute().entry)
        let answers = try kernel.answers(to: [
            lookup("12.0.0.1"), lookup("12.0.0.1", entry: true), lookup("2001:7fd::1"), lookup("10.0.0.2"),
        ])
        #expect(
            route(answers[0])
                == RouteAnswer(
                    kind: .unicast, interface: 10, gateway: IPAddress("10.0.0.1"),
                    source: IPAddress("10.0.0.2"),
                    prefixLength: 32))
        #expect(route(answers[1])?.metric == 100)
        #expect(route(answers[1])?.prefixLength == 0)
        #expect(route(answers[1])?.interface == 10)
        #expect(answers[2] == .failure(ENETUNREACH))
        #expect(route(answers[3])?.kind == .local)
    }

    @Test("each kind of refusal is distinguished")
    func refusals() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        try namespace.shell(
            """
            ip route add blackhole 203.0.113.1; ip route add prohibit 203.0.113.2
            ip route add unreachable 203.0.113.3
            """)
        let kernel = KernelClient(namespace: namespace.entry)
        let answers = try kernel.answers(to: [
            lookup("203.0.113.1"), lookup("203.0.113.2"), lookup("203.0.113.3"), .link(99),
            .linkNamed("nobody"),
        ])
        #expect(
            answers == [
                .failure(EINVAL), .failure(EACCES), .failure(EHOSTUNREACH), .failure(ENODEV),
                .failure(ENODEV),
            ])
    }

    @Test("an entry through one interface only, also where another is preferred")
    func perInterface() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        try namespace.shell(
            "ip addr add 10.1.0.1/24 dev p0; ip route add default via 10.1.0.2 dev p0 metric 600")
        let kernel = KernelClient(namespace: namespace.entry)
        let answers = try kernel.answers(to: [
            lookup("12.0.0.1", interface: 21, entry: true), lookup("12.0.0.1", interface: 1, entry: true),
        ])
        #expect(route(answers[0])?.gateway == IPAddress("10.1.0.2"))
        #expect(route(answers[0])?.metric == 600)
        guard case .failure = answers[1] else {
            Issue.record("\(answers[1])")
            return
        }
    }

    @Test("policy rules decide by mark and by user; the answer names the table")
    func policy() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        try namespace.shell(
            """
            ip route add default via 10.0.0.7 dev v0 table 100; ip route add default via 10.0.0.8 dev v0 table 1000
            ip rule add fwmark 5 table 100; ip rule add uidrange 1234-1234 table 1000
            """)
        let kernel = KernelClient(namespace: namespace.entry)
        let answers = try kernel.answers(to: [
            lookup("12.0.0.1", mark: 5), lookup("12.0.0.1", user: 1234), lookup("12.0.0.1"),
        ]).map(route)
        #expect(answers.map { $0?.gateway?.description } == ["10.0.0.7", "10.0.0.8", "10.0.0.1"])
        #expect(answers.map { $0?.table } == [100, 1000, 254])
    }

    @Test("IPv6: a default with its expiry, link-local destinations by interface")
    func ipv6() throws {
        let namespace = try TestNamespace()
        try namespace.shell(
            """
            ip link add d0 index 7 type veth peer name d1; ip link set d1 up; ip link set d0 up; ip link set lo up
            ip -6 addr add 2001:db8::2/64 dev d0 nodad
            ip -6 route add default via 2001:db8::1 dev d0 expires 500 metric 77
            """)
        let kernel = KernelClient(namespace: namespace.entry)
        let answers = try kernel.answers(to: [
            lookup("2001:7fd::1"), lookup("2001:7fd::1", entry: true), lookup("fe80::1", interface: 7),
        ]).map(route)
        #expect(answers[0]?.source == IPAddress("2001:db8::2"))
        #expect(answers[1]?.prefixLength == 0)
        #expect(answers[1]?.metric == 77)
        #expect(answers[1]?.expires.map { (48_000...50_000).contains($0) } == true)
        #expect(answers[2]?.interface == 7)
        #expect(answers[2]?.gateway == nil)
    }

    @Test("nexthop objects and multipath: legs, with those that have no carrier marked")
    func nexthops() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        try namespace.shell(
            """
            ip link add d0 index 30 type veth peer name d1; ip link set d1 up; ip link set d0 up; ip addr add 10.3.0.2/24 dev d0
            ip route replace default metric 100 nexthop via 10.0.0.1 dev v0 nexthop via 10.3.0.1 dev d0
            ip nexthop add id 9 via 10.0.0.1 dev v0; ip route add 198.51.100.0/24 nhid 9
            ip link set d1 down
            """)
        let kernel = KernelClient(namespace: namespace.entry)
        let answers = try kernel.answers(to: [
            lookup("12.0.0.1", entry: true), lookup("198.51.100.1", entry: true),
        ]).map(route)
        #expect(answers[0]?.legs.map(\.interface) == [10, 30])
        #expect(answers[0]?.interface == nil)
        #expect(answers[1]?.nexthop == 9)
    }

    @Test("links by index and name, all of them, the ports of one; addresses")
    func dumps() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        try namespace.shell(
            "ip link add br0 index 12 type bridge; ip link set p0 master br0; ip link set br0 up")
        let kernel = KernelClient(namespace: namespace.entry)
        let answers = try kernel.answers(to: [
            .link(10), .linkNamed("v0"), .links, .ports(master: 12), .addresses,
        ])
        guard case .link(let link) = answers[0], case .links(let links) = answers[2],
            case .links(let ports) = answers[3], case .addresses(let addresses) = answers[4]
        else {
            Issue.record("\(answers)")
            return
        }
        #expect(link.name == "v0")
        #expect(link.lower == 21)
        #expect(answers[1] == answers[0])
        #expect(Set(links.map(\.name)) == ["lo", "v0", "p0", "br0"])
        #expect(ports.map(\.name) == ["p0"])
        #expect(ports.map(\.master) == [12])
        #expect(Set(addresses.map(\.text)) == ["127.0.0.1/8", "10.0.0.2/24"])
    }

    @Test("RB-25 after a rename the index still answers; what is remembered holds until an event is noticed")
    func caching() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let kernel = KernelClient(namespace: namespace.entry)
        func name() throws -> String? {
            if case .link(let link) = try kernel.answers(to: [.link(10)])[0] { link.name } else { nil }
        }
        #expect(try name() == "v0")
        try namespace.shell("ip link set v0 name eth77")
        #expect(try name() == "v0")
        kernel.handle([.routeAdded(try #require(IPPrefix("0.0.0.0/0")))])
        #expect(try name() == "v0")
        kernel.handle([.linkChanged(LinkState(index: 10, name: "eth77"), isWirelessNoise: false)])
        #expect(try name() == "eth77")
    }

    @Test("more questions than fit one datagram, some of them twice")
    func manyQuestions() throws {
        let kernel = KernelClient(namespace: try TestNamespace.withDefaultRoute().entry)
        let questions = try (0..<100).map { try lookup("12.0.0.\($0 % 50)") } + [.addresses, .addresses]
        let answers = try kernel.answers(to: questions)
        #expect(answers.count == 102)
        #expect(answers[..<100].allSatisfy { route($0)?.interface == 10 })
        #expect(answers[100] == answers[101])
    }

    @Test("a wired link is not Wi-Fi, in every way of asking")
    func notWireless() throws {
        let kernel = KernelClient(namespace: try TestNamespace.withDefaultRoute().entry)
        let answers = try kernel.answers(to: [.wireless(10), .device(10, name: "v0")])
        // ENOENT: the kernel has no nl80211; ENODEV: nl80211 does not know the interface.
        #expect([.failure(ENOENT), .failure(ENODEV)].contains(answers[0]))
        #expect(answers[1] == .device(DeviceFacts()))
    }
}
