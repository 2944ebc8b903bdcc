// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Addresses that are added, removed and changed.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct AddressScenarios {
    @Test("RS-029 the last address goes, and the default route with it, silently") func lastAddress()
        async throws
    {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("addr del 10.0.0.2/24 dev v0")
        await scenario.expect([.unreachable])
        #expect(
            scenario.path.reason.sentence
                == "v0 has carrier but no address (IPv6 is off: disable_ipv6 is set)")
    }

    @Test("RS-030 the source address goes, another one stays") func otherSource() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip("addr add 192.168.7.2/24 dev v0")
        await scenario.start(expecting: .wired, on: "v0")
        let generation = scenario.path.generation
        try await scenario.near.ip("addr del 10.0.0.2/24 dev v0")
        await scenario.wait { $0.source == IPAddress("192.168.7.2") }
        await scenario.expect([], on: "v0")
        #expect(scenario.path.generation == generation + 1)
    }

    @Test("RS-032 the address named as the route's source goes") func namedSource() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: "addr add 10.0.0.3/24 dev v0\nroute replace default via 10.0.0.1 src 10.0.0.3")
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("addr del 10.0.0.3/24 dev v0")
        await scenario.expect([.unreachable])
    }

    @Test("RS-033 a default route without any address") func noAddress() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(batch: "addr flush dev v0\nroute add default dev v0")
        await scenario.start(expecting: .unreachable)
        await scenario.expect([], code: .noAddress)
        #expect(scenario.path.reason.sentence == "v0 has carrier and a route, but no address to send from")
    }

    @Test("RS-034 the only address is on lo") func addressOnLoopback() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: "addr flush dev v0\naddr add 10.9.9.9/32 dev lo\nroute add default dev v0")
        await scenario.start(expecting: .wired, on: "v0")
        #expect(scenario.path.source == IPAddress("10.9.9.9"))
    }

    @Test("a link that sends with another link's address is online in the report") func borrowedAddress()
        async throws
    {
        let scenario = try await Scenario(.f2)
        try await scenario.near.ip(
            batch: """
                addr flush dev a0
                addr flush dev b0
                addr add 10.2.0.2/32 dev b0
                route add default dev a0
                """)
        await scenario.start(expecting: .wired, on: "a0")
        #expect(scenario.path.source == IPAddress("10.2.0.2"))
        #expect(try scenario.isOnline("a0"))
        #expect(try !scenario.isOnline("b0"))
    }

    @Test("RS-036 the address is renewed with other lifetimes") func renewed() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("addr change 10.0.0.2/24 dev v0 valid_lft 600 preferred_lft 600")
        await scenario.expect([], on: "v0")
        #expect(scenario.log.elements.count == 1)
    }

    @Test("RS-037 address and route are away for less than the grace") func shortAbsence() async throws {
        let scenario = try await Scenario(.f1) { $0.timing.lossGrace = .seconds(30) }
        await scenario.start(expecting: .wired, on: "v0")
        let generation = scenario.path.generation
        try await scenario.near.ip("addr del 10.0.0.2/24 dev v0")
        await scenario.wait { !$0.isOnline }
        try await scenario.near.ip(batch: "addr add 10.0.0.2/24 dev v0\nroute add default via 10.0.0.1")
        await scenario.wait { $0.isOnline }
        await scenario.expect([], on: "v0")
        #expect(scenario.path.generation == generation + 1)
    }

    @Test("RS-038 address and route are away for longer than the grace") func longAbsence() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("addr del 10.0.0.2/24 dev v0")
        await scenario.expect([.unreachable])
        try await scenario.near.ip(batch: "addr add 10.0.0.2/24 dev v0\nroute add default via 10.0.0.1")
        await scenario.expect([.unreachable, .wired], on: "v0")
    }

    @Test("RS-040 an IPv6 address counts when duplicate address detection is over") func detection()
        async throws
    {
        let scenario = try await Scenario(.f6)
        try await scenario.near.ip("addr del 2001:db8::2/64 dev v0")
        try await scenario.near.sysctl("net.ipv6.conf.v0.accept_dad", "1")
        await scenario.start(expecting: .unreachable)
        // In one batch: on a busy machine the detection may end before another program starts.
        let address = try await scenario.near.ip(
            batch: """
                addr add 2001:db8::2/64 dev v0
                addr show dev v0 tentative
                route replace default via 2001:db8::1 dev v0
                """)
        await scenario.expect([.wired], on: "v0")
        #expect(address.contains("2001:db8::2"), "it was tentative at first")
        #expect(try await !scenario.near.ip("addr show dev v0 tentative").contains("2001:db8::2"))
    }

    @Test("RS-041 somebody else has the IPv6 address") func duplicate() async throws {
        let scenario = try await Scenario(.f6)
        try await scenario.near.ip("addr del 2001:db8::2/64 dev v0")
        try await scenario.far.ip("addr add 2001:db8::2/64 dev p0 nodad")
        try await scenario.near.sysctl("net.ipv6.conf.v0.accept_dad", "1")
        await scenario.start(expecting: .unreachable)
        try await scenario.near.ip("addr add 2001:db8::2/64 dev v0")
        try await scenario.near.ip("route replace default via 2001:db8::1 dev v0")
        try await scenario.near.ip("addr show dev v0") { $0.contains("dadfailed") }
        await scenario.expect([])
    }

    @Test("RS-042 the preferred lifetime ends") func deprecated() async throws {
        let scenario = try await Scenario(.f6)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("addr change 2001:db8::2/64 dev v0 preferred_lft 1 valid_lft 600")
        try await scenario.near.ip("addr show dev v0") { $0.contains("deprecated") }
        await scenario.expect([], on: "v0")
    }

    @Test("RS-044 only a unique local address") func uniqueLocal() async throws {
        let scenario = try await Scenario(.f6)
        try await scenario.near.ip(
            batch: """
                addr del 2001:db8::2/64 dev v0
                addr add fd00:1::2/64 dev v0 nodad
                route replace default via fd00:1::1 dev v0
                """)
        await scenario.start(expecting: .wired, on: "v0")
        #expect(scenario.path.isUniqueLocal)
    }

    @Test("RS-045 a temporary address comes and goes") func temporary() async throws {
        let scenario = try await Scenario(.f6)
        try await scenario.near.sysctl("net.ipv6.conf.v0.use_tempaddr", "2")
        await scenario.start(expecting: .wired, on: "v0")
        let source = scenario.path.source
        try await scenario.near.ip("addr add 2001:db8:0:1::2/64 dev v0 mngtmpaddr nodad")
        try await scenario.near.ip("addr show dev v0") { $0.contains("temporary") }
        await scenario.manager.settle()
        try await scenario.near.ip("addr del 2001:db8:0:1::2/64 dev v0")
        try await scenario.near.ip("addr show dev v0") { !$0.contains("temporary") }
        await scenario.expect([], on: "v0")
        #expect(scenario.path.source == source)
        let sources = [source] + scenario.pathUpdates.map(\.source)
        #expect(
            zip(sources, sources.dropFirst()).allSatisfy { $0 != $1 }, "an update only for another source")
    }

    @Test("RS-046 with optimistic detection an address counts as soon as the kernel chooses it")
    func optimistic() async throws {
        let scenario = try await Scenario(.f6)
        try await scenario.near.ip("addr del 2001:db8::2/64 dev v0")
        try await scenario.near.sysctl("net.ipv6.conf.v0.accept_dad", "1")
        try await scenario.near.sysctl("net.ipv6.conf.v0.optimistic_dad", "1")
        try await scenario.near.sysctl("net.ipv6.conf.v0.use_optimistic", "1")
        // The detection must not end before the path is published.
        try await scenario.near.sysctl("net.ipv6.conf.v0.dad_transmits", "3600")
        await scenario.start(expecting: .unreachable)
        try await scenario.near.ip("addr add 2001:db8::2/64 dev v0 optimistic")
        try await scenario.near.ip("route replace default via 2001:db8::1 dev v0")
        await scenario.wait { $0.isOnline }
        await scenario.expect([.wired], on: "v0")
        #expect(try await scenario.near.ip("addr show dev v0").contains("optimistic"), "still being checked")
    }
}
