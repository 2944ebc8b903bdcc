// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Inputs beyond a plain route lookup: the source, ports, the leg of one host, and routers that do not
/// answer.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct SelectorScenarios {
    private func twoUplinks() async throws -> Scenario {
        let scenario = try await Scenario(.f2) { $0.reportsLinks = true }
        try await scenario.near.ip(
            batch: """
                route del default metric 200
                rule add from 10.1.0.2 lookup 201
                route add default via 10.1.0.1 dev a0 table 201
                rule add from 10.2.0.2 lookup 202
                route add default via 10.2.0.1 dev b0 table 202
                """)
        return scenario
    }

    @Test("FLD-007 two uplinks by rules for their addresses: each is online, and one stands in for the other")
    func sourceRules() async throws {
        let scenario = try await twoUplinks()
        await scenario.start(expecting: .wired, on: "a0")
        #expect(try scenario.isOnline("a0"))
        #expect(try scenario.isOnline("b0"))
        try await scenario.far.ip("link set pa down")
        await scenario.expect([.unreachable], code: .linkDown)
        #expect(scenario.path.alternative == "b0")
        #expect(scenario.path.alternativeSource == IPAddress("10.2.0.2"))
    }

    @Test("FLD-007 the table of the chosen source forbids what the main one allows")
    func refusingTable() async throws {
        let scenario = try await twoUplinks()
        await scenario.start(expecting: .wired, on: "a0")
        try await scenario.near.ip("route replace prohibit default table 201")
        await scenario.expect([.unreachable], code: .prohibited)
        try await scenario.near.ip("rule del from 10.1.0.2 lookup 201")
        await scenario.expect([.unreachable, .wired], on: "a0")
    }

    @Test("FLD-008 hosts of a dead leg are unreachable with an alternative, the others are not")
    func legs() async throws {
        let scenario = try await Scenario(.f2)
        try await scenario.near.ip(
            batch: """
                route del default metric 100
                route del default metric 200
                route add default nexthop via 10.1.0.1 dev a0 nexthop via 10.2.0.1 dev b0
                """)
        try await scenario.far.ip("link set pa down")
        try await scenario.near.ip("-o link show a0") { $0.contains("NO-CARRIER") }
        scenario.manager.startMonitoring()
        #expect(scenario.path.isPartial)
        #expect(scenario.path.reason.sentence.contains("a0: no carrier"))
        var seen: Set<String> = []
        for number in 1...16 {
            let host = "198.51.100.\(number)"
            // The two lookups of connect(2): one chooses the source, one names it.
            let first = try await scenario.near.ip("-o route get \(host)")
            let source = first.split(separator: " ").drop { $0 != "src" }.dropFirst().first ?? ""
            let leg =
                try await scenario.near.ip("-o route get \(host) from \(source)").contains("dev a0")
                ? "a0" : "b0"
            let path = try ReachabilityManager.check(
                host: host, configuration: scenario.manager.configuration
            ).path
            #expect(path.interface == (leg == "a0" ? nil : "b0"), "\(host): \(path.reason)")
            #expect(path.alternative == (leg == "a0" ? "b0" : nil))
            #expect(!path.isPartial)
            seen.insert(leg)
        }
        #expect(seen == ["a0", "b0"])
    }

    @Test(
        "FLD-010 multicast and broadcast addresses have a way",
        arguments: ["224.0.0.251", "239.1.2.3", "255.255.255.255", "10.0.0.255", "ff02::fb%v0", "ff02::fb"])
    func severalReceivers(_ host: String) async throws {
        let scenario = try await Scenario(.f1f6, host: host) { $0.reportsLinks = true }
        await scenario.start(expecting: .wired, on: "v0")
        #expect(scenario.log.elements.last?.links.first { $0.name == "v0" }?.isOnline == true)
    }

    @Test(
        "FLD-011 a rule for a protocol and a port leads to the only uplink that is alive",
        arguments: IPAddress.Family.allCases)
    func ports(_ family: IPAddress.Family) async throws {
        let scenario = try await Scenario(family == .ipv4 ? .f1 : .f6)
        let (option, gateway) = family == .ipv4 ? ("-4", "10.0.0.1") : ("-6", "2001:db8::1")
        try await scenario.near.ip("\(option) route del default")
        try await scenario.near.ip("\(option) route add default via \(gateway) dev v0 table 100")
        await scenario.start(expecting: .unreachable)
        try await scenario.near.ip("\(option) rule add ipproto tcp dport 443 lookup 100")
        await scenario.expect([.wired], on: "v0")
        let other = try await Scenario(lab: scenario.lab) { $0.port = 80 }
        await other.start(expecting: .unreachable)
        try await scenario.near.ip("\(option) rule del ipproto tcp dport 443 lookup 100")
        await scenario.expect([.wired, .unreachable])
    }

    @Test("FLD-012 an IPv6 router that does not answer is left for another, and taken again when it does")
    func router() async throws {
        let scenario = try await Scenario(.f6)
        try await scenario.near.ip("-6 route del default")
        try await scenario.near.ip(
            batch: """
                neigh replace 2001:db8::7 dev v0 lladdr 02:00:00:00:00:07 router nud reachable
                neigh replace 2001:db8::8 dev v0 lladdr 02:00:00:00:00:08 router nud reachable
                route add default via 2001:db8::7 dev v0 metric 100
                route add default via 2001:db8::8 dev v0 metric 200
                """)
        await scenario.start(expecting: .wired, on: "v0")
        #expect(scenario.path.gateway == IPAddress("2001:db8::7"))
        try await scenario.near.ip("-6 neigh replace 2001:db8::7 dev v0 router nud failed")
        await scenario.wait { $0.gateway == IPAddress("2001:db8::8") }
        try await scenario.near.ip(
            "-6 neigh replace 2001:db8::7 dev v0 lladdr 02:00:00:00:00:07 router nud reachable")
        await scenario.wait { $0.gateway == IPAddress("2001:db8::7") }
        await scenario.expect([], on: "v0")
    }
}
