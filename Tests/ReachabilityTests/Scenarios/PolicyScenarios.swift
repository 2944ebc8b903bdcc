// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Policy rules, multipath routes and nexthop objects.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct PolicyScenarios {
    @Test("RS-058 RS-059 RS-060 the default lies in a table; a rule leads there, and goes") func table()
        async throws
    {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(batch: "route del default\nroute add default via 10.0.0.1 table 100")
        await scenario.start(expecting: .unreachable)
        try await scenario.near.ip("rule add lookup 100")
        await scenario.expect([.wired], on: "v0")
        try await scenario.near.ip("rule del lookup 100")
        await scenario.expect([.wired, .unreachable])
    }

    @Test("an IPv6 default for one prefix of sources alone comes, goes and comes again")
    func sourceSpecificDefault() async throws {
        let scenario = try await Scenario(.f6)
        try await scenario.near.ip("-6 route del default")
        try await scenario.near.ip("-6 route add default from 2001:db8::/64 via 2001:db8::1 dev v0")
        await scenario.start(expecting: .wired, on: "v0")
        #expect(scenario.path.families == [.ipv6])
        #expect(scenario.path.source == IPAddress("2001:db8::2"))
        #expect(scenario.path.gateway == IPAddress("2001:db8::1"))
        #expect(try scenario.isOnline("v0"))
        try await scenario.near.ip("-6 route del default from 2001:db8::/64")
        await scenario.expect([.unreachable], code: .noRoute)
        #expect(try !scenario.isOnline("v0"))
        try await scenario.near.ip("-6 route add default from 2001:db8::/64 via 2001:db8::1 dev v0")
        await scenario.expect([.unreachable, .wired], on: "v0")
    }

    @Test("an IPv6 rule for one prefix of sources leads to the default") func sourceRule() async throws {
        let scenario = try await Scenario(.f6)
        try await scenario.near.ip("-6 route del default")
        try await scenario.near.ip("-6 route add default via 2001:db8::1 dev v0 table 100")
        await scenario.start(expecting: .unreachable)
        try await scenario.near.ip("-6 rule add from 2001:db8::/64 lookup 100")
        await scenario.expect([.wired], on: "v0")
        #expect(scenario.path.source == IPAddress("2001:db8::2"))
        try await scenario.near.ip("-6 rule del from 2001:db8::/64 lookup 100")
        await scenario.expect([.wired, .unreachable])
    }

    @Test("RS-061 a rule that refuses comes and goes") func refusingRule() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("rule add unreachable pref 900")
        // The kernel answers ENETUNREACH, as without any route.
        await scenario.expect([.unreachable], code: .noRoute)
        try await scenario.near.ip("rule del pref 900")
        await scenario.expect([.unreachable, .wired], on: "v0")
    }

    @Test(
        "RS-065 a default for one user alone",
        .enabled(if: UserNamespace.mapsUser(1000), "user 1000 is not mapped here"))
    func user() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: """
                route del default
                route add default via 10.0.0.1 table 100
                rule add uidrange 1000-1000 lookup 100
                """)
        await scenario.start(expecting: .unreachable)
        let other = try await Scenario(lab: scenario.lab) { $0.user = 1000 }
        await other.start(expecting: .wired, on: "v0")
    }

    @Test func markChoosesTheTable() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: """
                route del default
                route add default via 10.0.0.1 table 100
                rule add fwmark 7 lookup 100
                """)
        await scenario.start(expecting: .unreachable)
        let marked = try await Scenario(lab: scenario.lab) { $0.mark = 7 }
        await marked.start(expecting: .wired, on: "v0")
    }

    private func multipath() async throws -> Scenario {
        let scenario = try await Scenario(.f2)
        try await scenario.near.ip(
            batch: """
                route del default metric 100
                route del default metric 200
                route add default nexthop via 10.1.0.1 dev a0 nexthop via 10.2.0.1 dev b0
                """)
        return scenario
    }

    @Test("RS-066 one leg of a multipath default is switched off") func legOff() async throws {
        let scenario = try await multipath()
        scenario.manager.startMonitoring()
        #expect(scenario.manager.status == .wired)
        try await scenario.near.ip("link set a0 down")
        await scenario.wait { $0.interface == "b0" && $0.isOnline }
        await scenario.expect([], on: "b0")
    }

    @Test("RS-068 one leg of a multipath default loses its carrier", arguments: [("pa", "b0"), ("pb", "a0")])
    func legWithoutCarrier(_ cut: String, _ left: String) async throws {
        let scenario = try await multipath()
        scenario.manager.startMonitoring()
        #expect(scenario.manager.status == .wired)
        try await scenario.far.ip("link set \(cut) down")
        try await scenario.near.ip("link show \(cut == "pa" ? "a0" : "b0")") { $0.contains("NO-CARRIER") }
        await scenario.manager.settle()
        await scenario.wait { $0.interface == left && $0.isOnline }
        await scenario.expect([], on: left)
    }

    @Test("RS-069 the nexthop of the default is deleted, silently for IPv4") func nexthopDeleted()
        async throws
    {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: "nexthop add id 1 via 10.0.0.1 dev v0\nroute replace default nhid 1")
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("nexthop del id 1")
        await scenario.expect([.unreachable])
    }

    @Test("RS-070 the nexthop of the default moves to another link") func nexthopMoved() async throws {
        let scenario = try await Scenario(.f2)
        try await scenario.near.ip(
            batch: """
                route del default metric 100
                route del default metric 200
                nexthop add id 1 via 10.1.0.1 dev a0
                route add default nhid 1
                """)
        await scenario.start(expecting: .wired, on: "a0")
        try await scenario.near.ip("nexthop replace id 1 via 10.2.0.1 dev b0")
        await scenario.wait { $0.interface == "b0" }
        await scenario.expect([], on: "b0")
        #expect(scenario.pathUpdates.count == 1)
    }

    @Test("RS-072 a nexthop group loses one member, then the other") func nexthopGroup() async throws {
        let scenario = try await Scenario(.f2)
        try await scenario.near.ip(
            batch: """
                route del default metric 100
                route del default metric 200
                nexthop add id 1 via 10.1.0.1 dev a0
                nexthop add id 2 via 10.2.0.1 dev b0
                nexthop add id 3 group 1/2
                route add default nhid 3
                """)
        scenario.manager.startMonitoring()
        #expect(scenario.manager.status == .wired)
        try await scenario.near.ip("link set a0 down")
        await scenario.wait { $0.interface == "b0" && $0.isOnline }
        await scenario.expect([], on: "b0")
        try await scenario.near.ip("link set b0 down")
        await scenario.expect([.unreachable])
    }

    @Test("RS-073 the default leads to a blackhole nexthop") func blackholeNexthop() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: "route del default\nnexthop add id 5 blackhole\nroute add default nhid 5")
        await scenario.start(expecting: .unreachable)
        await scenario.expect([], code: .blackhole)
    }

    @Test("an IPv6 rule that refuses one link is told, not that the link's route is missing")
    func refusedLink()
        async throws
    {
        let lab = try await NetworkLab(.f2)
        for (name, net) in [("a0", "1"), ("b0", "2")] {
            try await lab.near.sysctl("net.ipv6.conf.\(name).disable_ipv6", "0")
            try await lab.near.ip("-6 addr add 2001:db8:\(net)::2/64 dev \(name) nodad")
            try await lab.near.ip("-6 route add default via 2001:db8:\(net)::1 dev \(name) metric \(net)00")
        }
        try await lab.near.ip("-6 rule add oif b0 prohibit pref 900")
        var configuration = ReachabilityConfiguration()
        configuration.networkNamespace = lab.near.path
        configuration.family = .ipv6
        let report = try ReachabilityManager.check(configuration: configuration)
        #expect(report.path.interface == "a0")
        let refused = report.links.first { $0.name == "b0" }
        #expect(refused?.isOnline == false)
        #expect(refused?.reason.code == .prohibited)
        #expect(
            refused?.reason.sentence
                == "b0 has carrier and 2001:db8:2::2/64 but a route or rule of type prohibit refuses it")

        // With IPv6 alone, a link without IPv6 must not be reported as having an address.
        try await lab.near.ip("-6 addr flush dev b0 scope global")
        let bare = try ReachabilityManager.check(configuration: configuration).links.first { $0.name == "b0" }
        #expect(bare?.reason.sentence == "b0 has carrier but no IPv6 address")
    }
}
