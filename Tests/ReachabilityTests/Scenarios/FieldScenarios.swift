// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Configurations from the field, on the real kernel.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct FieldScenarios {
    @Test(
        "FLD-001 a VPN with a kill switch is carried by what the switch lets past, until that loses its cable",
        .enabled(if: TunDevice.unavailableReason == nil, "\(TunDevice.unavailableReason ?? "")"),
        arguments: [
            "route add unreachable default metric 4278198272 table 51820",
            "rule add pref 32001 not fwmark 51820 unreachable",
            "route add blackhole default table 51820 metric 7",
            "route add prohibit default table 51820 metric 7",
        ])
    func killSwitch(_ refusal: String) async throws {
        let scenario = try await Scenario(.f1)
        let tun = try await TunDevice(in: scenario.near)
        try await tun.attach()
        try await scenario.near.ip(
            batch: """
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add default dev tun0 table 51820
                rule add pref 31999 lookup main suppress_prefixlength 0
                rule add pref 32000 not fwmark 51820 lookup 51820
                \(refusal)
                """)
        try await scenario.near.ip("link show tun0") { $0.contains("LOWER_UP") }
        await scenario.start(expecting: .wired, on: "tun0")
        #expect(scenario.path.underlay == "v0")
        #expect(try scenario.isOnline("tun0"))
        try await scenario.far.ip("link set p0 down")
        await scenario.expect([.unreachable], code: .tunnelWithoutUnderlay)
        try await scenario.far.ip("link set p0 up")
        await scenario.expect([.unreachable, .wired], on: "tun0")
        // The mark's route is removed: nothing carries the tunnel, although its link is up.
        try await scenario.near.ip("route del default")
        await scenario.expect([.unreachable, .wired, .unreachable], code: .tunnelWithoutUnderlay)
    }

    @Test(
        "FLD-002 a VPN over a dead uplink stays unreachable beside a LAN port that is up",
        .enabled(if: TunDevice.unavailableReason == nil, "\(TunDevice.unavailableReason ?? "")"))
    func deadUplink() async throws {
        let scenario = try await Scenario(.f2)
        let tun = try await TunDevice(in: scenario.near)
        try await tun.attach()
        try await scenario.near.ip(
            batch: """
                route del default metric 200
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add default dev tun0 metric 50
                """)
        try await scenario.near.ip("link show tun0") { $0.contains("LOWER_UP") }
        await scenario.start(expecting: .wired, on: "tun0")
        #expect(scenario.path.underlay == "a0")
        try await scenario.far.ip("link set pa down")
        await scenario.expect([.unreachable], code: .tunnelWithoutUnderlay)
    }

    @Test(
        "FLD-077 what carries a VPN is not told where its packets pass the kill switch by something else",
        .enabled(if: TunDevice.unavailableReason == nil, "\(TunDevice.unavailableReason ?? "")"),
        arguments: [
            "rule add pref 100 ipproto udp dport 51820 lookup main", "rule add pref 100 tos 0x10 lookup main",
            "rule add pref 100 to 198.51.100.0/24 lookup main",
            """
            rule add pref 100 lookup main suppress_prefixlength 0
            route del default metric 100
            route add 198.51.100.7 via 10.1.0.1
            """,
            // The main table alone.
            """
            rule del pref 200
            route add 0.0.0.0/1 dev tun0
            route add 128.0.0.0/1 dev tun0
            route add 198.51.100.7 via 10.1.0.1
            route del default metric 100
            route add blackhole default
            """,
        ])
    func otherExemptions(_ exemption: String) async throws {
        let scenario = try await Scenario(.f2)
        let tun = try await TunDevice(in: scenario.near)
        try await tun.attach()
        try await scenario.near.ip(
            batch: """
                route del default metric 200
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add default dev tun0 table 51820
                route add unreachable default metric 9999 table 51820
                rule add pref 200 lookup 51820
                \(exemption)
                """)
        try await scenario.near.ip("link show tun0") { $0.contains("LOWER_UP") }
        await scenario.start(expecting: .wired, on: "tun0")
        #expect(scenario.path.isTunnelUnchecked)
        #expect(try scenario.isOnline("tun0"))
        // The other link is up and has an address, but the dead one is what carried the tunnel.
        try await scenario.far.ip("link set pa down")
        await scenario.expect([.unreachable], code: .tunnelWithoutUnderlay)
        try await scenario.far.ip("link set pa up")
        await scenario.expect([.unreachable, .wired], on: "tun0")
    }

    @Test(
        "FLD-077 a split tunnel without a default route is carried by nothing",
        .enabled(if: TunDevice.unavailableReason == nil, "\(TunDevice.unavailableReason ?? "")"),
        arguments: ["192.168.0.0/16", "128.0.0.0/1"])
    func splitTunnel(_ prefix: String) async throws {
        let scenario = try await Scenario(.f1, host: "192.168.7.7")
        let tun = try await TunDevice(in: scenario.near)
        try await tun.attach()
        try await scenario.near.ip(
            batch: """
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add \(prefix) dev tun0
                """)
        try await scenario.near.ip("link show tun0") { $0.contains("LOWER_UP") }
        await scenario.start(expecting: .wired, on: "tun0")
        try await scenario.near.ip("route del default")
        await scenario.expect([.unreachable], code: .tunnelWithoutUnderlay)
    }

    /// A bridge that carries the default route, with an uplink port (`up0`) and a guest's (`g0`).
    private func bridgeWithGuest() async throws -> Scenario {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: """
                addr flush dev v0
                link add link v0 name up0 type macvlan mode passthru
                link add br0 type bridge
                link add g0 type veth peer name g1
                link set up0 master br0
                link set g0 master br0
                link set up0 up
                link set g0 up
                link set g1 up
                link set br0 up
                addr add 10.0.0.2/24 dev br0
                route add default via 10.0.0.1
                """)
        try await scenario.near.ip("link show br0") { $0.contains("state UP") }
        await scenario.start(expecting: .wired, on: "br0")
        return scenario
    }

    @Test("FLD-078 a bridge whose uplink port stops forwarding is not kept up by a guest's port")
    func heldUplink() async throws {
        let scenario = try await bridgeWithGuest()
        try await scenario.near.run("bridge", "link", "set", "dev", "up0", "state", "0")
        await scenario.expect([.unreachable], code: .noPorts)
        #expect(scenario.path.reason.sentence.contains("up0"), "\(scenario.path.reason)")
        try await scenario.near.run("bridge", "link", "set", "dev", "up0", "state", "3")
        await scenario.expect([.unreachable, .wired], on: "br0")
    }

    @Test(
        "FLD-081 with the loopback link switched off nothing here is reached",
        arguments: ["127.0.0.1", "10.0.0.2"])
    func loopback(_ host: String) async throws {
        let scenario = try await Scenario(.f1, host: host)
        await scenario.start(expecting: .wired, on: "lo")
        try await scenario.near.ip("link set lo down")
        await scenario.expect([.unreachable])
        try await scenario.near.ip("link set lo up")
        await scenario.expect([.unreachable, .wired], on: "lo")
    }

    @Test("FLD-003 a bridge whose uplink loses its cable is not kept up by a guest's port")
    func bridgedGuest() async throws {
        let scenario = try await bridgeWithGuest()
        try await scenario.far.ip("link set p0 down")
        await scenario.expect([.unreachable], code: .noPorts)
        try await scenario.far.ip("link set p0 up")
        await scenario.expect([.unreachable, .wired], on: "br0")
    }

    @Test("FLD-004 the link of the default route becomes a port of a bridge and stays one") func port()
        async throws
    {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip(batch: "link add br0 type bridge\nlink set br0 up\nlink set v0 master br0")
        await scenario.expect([.unreachable], code: .bridgePort)
        #expect(try !scenario.isOnline("v0"))
        try await scenario.near.ip("link set v0 nomaster")
        await scenario.expect([.unreachable, .wired], on: "v0")
    }

    @Test("FLD-005 a guest with a 169.254/16 address and a gateway") func translated() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: """
                addr flush dev v0
                addr add 169.254.0.2/16 dev v0
                route add default via 169.254.0.1
                """)
        await scenario.start(expecting: .wired, on: "v0")
        #expect(try scenario.isOnline("v0"))
        try await scenario.near.ip("route replace default dev v0")
        await scenario.expect([.unreachable], code: .linkLocalOnly)
    }

    @Test(
        "FLD-006 a default route into a link that drops everything",
        .enabled(if: NetworkLab.makesIFB, "no ifb"))
    func dropped() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip(
            batch: """
                link add ks0 type ifb
                addr add 100.85.0.1/24 dev ks0
                link set ks0 up
                route replace default via 10.0.0.1 metric 100
                route add default via 100.85.0.9 dev ks0 metric 98
                route del default metric 0
                """)
        await scenario.expect([.unreachable], code: .dropped)
        #expect(scenario.path.alternative == nil)
        #expect(try !scenario.isOnline("ks0"))
        #expect(try scenario.isOnline("v0"))
    }

    @Test("FLD-069 another reason for the same loss is a path update and no status")
    func otherReason() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("route del default")
        await scenario.expect([.unreachable], code: .noRoute)
        for (type, code) in [
            ("blackhole", ReachabilityReason.Code.blackhole), ("prohibit", .prohibited),
            ("unreachable", .unreachableRoute),
        ] {
            try await scenario.near.ip("route replace \(type) default")
            await scenario.wait { $0.reason.code == code }
        }
        await scenario.expect([.unreachable], code: .unreachableRoute)
        #expect(scenario.log.elements.suffix(3).map(\.event) == [.path, .path, .path])
    }
}
