// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Obstacles beyond a link's state, in the sentences of a running manager.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct SentenceScenarios {
    @Test("FLD-013 FLD-014 FLD-015 why there is no IPv6 follows the settings") func ipv6() async throws {
        let scenario = try await Scenario(.f6)
        // The link-local address stays, because its removal and return announce disable_ipv6.
        try await scenario.near.ip("addr flush dev v0 scope global")
        await scenario.start(expecting: .unreachable)
        try await scenario.near.ip("link set v0 mtu 1000")
        await scenario.wait { $0.reason.sentence.contains("MTU of 1000") }
        try await scenario.near.ip("link set v0 mtu 1500")
        await scenario.wait { $0.reason.sentence == "v0 has carrier but no address" }
        try await scenario.near.sysctl("net.ipv6.conf.v0.disable_ipv6", "1")
        await scenario.wait { $0.reason.sentence.contains("disable_ipv6") }
        try await scenario.near.sysctl("net.ipv6.conf.v0.disable_ipv6", "0")
        await scenario.wait { $0.reason.sentence == "v0 has carrier but no address" }
        try await scenario.near.sysctl("net.ipv6.conf.v0.accept_ra", "1")
        try await scenario.near.sysctl("net.ipv6.conf.v0.forwarding", "1")
        await scenario.wait { $0.reason.sentence.contains("accept_ra is 1") }
        try await scenario.near.sysctl("net.ipv6.conf.v0.forwarding", "0")
        await scenario.wait { $0.reason.sentence == "v0 has carrier but no address" }
    }

    @Test("FLD-016 a bridge whose port waits for spanning tree, until it forwards") func spanningTree()
        async throws
    {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(
            batch: """
                addr flush dev v0
                link add br0 type bridge stp_state 1 forward_delay 1500
                link set v0 master br0
                link set br0 up
                addr add 10.0.0.2/24 dev br0
                route add default via 10.0.0.1
                """)
        await scenario.start(expecting: .unreachable)
        #expect(scenario.path.reason.sentence == "br0: its port v0 waits for spanning tree")
        try await scenario.near.ip("link set br0 type bridge forward_delay 200")
        try await scenario.near.ip("link set br0 type bridge stp_state 0")
        try await scenario.near.ip("link set v0 down")
        try await scenario.near.ip("link set v0 up")
        await scenario.expect([.wired], on: "br0")
    }

    @Test("FLD-017 FLD-018 a macvlan over a link that is switched off; one that is held down") func macvlan()
        async throws
    {
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
        try await scenario.near.ip("link set v0 down")
        await scenario.wait { $0.reason.sentence == "mv0: it lies on v0, which is switched off" }
        try await scenario.near.ip("link set v0 up")
        await scenario.wait { $0.isOnline }
        try await scenario.near.ip("link set mv0 protodown on")
        await scenario.wait { $0.reason.sentence.contains("protodown") }
    }
}
