// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// The underlay of a tunnel, with and without a path to the destination of its own.
struct TunnelTests {
    /// eth0 with an address and a route to the tunnel's remote address only; the tunnel has the only default
    /// route.
    private static func replaced(
        kind: String = "tun", _ body: (inout FakeNetwork, _ tunnel: Int32) -> Void = { _, _ in }
    ) -> FakeNetwork {
        var network = FakeNetwork.wired
        network.removeRoutes("0.0.0.0/0")
        network.addRoute("203.0.113.7/32", via: "192.0.2.1", on: network.index("eth0"))
        let tunnel = network.addLink("tun0", kind: kind, hardwareType: 0xFFFE)
        network.addAddress("10.8.0.2/24", to: tunnel)
        network.addRoute("0.0.0.0/0", on: tunnel)
        body(&network, tunnel)
        return network
    }

    private static func report(_ network: FakeNetwork, on name: String = "tun0") -> LinkReport? {
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
        "a tunnel that took the place of the default route counts, unchecked, as long as a link could carry it"
    )
    func replacedDefault() {
        let path = Self.replaced().evaluate(.general)
        #expect(path.instantStatus == .wired)
        #expect(path.interface == "tun0")
        #expect(path.isTunnel && path.isTunnelUnchecked && path.underlay == nil)
        #expect(Self.report(Self.replaced())?.isOnline == true)

        let unplugged = Self.replaced { network, _ in network.setCarrier(network.index("eth0"), false) }
        #expect(unplugged.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
        #expect(unplugged.evaluate(.general).alternative == nil)
        let bare = Self.replaced { network, tunnel in
            network.addresses.removeAll { $0.interface != tunnel }
            network.addAddress("169.254.7.7/16", to: network.index("eth0"))
        }
        #expect(bare.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("its status is that of the link that probably carries it")
    func likelyCarrier() {
        let path = Self.replaced { network, _ in
            let wlan0 = network.index("eth0")
            network.wireless[wlan0] = WirelessState(mode: 2, ssid: "lab")
        }.evaluate(.general)
        #expect(path.instantStatus == .wifi)
        #expect(path.medium == .tunnel)
    }

    @Test(
        "FLD-077 a tunnel that hides every other route counts, unchecked, unless a link with an address is dead",
        arguments: [true, false])
    func hidesTheDefault(inHalves: Bool) {
        let hidden = Self.replaced { network, tunnel in
            network.removeRoutes("0.0.0.0/0")
            if inHalves {
                network.addRoute("0.0.0.0/1", on: tunnel)
                network.addRoute("128.0.0.0/1", on: tunnel)
            } else {
                network.addRoute("0.0.0.0/0", on: tunnel, table: 51820)
            }
        }
        let path = hidden.evaluate(.general)
        #expect(path.instantStatus == .wired && path.isTunnelUnchecked && path.underlay == nil)
        #expect(Self.report(hidden)?.isOnline == true)
        // The dead link is the more probable underlay, whether it lost its cable or was switched off.
        for flags in [LinkState.Flags.up, []] {
            var dead = hidden
            dead.addAddress("10.1.0.1/24", to: dead.addLink("lan0"))
            #expect(dead.evaluate(.general).isOnline)
            dead.change(dead.index("eth0")) { ($0.flags, $0.operationalState) = (flags, .down) }
            #expect(dead.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
            #expect(Self.report(dead)?.isOnline == false)
        }
        // An unused port without an address is none.
        var unused = hidden
        unused.addLink("eth1", up: false)
        #expect(unused.evaluate(.general).isOnline)
        // Nothing is sent by a family without an address.
        var bare = hidden
        let eth0 = bare.index("eth0")
        bare.addresses.removeAll { $0.interface == eth0 }
        bare.addAddress("2001:db8::2/64", to: eth0)
        #expect(bare.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("FLD-077 by IPv6 as well, and where a route refuses what the tunnel does not take")
    func hidesTheDefaultByIPv6() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("2001:db8::2/64", to: eth0)
        let tunnel = network.addLink("tun0", kind: "tun", hardwareType: 0xFFFE)
        network.addAddress("fd00:8::2/64", to: tunnel)
        network.addRoute("fd00::/8", on: tunnel)
        #expect(network.evaluate(.host("fd00::7")).reason.code == .tunnelWithoutUnderlay)
        for kind in [RouteAnswer.Kind.blackhole, .unreachable, .prohibit] {
            var refusing = network
            refusing.addRoute("::/0", metric: 900, kind: kind)
            let bound = RouteLookup(
                destination: ReachabilityConfiguration.defaultSentinels[2], interface: eth0)
            // A refusing route is no route of eth0.
            refusing.fixed[.route(bound)] = .failure(KernelErrno.networkUnreachable)
            refusing.fixed[.route(bound.entry)] = .failure(KernelErrno.networkUnreachable)
            #expect(refusing.evaluate(.host("fd00::7")).isTunnelUnchecked)
        }
        network.addRoute("::/0", on: tunnel, table: 51820)
        #expect(network.evaluate(.general).isTunnelUnchecked)
    }

    @Test("where nothing else leads out, the tunnel leads through another namespace")
    func namespaceOfItsOwn() {
        var network = FakeNetwork()
        let wg0 = network.addLink("wg0", kind: "wireguard", hardwareType: 0xFFFE)
        network.addAddress("10.8.0.2/24", to: wg0)
        network.addRoute("0.0.0.0/0", on: wg0)
        #expect(network.evaluate(.general).instantStatus == .wired)
        #expect(network.evaluate(.general).isTunnelUnchecked)
        #expect(Self.report(network, on: "wg0")?.isOnline == true)
        // A link to containers on this machine carries nothing either.
        let docker = network.addLink("docker0", kind: "bridge")
        network.addLink("veth1", kind: "veth", master: docker)
        #expect(network.evaluate(.general).isTunnelUnchecked)
        network.addLink("eth0", up: false)
        #expect(network.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("a tunnel whose lower side lies in another namespace counts, unchecked")
    func lowerElsewhere() {
        func path(elsewhere: Bool) -> ReachabilityPath {
            Self.replaced(kind: "gre") { network, tunnel in
                network.change(tunnel) { $0.lowerIsElsewhere = elsewhere }
                network.setCarrier(network.index("eth0"), false)
            }.evaluate(.general)
        }
        #expect(path(elsewhere: true).isTunnelUnchecked)
        #expect(path(elsewhere: false).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("where the other end is known, the way there decides")
    func otherEnd() {
        func network(_ body: (inout FakeNetwork) -> Void = { _ in }) -> FakeNetwork {
            Self.replaced(kind: "gre") { network, tunnel in
                network.change(tunnel) { $0.remote = IPAddress("203.0.113.7") }
                body(&network)
            }
        }
        let path = network().evaluate(.general)
        #expect(path.underlay == "eth0")
        #expect(path.isTunnel && !path.isTunnelUnchecked)
        #expect(Self.report(network())?.isOnline == true)
        // eth0 has an address and carrier; only the route to the remote address is missing.
        let lost = network { $0.removeRoutes("203.0.113.7/32") }
        #expect(lost.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
        #expect(Self.report(lost)?.isOnline == false)
        let down = network { $0.setCarrier($0.index("eth0"), false) }
        #expect(down.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("the report on a tunnel without an underlay says so")
    func reportWithoutUnderlay() {
        var network = FakeNetwork.wired
        let tunnel = network.addLink("tun0", kind: "tun", hardwareType: 0xFFFE)
        network.addAddress("10.8.0.2/24", to: tunnel)
        network.addRoute("0.0.0.0/1", on: tunnel)
        network.addRoute("128.0.0.0/1", on: tunnel)
        #expect(Self.report(network)?.isOnline == true)
        network.setCarrier(network.index("eth0"), false)
        let report = Self.report(network)
        #expect(report?.isOnline == false)
        #expect(report?.reason.code == .tunnelWithoutUnderlay)
        #expect(
            report?.reason.sentence == "tun0 is a tunnel, and no other interface has a path to carry it")
    }
}
