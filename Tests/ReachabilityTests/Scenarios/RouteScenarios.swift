// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Routes: replaced, refused, partial, expiring.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct RouteScenarios {
    @Test("RS-048 the gateway is replaced") func gateway() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("route replace default via 10.0.0.9")
        await scenario.wait { $0.gateway == IPAddress("10.0.0.9") }
        await scenario.expect([], on: "v0")
        #expect(scenario.pathUpdates.count == 1)
    }

    @Test("RS-049 the default is replaced onto another link") func otherLink() async throws {
        let scenario = try await Scenario(.f2)
        await scenario.start(expecting: .wired, on: "a0")
        try await scenario.near.ip("route replace default via 10.2.0.1 dev b0 metric 100")
        await scenario.wait { $0.interface == "b0" }
        await scenario.expect([], on: "b0")
        #expect(scenario.pathUpdates.count == 1)
    }

    @Test("RS-050 a second default of the same metric, and the first one goes") func appended() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip(
            batch: "route append default via 10.0.0.9\nroute del default via 10.0.0.1")
        await scenario.wait { $0.gateway == IPAddress("10.0.0.9") }
        await scenario.expect([], on: "v0")
    }

    @Test("RS-052 the better default goes") func fallBack() async throws {
        let scenario = try await Scenario(.f2)
        await scenario.start(expecting: .wired, on: "a0")
        try await scenario.near.ip("route del default metric 100")
        await scenario.wait { $0.interface == "b0" }
        await scenario.expect([], on: "b0")
        #expect(scenario.pathUpdates.count == 1)
    }

    @Test("RS-053 the carrier of the better link goes, and the kernel still prefers it") func deadChoice()
        async throws
    {
        let scenario = try await Scenario(.f2)
        await scenario.start(expecting: .wired, on: "a0")
        try await scenario.far.ip("link set pa down")
        await scenario.expect([.unreachable], code: .linkDown)
        #expect(scenario.path.alternative == "b0")
        #expect(
            scenario.path.reason.sentence
                == "a0: no carrier, but the kernel still prefers it; b0 has a path of its own")
    }

    @Test("RS-054 the same where the kernel ignores routes without carrier") func ignoredChoice() async throws
    {
        let scenario = try await Scenario(.f2)
        for interface in ["all", "a0", "b0"] {
            try await scenario.near.sysctl("net.ipv4.conf.\(interface).ignore_routes_with_linkdown", "1")
        }
        await scenario.start(expecting: .wired, on: "a0")
        try await scenario.far.ip("link set pa down")
        await scenario.wait { $0.interface == "b0" }
        await scenario.expect([], on: "b0")
    }

    @Test(
        "RB-22 the kernel is told to ignore routes without carrier, and no longer",
        arguments: ["ipv4", "ipv6"])
    func switchedAtRunTime(family: String) async throws {
        let scenario = try await Scenario(.f2)
        if family == "ipv6" {
            for (name, net) in [("a0", "1"), ("b0", "2")] {
                try await scenario.near.sysctl("net.ipv6.conf.\(name).disable_ipv6", "0")
                try await scenario.near.ip("-6 addr add 2001:db8:\(net)::2/64 dev \(name) nodad")
                try await scenario.near.ip(
                    "-6 route add default via 2001:db8:\(net)::1 dev \(name) metric \(net)00")
            }
            try await scenario.near.ip("-4 route flush default")
        }
        await scenario.start(expecting: .wired, on: "a0")
        try await scenario.far.ip("link set pa down")
        await scenario.expect([.unreachable], code: .linkDown)
        // No link, address or route changes with it.
        let setting = "net.\(family).conf.all.ignore_routes_with_linkdown"
        try await scenario.near.sysctl(setting, "1")
        await scenario.wait { $0.interface == "b0" }
        await scenario.expect([.unreachable, .wired], on: "b0")
        try await scenario.near.sysctl(setting, "0")
        await scenario.wait { !$0.isOnline }
        await scenario.expect([.unreachable, .wired, .unreachable], code: .linkDown)
    }

    @Test("RS-056 an unreachable default of the worst metric changes nothing") func worstMetric() async throws
    {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip("route add unreachable default metric 4278198272")
        await scenario.start(expecting: .wired, on: "v0")
    }

    @Test(
        "RS-057 only a refusing default",
        arguments: [("prohibit", ReachabilityReason.Code.prohibited), ("blackhole", .blackhole)])
    func refusing(_ type: String, _ code: ReachabilityReason.Code) async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(batch: "route del default\nroute add \(type) default")
        await scenario.start(expecting: .unreachable)
        await scenario.expect([], code: code)
    }

    @Test("RS-064 only the lower half") func half() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(batch: "route del default\nroute add 0.0.0.0/1 via 10.0.0.1")
        await scenario.start(expecting: .wired, on: "v0")
        #expect(scenario.path.isPartial)
        try await scenario.near.ip("route add 128.0.0.0/1 via 10.0.0.1")
        await scenario.wait { !$0.isPartial }
        await scenario.expect([], on: "v0")
    }

    @Test("RS-074 an IPv4 default through an IPv6 router") func viaOtherFamily() async throws {
        let scenario = try await Scenario(.f1f6)
        try await scenario.near.ip(
            batch: """
                addr del 10.0.0.2/24 dev v0
                addr del 2001:db8::2/64 dev v0
                addr add 10.0.0.2/32 dev v0
                addr add fe80::2/64 dev v0 nodad
                route add 0.0.0.0/0 via inet6 fe80::1 dev v0
                """)
        await scenario.start(expecting: .wired, on: "v0")
        #expect(scenario.path.gateway == IPAddress("fe80::1"))
        #expect(scenario.path.families == [.ipv4])
    }

    @Test("RS-076 the IPv4 default goes, the IPv6 default stays") func families() async throws {
        let scenario = try await Scenario(.f1f6)
        await scenario.start(expecting: .wired, on: "v0")
        #expect(scenario.path.families == [.ipv4, .ipv6])
        try await scenario.near.ip("-4 route del default")
        await scenario.wait { $0.families == [.ipv6] }
        await scenario.expect([], on: "v0")
    }

    @Test("RS-077 both families lose the link: one report") func bothFamilies() async throws {
        let scenario = try await Scenario(.f1f6)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("link set v0 down")
        await scenario.expect([.unreachable])
    }

    @Test("RS-078 an IPv6 default expires: told when it does, not when the kernel collects it") func expiry()
        async throws
    {
        let scenario = try await Scenario(.f6)
        try await scenario.near.ip("-6 route replace default via 2001:db8::1 dev v0 expires 600")
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("-6 route replace default via 2001:db8::1 dev v0 expires 2")
        await scenario.expect([.unreachable], within: .seconds(60))
        #expect(
            try await scenario.near.ip("-6 route show default").contains("default"), "the dump still shows it"
        )
    }

    @Test("RS-081 a hundred thousand routes that do not matter come and go") func fullTable() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        await scenario.manager.settle()
        let routes = (0..<100_000).map { "172.\(16 + $0 / 65536).\($0 / 256 % 256).\($0 % 256)/32" }
        // The memory of a separate program, because this process runs other tests too.
        let program = try await scenario.near.start(BuiltProgram.reach, "watch", "--json")
        #expect(await program.output.wait(forCount: 1).count == 1)
        let memory = try #require(program.residentKiB)
        let before = (scenario.reactor.counters.turns, scenario.manager.counters.events)
        try await scenario.near.ip(batch: routes.map { "route add \($0) dev v0" }.joined(separator: "\n"))
        try await scenario.near.ip(batch: routes.map { "route del \($0) dev v0" }.joined(separator: "\n"))
        #expect(scenario.reactor.counters.turns - before.0 <= 5)
        #expect(scenario.manager.counters.events == before.1)
        await scenario.expect([], on: "v0")
        #expect(scenario.log.elements.count == 1)
        #expect(try #require(program.residentKiB) - memory < 1024)
        #expect(program.output.elements.count == 1)
    }
}
