// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// IPv6 routes for one prefix of sources, as OpenWrt configures them: only lookups with a source find them.
struct SourceRoutesTests {
    private static let peer = IPAddress(v6High: 0x2606_4700_0000_0000, low: 0x1111)  // 2606:4700::1111

    /// eth0 with 2001:db8::2/64 and a default route for packets from that prefix.
    private static func network(_ body: (inout FakeNetwork, _ eth0: Int32) -> Void = { _, _ in })
        -> FakeNetwork
    {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("fe80::2/64", to: eth0)
        network.addAddress("2001:db8::2/64", to: eth0)
        network.addRoute("::/0", via: "fe80::1", on: eth0, metric: 512, from: "2001:db8::/64")
        body(&network, eth0)
        return network
    }

    private static func reports(_ network: FakeNetwork) -> [String: LinkReport] {
        var snapshot = Snapshot()
        for _ in 0..<40 {
            switch LinkReporter(evaluator: .general).report(snapshot) {
            case .reports(let reports): return Dictionary(uniqueKeysWithValues: reports.map { ($0.name, $0) })
            case .needs(let questions):
                for question in questions { snapshot.add(question, network.answer(question)) }
            }
        }
        return [:]
    }

    @Test func defaultForTheOwnPrefixIsAPath() {
        let path = Self.network().evaluate(.general)
        #expect(path.isOnline)
        #expect(path.families == [.ipv6])
        #expect(path.interface == "eth0")
        #expect(path.source?.description == "2001:db8::2")
        #expect(path.gateway?.description == "fe80::1")
        #expect(path.metric == 512)
        #expect(path.reason.code == .defaultRoute)
        #expect(!path.isPartial)
        #expect(Self.network().evaluate(.host("2606:4700::1111")).isOnline)
    }

    @Test func besideIPv4BothFamiliesCount() {
        let path = Self.network { network, eth0 in
            network.addAddress("192.0.2.2/24", to: eth0)
            network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: eth0)
        }.evaluate(.general)
        #expect(path.families == [.ipv4, .ipv6])
    }

    @Test("a source that the route is not for finds none: another prefix, tentative, link-local")
    func otherSources() {
        for (text, flags) in [
            ("2001:db8:1::2/64", []), ("2001:db8::2/64", .tentative), ("2001:db8::2/64", .duplicate),
        ] as [(String, InterfaceAddress.Flags)] {
            let path = Self.network { network, eth0 in
                network.addresses.removeAll { !$0.address.isLinkLocal }
                network.addAddress(text, to: eth0, flags: flags)
            }.evaluate(.general)
            #expect(!path.isOnline, "\(text)")
            #expect(path.reason.code == .noRoute || path.reason.code == .noAddress)
        }
    }

    @Test("of several sources the one that the kernel prefers is tried first")
    func order() {
        let path = Self.network { network, eth0 in
            network.addresses.removeAll { !$0.address.isLinkLocal }
            network.addAddress("fd00::2/64", to: eth0)
            network.addAddress("2001:db8:2::2/64", to: eth0, flags: .deprecated)
            network.addAddress("2001:db8:1::2/64", to: eth0)
            for prefix in ["fd00::/64", "2001:db8:1::/64", "2001:db8:2::/64"] {
                network.addRoute("::/0", via: "fe80::1", on: eth0, from: prefix)
            }
        }.evaluate(.general)
        #expect(path.source?.description == "2001:db8:1::2")
    }

    @Test("the link is online in the report, also where its address is another interface's")
    func report() {
        let own = Self.reports(Self.network())["eth0"]
        #expect(own?.isOnline == true)
        #expect(own?.gateway?.description == "fe80::1")
        let delegated = Self.network { network, eth0 in
            network.addresses.removeAll { !$0.address.isLinkLocal }
            network.addAddress("2001:db8::1/64", to: network.addLink("br-lan"))
        }
        #expect(delegated.evaluate(.general).interface == "eth0")
        #expect(Self.reports(delegated)["eth0"]?.isOnline == true)
        #expect(Self.reports(delegated)["br-lan"]?.isOnline == false)
    }

    @Test("what is dead has an alternative that has such a route")
    func alternative() {
        let network = Self.network { network, eth0 in
            let wwan0 = network.addLink("wwan0")
            // The kernel chooses it only if there is no other.
            network.addAddress("2001:db8:1::2/64", to: wwan0, flags: .deprecated)
            network.addRoute("::/0", via: "fe80::9", on: wwan0, metric: 900, from: "2001:db8:1::/64")
            // A route for all sources with a better metric comes second: the prefix counts before the metric.
            network.addRoute("::/0", via: "fe80::1", on: eth0, metric: 1)
            network.setCarrier(eth0, false)
        }
        let path = network.evaluate(.general)
        #expect(path.reason.code == .linkDown)
        #expect(path.alternative == "wwan0")
    }

    @Test("a source that leads through another interface does not count for this one")
    func foreignDatagrams() {
        let network = Self.network { network, _ in
            let wwan0 = network.addLink("wwan0")
            network.addAddress("2001:db8:1::2/64", to: wwan0)
        }
        #expect(Self.reports(network)["wwan0"]?.isOnline == false)
    }

    // MARK: - Connections

    private func verdict(
        local: String? = "2001:db8::2", isBound: Bool = false, in network: FakeNetwork
    ) -> ConnectionVerdict? {
        let path = ConnectionPath(
            local: local.flatMap { IPAddress($0) }, peer: Self.peer, interface: network.index("eth0"),
            name: "eth0", isBound: isBound)
        var snapshot = Snapshot()
        for _ in 0..<8 {
            var context = EvaluationContext(snapshot)
            if let verdict = try? ConnectionRules(path).verdict(&context) { return verdict }
            for question in context.missing { snapshot.add(question, network.answer(question)) }
        }
        return nil
    }

    @Test func connectionsThatTakeSuchARouteAreFine() {
        #expect(verdict(in: Self.network()) == .fine)
        #expect(verdict(isBound: true, in: Self.network()) == .fine)
        #expect(verdict(local: nil, in: Self.network()) == .fine)
        #expect(verdict(local: nil, isBound: true, in: Self.network()) == .fine)
    }

    @Test func connectionsWithoutItAreDead() {
        let gone = Self.network { network, _ in network.removeRoutes("::/0") }
        #expect(verdict(in: gone) == .dead("no route to 2606:4700::1111"))
        #expect(verdict(isBound: true, in: gone) == .dead("no route to 2606:4700::1111 through eth0"))
    }

    @Test("a better default for other sources moves nothing")
    func othersDefault() {
        let network = Self.network { network, _ in
            let wwan0 = network.addLink("wwan0")
            network.addAddress("2001:db8:1::2/64", to: wwan0)
            network.addRoute("::/0", via: "fe80::9", on: wwan0, metric: 1, from: "2001:db8:1::/64")
        }
        #expect(verdict(in: network) == .fine)
    }

    /// With a source, IPv6 answers with the better route through the other interface; a bound socket still
    /// uses its own.
    @Test("a bound connection is fine where its interface has a route, though another's is better")
    func boundBesideABetterOne() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        let wwan0 = network.addLink("wwan0")
        network.addAddress("2001:db8::2/64", to: eth0)
        network.addAddress("2001:db8:1::2/64", to: wwan0)
        network.addRoute("::/0", via: "fe80::1", on: eth0, metric: 200)
        network.addRoute("::/0", via: "fe80::9", on: wwan0, metric: 100)
        #expect(verdict(isBound: true, in: network) == .fine)
        #expect(verdict(in: network) == .moved(to: wwan0))
    }
}
