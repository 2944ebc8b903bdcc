// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Every requirement between a route and a usable path, and every input of the physical medium.
struct PathChecksTests {
    private static func changed(
        _ network: FakeNetwork = .wired, _ name: String = "eth0", _ body: (inout LinkState) -> Void
    ) -> ReachabilityPath {
        var network = network
        network.change(network.index(name), body)
        return network.evaluate(.general)
    }

    private static var wifi: FakeNetwork {
        var network = FakeNetwork.wiredAndWiFi
        network.removeRoutes("0.0.0.0/0", metric: 100)
        return network
    }

    // MARK: - The link

    @Test("flags and operational state: each of them is needed")
    func linkState() {
        let notRunning = Self.changed { $0.flags.remove(.running) }
        #expect(notRunning.reason.sentence == "eth0: not operational")
        let unplugged = Self.changed { $0.flags.remove(.lowerUp) }
        #expect(unplugged.reason.sentence == "eth0: no carrier")
        let off = Self.changed { $0.flags = [] }
        #expect(off.reason.sentence == "eth0 is switched off")
        let below = Self.changed { $0.operationalState = .lowerLayerDown }
        #expect(below.reason.sentence == "eth0: no carrier")
        let testing = Self.changed { $0.operationalState = .testing }
        #expect(testing.reason.sentence == "eth0: not operational")
        let dormant = Self.changed { $0.operationalState = .dormant }
        #expect(dormant.reason.sentence == "eth0: link is up but dormant, waiting for authentication")
        #expect(dormant.instantStatus == .unreachable)
        let unknown = Self.changed { $0.operationalState = .unknown }
        #expect(unknown.instantStatus == .wired)
    }

    @Test func blockedRadioIsNamed() {
        var network = Self.wifi
        let wlan0 = network.index("wlan0")
        network.setCarrier(wlan0, false)
        #expect(network.evaluate(.general).reason.sentence == "wlan0: no carrier")
        network.devices[wlan0]?.isRadioBlocked = true
        #expect(network.evaluate(.general).reason.sentence == "wlan0: rfkill-blocked")
    }

    // MARK: - Route and source

    @Test func defaultThroughLoopbackLeadsNowhere() {
        var network = FakeNetwork.wired
        network.addAddress("203.0.113.9/32", to: 1)
        network.addRoute("0.0.0.0/0", on: 1, metric: 1)
        #expect(!network.evaluate(.general).isOnline)
    }

    @Test func routeWithoutSourceLacksAnAddress() {
        var network = FakeNetwork.wired
        network.addresses = []
        let path = network.evaluate(.general)
        #expect(path.reason.code == .noAddress)
        #expect(path.reason.sentence == "eth0 has carrier and a route, but no address to send from")
    }

    /// The state of an IPv6-only link just after it comes up: the kernel would send from ::1.
    @Test("while every address is tentative, loopback's is none to send from")
    func addressOfLoopbackIsNoSource() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("::1/128", to: 1)
        network.addAddress("2001:db8::2/64", to: eth0, flags: .tentative)
        network.addRoute("::/0", via: "2001:db8::1", on: eth0, metric: 1024)
        let path = network.evaluate(.general)
        #expect(!path.isOnline)
        #expect(path.reason.code == .noAddress)
        #expect(network.evaluate(.host("2001:db8:9::1")).reason.code == .noAddress)
        network.addresses[1].flags = []
        #expect(network.evaluate(.general).source?.description == "2001:db8::2")
    }

    @Test func linkLocalSourceIsEnoughForALinkLocalDestination() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("169.254.7.7/16", to: eth0)
        #expect(network.evaluate(.host("169.254.1.1")).isOnline)
        #expect(!network.evaluate(.host("fe80::1%nowhere")).isOnline)
        #expect(
            network.evaluate(.host("fe80::1%nowhere")).reason.sentence == "interface nowhere does not exist")
    }

    @Test(
        "a zone in figures is the interface's index, unless an interface has it for a name (RFC 4007 §11.2)")
    func numericZone() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("fe80::2/64", to: eth0)
        #expect(network.evaluate(.host("fe80::1%\(eth0)")).interface == "eth0")
        #expect(network.evaluate(.host("fe80::1%77")).reason.sentence == "interface 77 does not exist")
        #expect(network.evaluate(.host("fe80::1%0")).reason.sentence == "interface 0 does not exist")
        #expect(network.evaluate(.host("fe80::1%99999999999")).isOnline == false)
        let named = network.addLink("\(eth0)")
        network.addAddress("fe80::3/64", to: named)
        #expect(network.evaluate(.host("fe80::1%\(eth0)")).interfaceIndex == named)
    }

    @Test("types that the kernel answers instead of refusing")
    func routeKinds() {
        for (kind, code) in [
            (RouteAnswer.Kind.prohibit, ReachabilityReason.Code.prohibited), (.blackhole, .blackhole),
            (.unreachable, .unreachableRoute), (.broadcast, .noRoute), (.local, .noRoute),
        ] {
            #expect(PathFailure(kind: kind, isHost: false)?.code == code)
        }
        #expect(PathFailure(kind: .local, isHost: true) == nil)
        #expect(PathFailure(kind: .unicast, isHost: false) == nil)
        var network = FakeNetwork.wired
        network.addRoute("0.0.0.0/0", on: network.index("eth0"), metric: 1, kind: .broadcast)
        #expect(!network.evaluate(.general).isOnline)
    }

    @Test func upperHalfAloneIsPartial() {
        var network = FakeNetwork.wired
        network.removeRoutes("0.0.0.0/0")
        network.addRoute("128.0.0.0/1", via: "192.0.2.1", on: network.index("eth0"))
        let path = network.evaluate(.general)
        #expect(path.isOnline)
        #expect(path.isPartial)
    }

    @Test("a half that a route refuses is as missing as one without a route, whichever it is")
    func refusedHalfIsPartial() {
        for (there, refused) in [("0.0.0.0/1", "128.0.0.0/1"), ("128.0.0.0/1", "0.0.0.0/1")] {
            var network = FakeNetwork.wired
            network.removeRoutes("0.0.0.0/0")
            network.addRoute(there, via: "192.0.2.1", on: network.index("eth0"))
            network.addRoute(refused, kind: .blackhole)
            let path = network.evaluate(.general)
            #expect(path.isOnline)
            #expect(path.isPartial, "\(there)")
        }
    }

    @Test func deadLegsAreNotUsed() {
        var network = FakeNetwork()
        let down = network.addLink("a", up: false)
        let dead = network.addLink("b")
        let good = network.addLink("c")
        for (link, text) in [(down, "10.0.1.2/24"), (dead, "10.0.2.2/24"), (good, "10.0.3.2/24")] {
            network.addAddress(text, to: link)
        }
        network.addRoute(
            "0.0.0.0/0",
            legs: [.init(interface: down), .init(interface: dead, isDead: true), .init(interface: good)])
        #expect(network.evaluate(.general).interface == "c")
    }

    @Test func lifetimeIsCountedInHundredths() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("2001:db8::2/64", to: eth0)
        network.addRoute("::/0", via: "2001:db8::1", on: eth0, expires: 300)
        var snapshot = Snapshot()
        while case .needs(let questions) = PathEvaluator.general.evaluate(snapshot) {
            for question in questions { snapshot.add(question, network.answer(question)) }
        }
        guard case .path(_, let expires) = PathEvaluator.general.evaluate(snapshot) else { return }
        #expect(expires == .seconds(3))
    }

    // MARK: - The alternative

    /// eth0 with the preferred default route and without carrier, with b as an alternative.
    private static func beside(_ body: (inout FakeNetwork, _ b: Int32) -> Void) -> String? {
        var network = FakeNetwork.wired
        let b = network.addLink("b")
        network.addAddress("10.0.2.2/24", to: b)
        network.addRoute("0.0.0.0/0", via: "10.0.2.1", on: b, metric: 300)
        network.setCarrier(network.index("eth0"), false)
        body(&network, b)
        return network.evaluate(.general).alternative
    }

    @Test("who may stand in, and who may not")
    func alternative() {
        let plain = Self.beside { _, _ in }
        #expect(plain == "b")
        let port = Self.beside { $0.change($1) { $0.master = 77 } }
        #expect(port == nil)
        let tunnel = Self.beside { $0.change($1) { $0.kind = "wireguard" } }
        #expect(tunnel == nil)
        let accessPoint = Self.beside { $0.wireless[$1] = WirelessState(mode: 3) }
        #expect(accessPoint == nil)
        let dead = Self.beside { $0.setCarrier($1, false) }
        #expect(dead == nil)
        let linkLocal = Self.beside { network, b in
            network.addresses.removeAll { $0.interface == b }
            network.addAddress("169.254.2.2/16", to: b)
            network.removeRoutes("0.0.0.0/0", metric: 300)
            network.addRoute("0.0.0.0/0", on: b, metric: 300)
        }
        #expect(linkLocal == nil)
    }

    @Test(arguments: [(200, "c"), (400, "b")] as [(UInt32, String)])
    func alternativeHasTheLowestMetric(metric: UInt32, chosen: String) {
        let alternative = Self.beside { network, _ in
            let c = network.addLink("c")
            network.addAddress("10.0.3.2/24", to: c)
            network.addRoute("0.0.0.0/0", via: "10.0.3.1", on: c, metric: metric)
        }
        #expect(alternative == chosen)
    }

    @Test("asked for one family alone, nothing of the other stands in")
    func alternativeOfAnotherFamily() {
        var network = FakeNetwork()
        let a0 = network.addLink("a0")
        network.addAddress("2001:db8::2/64", to: a0)
        network.addRoute("::/0", via: "2001:db8::1", on: a0)
        network.setCarrier(a0, false)
        let b0 = network.addLink("b0")
        network.addAddress("192.0.2.2/24", to: b0)
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: b0)
        func path(_ family: IPAddress.Family?) -> ReachabilityPath {
            var configuration = ReachabilityConfiguration()
            configuration.family = family
            return network.evaluate(
                PathEvaluator(
                    target: .general(sentinels: configuration.sentinels), configuration: configuration))
        }
        #expect(path(.ipv6).reason.code == .linkDown)
        #expect(path(.ipv6).alternative == nil)
        network.addAddress("2001:db8:1::2/64", to: b0)
        network.addRoute("::/0", via: "2001:db8:1::1", on: b0, metric: 5)
        #expect(path(.ipv6).alternative == "b0")
    }

    @Test func oneForbiddingFamilyForbidsTheAlternative() {
        var network = FakeNetwork.wiredAndWiFi
        let eth0 = network.index("eth0")
        network.addRoute("0.0.0.0/0", metric: 1, kind: .prohibit)
        network.addAddress("fe80::2/64", to: eth0)
        network.addRoute("::/0", on: eth0)
        let path = network.evaluate(.general)
        #expect(path.reason.code == .prohibited)
        #expect(path.alternative == nil)
    }

    @Test func deadTunnelOutranksAnAddressThatIsMissing() {
        #expect(
            PathFailure(.tunnelWithoutUnderlay, link: nil).rank > PathFailure(.prohibited, link: nil).rank)
        #expect(PathFailure(.prohibited, link: nil).rank > PathFailure(.noAddress, link: nil).rank)
        #expect(PathFailure(.noAddress, link: nil).rank > PathFailure(.linkLocalOnly, link: nil).rank)
        #expect(PathFailure(.linkLocalOnly, link: nil).rank > PathFailure(.noRoute, link: nil).rank)
        #expect(PathFailure(.linkDown, link: nil).rank > PathFailure(.tunnelWithoutUnderlay, link: nil).rank)
    }
}
