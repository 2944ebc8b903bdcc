// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// The route of a tunnel's own packets if a kill switch hides it, or other links resemble it.
struct UnderlayTests {
    /// eth0 with the default route, and tun0 with a preferred one.
    private static func tunnelled(
        table: UInt32 = 254, to prefix: String = "0.0.0.0/0", _ body: (inout FakeNetwork) -> Void = { _ in }
    ) -> FakeNetwork {
        var network = FakeNetwork.wired
        let tunnel = network.addLink("tun0", kind: "tun", hardwareType: 0xFFFE)
        network.addAddress("10.8.0.2/24", to: tunnel)
        network.addRoute(prefix, on: tunnel, metric: 50, table: table)
        body(&network)
        return network
    }

    /// A tunnel in a table of its own, with a rule that refuses all other traffic but the exemptions.
    private static func switched(
        _ exemptions: RuleExemptions, _ way: KernelAnswer? = nil,
        _ body: (inout FakeNetwork) -> Void = { _ in }
    ) -> FakeNetwork {
        tunnelled(table: 51820) { network in
            network.exemptions = exemptions
            for link in network.links where link.name != "tun0" {
                for destination in ReachabilityConfiguration.defaultSentinels {
                    let bound = RouteLookup(destination: destination, interface: link.index)
                    network.fixed[.route(bound.entry)] = .failure(KernelErrno.hostUnreachable)
                }
            }
            let answer =
                way
                ?? .route(
                    RouteAnswer(
                        kind: .unicast, interface: network.index("eth0"), source: IPAddress("192.0.2.2")))
            var lookups = exemptions.destinations.map { RouteLookup(destination: $0) }
            for sentinel in ReachabilityConfiguration.defaultSentinels where sentinel.family == .ipv4 {
                lookups += exemptions.marks.map { RouteLookup(destination: sentinel, mark: $0) }
                lookups += exemptions.users.map { RouteLookup(destination: sentinel, user: $0) }
            }
            for lookup in lookups {
                network.fixed[.route(lookup)] = answer
                network.fixed[.route(lookup.entry)] = answer
            }
            body(&network)
        }
    }

    private static let noRoute = KernelAnswer.failure(KernelErrno.networkUnreachable)
    private static let refused = KernelAnswer.failure(KernelErrno.hostUnreachable)

    @Test(
        "FLD-001 behind a kill switch the route of the exempted traffic leads to the underlay",
        arguments: [
            RuleExemptions(marks: [51820]), RuleExemptions(users: [0]),
            RuleExemptions(destinations: [IPAddress("203.0.113.7")].compactMap(\.self)),
            RuleExemptions(marks: [51820], refusing: [.ipv4]),
        ])
    func exempt(_ exemptions: RuleExemptions) {
        let path = Self.switched(exemptions).evaluate(.general)
        #expect(path.instantStatus == .wired)
        #expect(path.interface == "tun0" && path.underlay == "eth0" && !path.isTunnelUnchecked)
        let unplugged = Self.switched(exemptions) { network in
            network.setCarrier(network.index("eth0"), false)
            // A port to the LAN carries nothing, even with carrier.
            network.addAddress("10.1.0.1/24", to: network.addLink("lan0"))
        }
        #expect(unplugged.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
        #expect(unplugged.evaluate(.general).alternative == nil)
    }

    @Test(
        "FLD-001 exempted traffic without a route carries nothing; refused exempted traffic is inconclusive"
    )
    func refusal() {
        let marked = RuleExemptions(marks: [51820], refusing: [.ipv4])
        #expect(Self.switched(marked, Self.noRoute).evaluate(.general).reason.code == .tunnelWithoutUnderlay)
        for network in [
            Self.switched(marked, Self.refused), Self.switched(RuleExemptions(refusing: [.ipv4])),
        ] {
            #expect(network.evaluate(.general).instantStatus == .wired)
            #expect(network.evaluate(.general).isTunnelUnchecked)
            var unplugged = network
            unplugged.setCarrier(network.index("eth0"), false)
            #expect(unplugged.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
        }
    }

    @Test("FLD-077 a mark whose traffic goes into the tunnel as well, or stays here, exempts nothing")
    func otherMark() {
        let marked = RuleExemptions(marks: [1])
        for (kind, link) in [(RouteAnswer.Kind.unicast, "tun0"), (.local, "lo")] {
            let network = Self.tunnelled(table: 51820) { network in
                network.exemptions = marked
                network.removeRoutes("0.0.0.0/0", metric: 100)
                for sentinel in ReachabilityConfiguration.defaultSentinels {
                    let lookup = RouteLookup(destination: sentinel, mark: 1)
                    network.fixed[.route(lookup)] = .route(
                        RouteAnswer(
                            kind: kind, interface: network.index(link), source: IPAddress("10.8.0.2")))
                }
            }
            #expect(network.evaluate(.general).isTunnelUnchecked)
        }
        #expect(Self.switched(marked, Self.noRoute).evaluate(.general).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("FLD-001 IPv6 inside the tunnel is carried by IPv4 where that is all there is outside")
    func otherFamily() {
        let network = Self.tunnelled { network in
            let tunnel = network.index("tun0")
            network.addAddress("fd00:8::2/64", to: tunnel)
            network.addRoute("::/0", on: tunnel, metric: 50)
        }
        let path = network.evaluate(.host("2001:db8::7"))
        #expect(path.instantStatus == .wired && path.underlay == "eth0")
        var unplugged = network
        unplugged.setCarrier(network.index("eth0"), false)
        #expect(unplugged.evaluate(.host("2001:db8::7")).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("FLD-001 a refused route to a known remote address is inconclusive")
    func refusedEnd() throws {
        let end = try #require(IPAddress("203.0.113.7"))
        let network = Self.tunnelled { network in
            network.change(network.index("tun0")) { $0.remote = end }
            for lookup in [RouteLookup(destination: end), RouteLookup(destination: end).entry] {
                network.fixed[.route(lookup)] = Self.refused
            }
        }
        #expect(network.evaluate(.general).underlay == "eth0")
    }

    @Test("FLD-002 a dead link with a default route of its own comes before a LAN port that is up")
    func deadUplink() {
        func network(_ body: (inout FakeNetwork, _ lan: Int32) -> Void = { _, _ in }) -> FakeNetwork {
            Self.tunnelled { network in
                let lan = network.addLink("lan0")
                network.addAddress("10.1.0.1/24", to: lan)
                network.addRoute("10.0.0.0/8", via: "10.1.0.9", on: lan)
                body(&network, lan)
            }
        }
        #expect(network().evaluate(.general).underlay == "eth0")
        let unplugged = network { network, _ in network.setCarrier(network.index("eth0"), false) }
        #expect(unplugged.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
        // The kernel selects by metric, not by carrier.
        for (metric, isCarried) in [(200, false), (10, true)] as [(UInt32, Bool)] {
            let two = network { network, lan in
                network.setCarrier(network.index("eth0"), false)
                network.addRoute("0.0.0.0/0", via: "10.1.0.9", on: lan, metric: metric)
                // The tunnel's own route has the lowest metric.
                network.removeRoutes("0.0.0.0/0", metric: 50)
                network.addRoute("0.0.0.0/0", on: network.index("tun0"), metric: 5)
            }
            #expect(two.evaluate(.general).isOnline == isCarried)
            #expect(two.evaluate(.general).underlay == (isCarried ? "lan0" : nil))
        }
    }

    @Test("FLD-002 a route for less than everything has taken no default's place", arguments: [24, 8, 1])
    func longerPrefix(length: Int) {
        let network = Self.tunnelled(to: length == 1 ? "0.0.0.0/1" : "10.0.0.0/\(length)") {
            $0.removeRoutes("0.0.0.0/0", metric: 100)
        }
        let path = network.evaluate(.host("10.0.0.77"))
        #expect(path.reason.code == .tunnelWithoutUnderlay)
        let replaced = Self.tunnelled { $0.removeRoutes("0.0.0.0/0", metric: 100) }
        #expect(replaced.evaluate(.host("10.0.0.77")).isTunnelUnchecked)
    }

    @Test(
        "FLD-002 a bridge upon a bond or a VLAN leads out, so a tunnel over it is no tunnel of another namespace"
    )
    func outwardBridges() {
        for (kind, isOutward) in [("bond", true), ("vlan", true), ("macvlan", true), ("veth", false)] {
            var network = FakeNetwork()
            let tunnel = network.addLink("tun0", kind: "tun", hardwareType: 0xFFFE)
            network.addAddress("10.8.0.2/24", to: tunnel)
            network.addRoute("0.0.0.0/0", on: tunnel)
            let bridge = network.addLink("br0", kind: "bridge", up: false)
            network.addLink("port", kind: kind, master: bridge, up: false)
            #expect(network.evaluate(.general).isOnline == !isOutward, "\(kind)")
        }
    }
}
