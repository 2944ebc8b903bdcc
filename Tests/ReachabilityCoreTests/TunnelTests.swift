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
        "a tunnel beside the default route needs one, or what is beneath it is gone",
        arguments: [true, false])
    func besideTheDefault(inHalves: Bool) {
        let path = Self.replaced { network, tunnel in
            network.removeRoutes("0.0.0.0/0")
            if inHalves {
                network.addRoute("0.0.0.0/1", on: tunnel)
                network.addRoute("128.0.0.0/1", on: tunnel)
            } else {
                network.addRoute("0.0.0.0/0", on: tunnel, table: 51820)
            }
        }.evaluate(.general)
        #expect(path.reason.code == .tunnelWithoutUnderlay)
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
