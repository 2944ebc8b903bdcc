// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Reports on single links: the first missing requirement, and the choice of the nearest uplink.
struct LinkReporterTests {
    private static func reports(_ network: FakeNetwork) -> [String: LinkReport] {
        var snapshot = Snapshot()
        let reporter = LinkReporter(evaluator: .general)
        for _ in 0..<40 {
            switch reporter.report(snapshot) {
            case .reports(let reports): return Dictionary(uniqueKeysWithValues: reports.map { ($0.name, $0) })
            case .needs(let questions):
                for question in questions { snapshot.add(question, network.answer(question)) }
            }
        }
        return [:]
    }

    @Test("what carries a link that lies on another one, beside the one that is preferred")
    func carrier() {
        var network = FakeNetwork.wiredAndWiFi
        for name in ["wlan0", "eth0"] {
            let lower = network.index(name)
            let vlan = network.addLink(name + ".5", kind: "vlan", lower: lower)
            network.addAddress("10.\(lower).0.2/24", to: vlan)
            network.addRoute("0.0.0.0/0", via: "10.\(lower).0.1", on: vlan, metric: 900)
        }
        let reports = Self.reports(network)
        #expect(reports.values.allSatisfy { $0.isOnline })
        #expect(reports.filter { $0.value.medium == .vlan }.count == 2)
        #expect(reports.filter(\.value.isWiFi).keys.sorted() == ["wlan0", "wlan0.5"])
    }

    @Test("the first thing that a link lacks")
    func wants() {
        var network = FakeNetwork.wired
        let bridge = network.addLink("br0", kind: "bridge")
        network.addLink("port", master: bridge)
        network.addLink("bare")
        for (name, text, flags) in [
            ("twice", "10.1.0.2/24", .duplicate), ("new", "10.2.0.2/24", .tentative),
            ("alone", "169.254.3.3/16", []), ("idle", "10.4.0.2/24", []),
        ] as [(String, String, InterfaceAddress.Flags)] {
            network.addAddress(text, to: network.addLink(name), flags: flags)
        }
        let reports = Self.reports(network)
        #expect(reports["eth0"]?.isOnline == true)
        for (name, sentence) in [
            ("port", "port has carrier and is a port of br0"),
            ("bare", "bare has carrier but no address"),
            ("twice", "twice: 10.1.0.2/24 is also used by another device on the link"),
            ("new", "new: 10.2.0.2/24 is still being checked for duplicates"),
            ("alone", "alone has carrier but only the link-local address 169.254.3.3/16"),
            ("idle", "idle has carrier and 10.4.0.2/24 but no default route"),
        ] {
            #expect(reports[name]?.isOnline == false)
            #expect(reports[name]?.reason.sentence == sentence)
        }
    }

    @Test func portIsNotOnlineByItselfEvenWithARoute() {
        var network = FakeNetwork.wired
        let bridge = network.addLink("br0", kind: "bridge")
        network.change(network.index("eth0")) { $0.master = bridge }
        #expect(Self.reports(network)["eth0"]?.isOnline == false)
    }

    @Test("a link without an address sends with that of another one, in both families")
    func unnumbered() {
        for (own, address, route, gateway) in [
            (nil, "10.0.0.2/32", "0.0.0.0/0", nil), ("fe80::2/64", "2001:db8::1/64", "::/0", "fe80::1"),
        ] as [(String?, String, String, String?)] {
            var network = FakeNetwork()
            let wan = network.addLink("wan")
            if let own { network.addAddress(own, to: wan) }
            network.addAddress(address, to: network.addLink("lan"))
            network.addRoute(route, via: gateway, on: wan)
            #expect(network.evaluate(.general).interface == "wan")
            let reports = Self.reports(network)
            #expect(reports["wan"]?.isOnline == true)
            #expect(reports["lan"]?.isOnline == false)
            // A link stays online if the kernel prefers another one.
            let other = network.addLink("other")
            network.addAddress("10.9.0.2/24", to: other)
            network.addAddress("2001:db8:9::2/64", to: other)
            network.addRoute(route, on: other, metric: 0)
            network.removeRoutes(route, metric: 0)
            network.addRoute(route, on: other, metric: 1)
            network.addRoute(route, via: gateway, on: wan, metric: 2)
            #expect(Self.reports(network)["wan"]?.isOnline == true)
        }
    }

    @Test(
        "a usable link is named before dead hardware; what leads to containers is not, unless it is all there is"
    )
    func nearestUplinkBeforeHardware() {
        var container = FakeNetwork()
        container.addLink("wlan0", up: false)
        container.addAddress("10.0.0.2/24", to: container.addLink("eth0", kind: "veth"))
        #expect(container.evaluate(.general).reason.sentence.hasPrefix("eth0 has carrier and 10.0.0.2/24"))

        var host = FakeNetwork()
        host.addLink("wlan0", up: false)
        let docker = host.addLink("docker0", kind: "bridge")
        host.addAddress("172.17.0.1/16", to: docker)
        host.addLink("veth1", kind: "veth", master: docker)
        #expect(host.evaluate(.general).reason.sentence == "wlan0: no carrier")
        host.links.removeAll { $0.name == "wlan0" }
        #expect(host.evaluate(.general).reason.interface == "docker0")
    }

    @Test("of equals hardware is named first") func nearestUplinkOfEquals() {
        var network = FakeNetwork()
        network.addLink("veth0", kind: "veth", up: false)
        network.addLink("eth0", up: false)
        #expect(network.evaluate(.general).reason.interface == "eth0")
    }

    @Test("an access point is no uplink, even with carrier and address") func nearestUplinkOfRadios() {
        var network = FakeNetwork()
        let wlan0 = network.addLink("wlan0")
        network.addAddress("192.168.4.1/24", to: wlan0)
        network.wireless[wlan0] = WirelessState(mode: 3)
        #expect(network.evaluate(.general).reason.interface == "wlan0")
        network.addLink("eth0", up: false)
        #expect(network.evaluate(.general).reason.sentence == "eth0: no carrier")
    }

    @Test func nearestUplinkIsTheOneThatIsFurthest() {
        var network = FakeNetwork()
        network.addLink("docker0", kind: "dummy")
        network.addLink("unplugged", up: false)
        #expect(network.evaluate(.general).reason.interface == "unplugged", "hardware before virtual")
        network.addLink("bare")
        #expect(network.evaluate(.general).reason.interface == "bare")
        network.addAddress("10.0.0.2/24", to: network.addLink("addressed"))
        #expect(network.evaluate(.general).reason.interface == "addressed")
        network.addLink("late")
        #expect(network.evaluate(.general).reason.interface == "addressed")
    }
}
