// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Links that drop all packets, and source addresses that a gateway translates.
struct DroppingLinkTests {
    private static func report(_ network: FakeNetwork, on name: String) -> LinkReport? {
        var snapshot = Snapshot()
        for _ in 0..<40 {
            switch LinkReporter(evaluator: .general).report(snapshot) {
            case .reports(let reports): return reports.first { $0.name == name }
            case .needs(let questions):
                for question in questions { snapshot.add(question, network.answer(question)) }
            }
        }
        return nil
    }

    @Test(
        "FLD-005 a 169.254/16 source works behind a gateway, and without one gets no further than the link",
        arguments: ["169.254.0.1", nil])
    func translated(gateway: String?) {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("169.254.0.2/16", to: eth0)
        network.addRoute("0.0.0.0/0", via: gateway, on: eth0)
        let path = network.evaluate(.general)
        #expect(path.isOnline == (gateway != nil))
        #expect(path.reason.code == (gateway == nil ? .linkLocalOnly : .defaultRoute))
        #expect(path.source?.description == (gateway == nil ? nil : "169.254.0.2"))
        #expect(network.evaluate(.host("203.0.113.1")).isOnline == (gateway != nil))
        #expect(Self.report(network, on: "eth0")?.isOnline == (gateway != nil))
        let tunnel = network.addLink("tun0", kind: "tun", hardwareType: 0xFFFE)
        network.addAddress("10.8.0.2/24", to: tunnel)
        network.addRoute("0.0.0.0/1", on: tunnel)
        network.addRoute("128.0.0.0/1", on: tunnel)
        #expect(network.evaluate(.general).underlay == (gateway == nil ? nil : "eth0"))
    }

    @Test("FLD-005 no router forwards an IPv6 link-local source") func linkLocalIPv6() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("fe80::2/64", to: eth0)
        network.addRoute("::/0", via: "fe80::1", on: eth0)
        #expect(network.evaluate(.general).reason.code == .linkLocalOnly)
    }

    @Test(
        "FLD-006 a default route into a link that drops everything is no path, and nothing stands in for it",
        arguments: [("dummy", 1), ("ifb", 1), ("nlmon", 824), ("vcan", 280), ("vxcan", 280), (nil, 280)]
            as [(String?, UInt16)])
    func dropped(kind: String?, type: UInt16) {
        for (own, route) in [("100.85.0.1/24", "0.0.0.0/0"), ("2001:db8:85::1/64", "::/0")] {
            var network = FakeNetwork.wired
            let sink = network.addLink("ks0", kind: kind, hardwareType: type)
            network.addAddress(own, to: sink)
            network.addRoute(route, on: sink, metric: 98)
            var configuration = ReachabilityConfiguration()
            configuration.family = route == "::/0" ? .ipv6 : .ipv4
            let path = network.evaluate(
                PathEvaluator(
                    target: .general(sentinels: configuration.sentinels), configuration: configuration))
            #expect(path.instantStatus == .unreachable)
            #expect(path.reason.code == .dropped)
            #expect(path.reason.sentence == "ks0 drops everything that is sent through it")
            #expect(path.alternative == nil)
            #expect(Self.report(network, on: "ks0")?.isOnline == false)
        }
    }

    @Test("FLD-006 what lies upon such a link, or has no other port, drops as well") func stackedUponASink() {
        var network = FakeNetwork()
        let sink = network.addLink("dummy0", kind: "dummy")
        for (kind, lower) in [("vlan", sink), ("macvlan", sink), ("bridge", nil), ("bond", nil)]
            as [(String, Int32?)]
        {
            var network = network
            let link = network.addLink("x", kind: kind, lower: lower)
            if lower == nil { network.change(sink) { $0.master = link } }
            network.addAddress("192.0.2.2/24", to: link)
            network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: link)
            #expect(network.evaluate(.general).reason.code == (lower == nil ? .noPorts : .dropped), "\(kind)")
        }
        network.addAddress("192.0.2.2/24", to: sink)
        #expect(network.evaluate(.host("192.0.2.9")).reason.code == .dropped)
        #expect(network.evaluate(.host("192.0.2.2")).reason.code == .local)
        network.removeRoutes("192.0.2.0/24")
        #expect(
            network.evaluate(.general).reason.sentence
                == "there is no network interface but loopback and what drops everything (dummy0)")
    }

    @Test("FLD-006 it carries no tunnel, and its address serves as the source of others")
    func besideOthers() {
        var network = FakeNetwork.wired
        let sink = network.addLink("ks0", kind: "ifb")
        network.addAddress("100.85.0.1/24", to: sink)
        network.addRoute("0.0.0.0/0", via: "100.85.0.1", on: sink, metric: 98)
        let tunnel = network.addLink("tun0", kind: "tun", hardwareType: 0xFFFE)
        network.addAddress("10.8.0.2/24", to: tunnel)
        network.addRoute("0.0.0.0/0", on: tunnel, metric: 50)
        #expect(network.evaluate(.general).underlay == "eth0")
        network.setCarrier(network.index("eth0"), false)
        #expect(network.evaluate(.general).reason.code == .tunnelWithoutUnderlay)

        var unnumbered = FakeNetwork()
        let eth0 = unnumbered.addLink("eth0")
        unnumbered.addAddress("203.0.113.5/32", to: unnumbered.addLink("dummy0", kind: "dummy"))
        unnumbered.addRoute("0.0.0.0/0", via: "192.0.2.1", on: eth0)
        let path = unnumbered.evaluate(.general)
        #expect(path.interface == "eth0" && path.source?.description == "203.0.113.5")
    }
}
