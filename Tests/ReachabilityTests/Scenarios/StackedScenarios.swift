// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Stacked links: macvlan, bridges, tunnels.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct StackedScenarios {
    @Test("RS-093 a macvlan loses the carrier underneath, and has it back") func macvlan() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: """
                addr flush dev v0
                link add mv0 link v0 type macvlan mode bridge
                link set mv0 up
                addr add 10.0.0.2/24 dev mv0
                route add default via 10.0.0.1
                """)
        await scenario.start(expecting: .wired, on: "mv0")
        #expect(scenario.path.medium == .virtual)
        try await scenario.far.ip("link set p0 down")
        await scenario.expect([.unreachable])
        try await scenario.far.ip("link set p0 up")
        await scenario.expect([.unreachable, .wired], on: "mv0")
    }

    @Test("RS-094 a bridge loses its only port's carrier, and has it back") func bridge() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: """
                addr flush dev v0
                link add br0 type bridge
                link set v0 master br0
                link set br0 up
                addr add 10.0.0.2/24 dev br0
                route add default via 10.0.0.1
                """)
        try await scenario.near.ip("link show br0") { $0.contains("state UP") }
        await scenario.start(expecting: .wired, on: "br0")
        #expect(scenario.path.medium == .bridge)
        try await scenario.far.ip("link set p0 down")
        await scenario.expect([.unreachable])
        try await scenario.far.ip("link set p0 up")
        await scenario.expect([.unreachable, .wired], on: "br0")
    }

    @Test("RS-096 a bridge that never had a port") func emptyBridge() async throws {
        let scenario = try await Scenario(.f0)
        try await scenario.near.ip(
            batch: """
                link add br0 type bridge
                link set br0 up
                addr add 10.0.0.2/24 dev br0
                route add default via 10.0.0.1
                """)
        await scenario.start(expecting: .unreachable)
        await scenario.expect([], code: .noPorts)
    }

    @Test("RS-097 a tunnel without a reader, with one, and without again") func tunnelReader() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip("route replace default via 10.0.0.1 metric 500")
        try await scenario.near.ip("route del default metric 0")
        let tun = try await TunDevice(in: scenario.near)
        try await scenario.near.ip(
            batch: """
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add default dev tun0 metric 50
                """)
        await scenario.start(expecting: .unreachable)
        #expect(scenario.path.reason.code == .linkDown)
        #expect(scenario.path.alternative == nil, "a dead tunnel is never bypassed")
        try await tun.attach()
        await scenario.expect([.wired], on: "tun0")
        #expect(scenario.path.isTunnel)
        try await tun.detach()
        await scenario.expect([.wired, .unreachable])
    }

    @Test("RS-098 a tunnel shadows the default with two halves") func shadowed() async throws {
        let scenario = try await Scenario(.f1)
        let tun = try await TunDevice(in: scenario.near)
        try await tun.attach()
        try await scenario.near.ip(
            batch: """
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add 0.0.0.0/1 dev tun0
                route add 128.0.0.0/1 dev tun0
                """)
        try await scenario.near.ip("link show tun0") { $0.contains("LOWER_UP") }
        await scenario.start(expecting: .wired, on: "tun0")
        #expect(scenario.path.isTunnel)
        #expect(scenario.path.underlay == "v0")
        #expect(scenario.path.medium == .tunnel)
        #expect(try scenario.isOnline("tun0"))
        try await scenario.far.ip("link set p0 down")
        await scenario.expect([.unreachable], code: .tunnelWithoutUnderlay)
        #expect(try !scenario.isOnline("tun0"))
    }

    @Test("a tunnel takes the place of the default route, beside a route to its other end")
    func replacedDefault() async throws {
        let scenario = try await Scenario(.f1)
        let tun = try await TunDevice(in: scenario.near)
        try await tun.attach()
        try await scenario.near.ip(
            batch: """
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add 203.0.113.7 via 10.0.0.1 dev v0
                route replace default dev tun0
                """)
        try await scenario.near.ip("link show tun0") { $0.contains("LOWER_UP") }
        await scenario.start(expecting: .wired, on: "tun0")
        #expect(scenario.path.isTunnel && scenario.path.isTunnelUnchecked)
        #expect(try scenario.isOnline("tun0"))
        try await scenario.far.ip("link set p0 down")
        await scenario.expect([.unreachable], code: .tunnelWithoutUnderlay)
        #expect(try !scenario.isOnline("tun0"))
    }

    @Test("a namespace with a tunnel and nothing else") func tunnelAlone() async throws {
        let scenario = try await Scenario(.f0)
        let tun = try await TunDevice(in: scenario.near)
        try await tun.attach()
        try await scenario.near.ip(
            batch: """
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add default dev tun0
                """)
        try await scenario.near.ip("link show tun0") { $0.contains("LOWER_UP") }
        await scenario.start(expecting: .wired, on: "tun0")
        #expect(scenario.path.isTunnelUnchecked)
        try await tun.detach()
        await scenario.expect([.unreachable])
    }

    @Test(
        "a tunnel whose lower side stayed in the namespace it came from",
        .enabled(if: NetworkLab.makesVXLAN, "this kernel has no vxlan"))
    func tunnelFromElsewhere() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.far.ip(
            "link add vx0 netns \(scenario.near.path) type vxlan id 7 remote 10.0.0.9 dstport 4789 dev p0")
        try await scenario.near.ip(
            batch: """
                addr flush dev v0
                link set vx0 up
                addr add 10.9.0.2/24 dev vx0
                route add default via 10.9.0.1 dev vx0
                """)
        await scenario.start(expecting: .wired, on: "vx0")
        #expect(scenario.path.isTunnelUnchecked)
        #expect(try scenario.isOnline("vx0"))
    }

    @Test(
        "a tunnel whose other end the kernel tells goes by the way there",
        .enabled(if: NetworkLab.makesVXLAN, "this kernel has no vxlan"))
    func tunnelToAKnownEnd() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: """
                link add vx0 type vxlan id 7 remote 203.0.113.7 dstport 4789
                link set vx0 up
                addr add 10.9.0.2/24 dev vx0
                route add 203.0.113.7 via 10.0.0.1 dev v0
                route replace default via 10.9.0.1 dev vx0
                """)
        await scenario.start(expecting: .wired, on: "vx0")
        #expect(scenario.path.underlay == "v0")
        #expect(!scenario.path.isTunnelUnchecked)
        #expect(try scenario.isOnline("vx0"))
        try await scenario.near.ip("route del 203.0.113.7")
        await scenario.expect([.unreachable], code: .tunnelWithoutUnderlay)
        #expect(try !scenario.isOnline("vx0"))
    }

    @Test("RS-062 a tunnel by mark, table and suppressed default, as wg-quick sets it up") func policyTunnel()
        async throws
    {
        let scenario = try await Scenario(.f1)
        let tun = try await TunDevice(in: scenario.near)
        try await tun.attach()
        try await scenario.near.ip(
            batch: """
                link set tun0 up
                addr add 10.8.0.2/24 dev tun0
                route add default dev tun0 table 51820
                rule add not fwmark 51820 table 51820
                rule add table main suppress_prefixlength 0
                """)
        try await scenario.near.ip("link show tun0") { $0.contains("LOWER_UP") }
        await scenario.start(expecting: .wired, on: "tun0")
        #expect(scenario.path.isTunnel)
        #expect(scenario.path.underlay == "v0")
    }
}
