// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Monitoring of one host.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct HostScenarios {
    @Test("RS-080 a neighbour without any default route") func neighbour() async throws {
        let general = try await Scenario(.f1)
        try await general.near.ip("route del default")
        await general.start(expecting: .unreachable)
        let host = try await Scenario(lab: general.lab, host: "10.0.0.9")
        await host.start(expecting: .wired, on: "v0")
        #expect(host.path.reason.code == .hostRoute)
    }

    @Test("RS-082 a host behind a route of its own") func ownRoute() async throws {
        let general = try await Scenario(.f1)
        try await general.near.ip(batch: "route del default\nroute add 203.0.113.0/24 via 10.0.0.1")
        await general.start(expecting: .unreachable)
        let host = try await Scenario(lab: general.lab, host: "203.0.113.5")
        await host.start(expecting: .wired, on: "v0")
        try await general.near.ip("route del 203.0.113.0/24")
        await host.expect([.unreachable])
    }

    @Test("RS-084 one host is swallowed") func swallowed() async throws {
        let general = try await Scenario(.f1)
        await general.start(expecting: .wired, on: "v0")
        let host = try await Scenario(lab: general.lab, host: "203.0.113.5")
        await host.start(expecting: .wired, on: "v0")
        try await general.near.ip("route add blackhole 203.0.113.5/32")
        await host.expect([.unreachable], code: .blackhole)
        await general.expect([], on: "v0")
    }

    @Test("RS-085 this machine itself", arguments: ["127.0.0.1", "::1", "10.9.9.9", "localhost"])
    func itself(_ host: String) async throws {
        let scenario = try await Scenario(.f0, host: host)
        try await scenario.near.sysctl("net.ipv6.conf.all.disable_ipv6", "0")
        try await scenario.near.sysctl("net.ipv6.conf.lo.disable_ipv6", "0")
        try await scenario.near.ip(batch: "link set lo down\nlink set lo up\naddr add 10.9.9.9/32 dev lo")
        await scenario.start(expecting: .wired, on: "lo")
        #expect(scenario.path.reason.code == .local)
        try await scenario.near.ip(batch: "link add x0 type veth peer name x1\nlink set x0 up\nlink del x0")
        await scenario.expect([], on: "lo")
        #expect(scenario.pathUpdates.isEmpty)
    }

    @Test("RS-085 an address of one of this machine's links, whose cable is pulled")
    func ownAddress() async throws {
        let scenario = try await Scenario(.f1, host: "10.0.0.2")
        await scenario.start(expecting: .wired, on: "lo")
        #expect(scenario.path.reason.code == .local)
        try await scenario.far.ip("link set p0 down")
        try await scenario.near.ip("link show v0") { $0.contains("NO-CARRIER") }
        await scenario.expect([], on: "lo")
        #expect(scenario.pathUpdates.isEmpty)
    }

    @Test("RS-092 a link-local address follows its own link") func linkLocal() async throws {
        let scenario = try await Scenario(.f1f6, host: "fe80::1%v0")
        try await scenario.near.ip("addr show dev v0") { $0.contains("fe80::") && !$0.contains("tentative") }
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip(
            batch: "link add x0 type veth peer name x1\nlink set x0 up\nlink set x1 up\nlink del x0")
        await scenario.expect([], on: "v0")
        try await scenario.far.ip("link set p0 down")
        await scenario.expect([.unreachable], code: .linkDown)
        let nowhere = try await Scenario(lab: scenario.lab, host: "fe80::1%gone0")
        await nowhere.start(expecting: .unreachable)
        #expect(nowhere.path.reason.sentence == "interface gone0 does not exist")
    }
}
