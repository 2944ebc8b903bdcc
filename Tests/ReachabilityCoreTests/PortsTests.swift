// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Bridges with many ports, and stacked bridges.
struct PortsTests {
    /// br0 with the default route, without ports.
    private static func bridged() -> (network: FakeNetwork, bridge: Int32) {
        var network = FakeNetwork()
        let bridge = network.addLink("br0", kind: "bridge")
        network.addAddress("192.0.2.2/24", to: bridge)
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: bridge)
        return (network, bridge)
    }

    @Test("FLD-108 a bridge without any port is told from one whose ports are all dead") func portless() {
        var (network, bridge) = Self.bridged()
        let bare = network.evaluate(.general).reason
        #expect(bare.code == .noPorts && bare.sentence == "br0 has no port")
        network.addLink("port0", master: bridge, up: false)
        #expect(network.evaluate(.general).reason.sentence == "br0: none of its ports is usable")
    }

    @Test func switchWithManyPortsIsAskedInFewRounds() {
        var (network, bridge) = Self.bridged()
        for port in 0..<200 { network.addLink("port\(port)", master: bridge, up: port % 2 == 0) }
        let path = network.evaluate(.general)  // gives up after 40 rounds
        #expect(path.instantStatus == .wired)
        #expect(path.medium == .bridge)
        #expect(path.interface == "br0")
    }

    @Test func radiosThatAreNoClientsMakeNoUsablePortHoweverMany() {
        var (network, bridge) = Self.bridged()
        for port in 0..<100 {
            let index = network.addLink("wlan\(port)", master: bridge)
            network.wireless[index] = WirelessState(mode: 3)
        }
        #expect(network.evaluate(.general).reason.code == .noPorts)
        network.wireless[network.index("wlan99")] = nil
        #expect(network.evaluate(.general).instantStatus == .wired)
    }

    @Test func multipathWithManyDeadLegsIsAskedInFewRounds() {
        var network = FakeNetwork()
        var legs: [RouteAnswer.Leg] = []
        for number in 1...60 {
            let link = network.addLink("eth\(number)", up: number == 60)
            network.addAddress("10.0.\(number).2/24", to: link)
            legs.append(RouteAnswer.Leg(interface: link, gateway: IPAddress("10.0.\(number).1")))
        }
        network.addRoute("0.0.0.0/0", legs: legs)
        let path = network.evaluate(.general)
        #expect(path.interface == "eth60")
        #expect(path.gateway?.description == "10.0.60.1")
        #expect(path.source?.description == "10.0.60.2")
    }

    /// The answers of a hostile recording: each bridge lists the next one as a hundred of its ports, so that
    /// 10¹² paths lead to the last one, whose ports are `last`.
    private static func evaluateNested(last: KernelAnswer?) -> PathEvaluator.Evaluation {
        let (network, bridge) = bridged()
        var snapshot = Snapshot()
        for _ in 0..<40 {
            guard case .needs(let questions) = PathEvaluator.general.evaluate(snapshot) else { break }
            for question in questions {
                guard case .ports(let master) = question else {
                    snapshot.add(question, network.answer(question))
                    continue
                }
                let port = LinkState(
                    index: master + 1, name: "br", flags: [.up, .lowerUp, .running], operationalState: .up,
                    kind: "bridge", master: master)
                let answer = master == bridge + 5 ? last : .links(Array(repeating: port, count: 100))
                if let answer { snapshot.add(question, answer) }
            }
        }
        return PathEvaluator.general.evaluate(snapshot)
    }

    @Test("bridges of bridges cost no more than what was written down of them", .timeLimit(.minutes(10)))
    func nestedBridges() {
        let cable = LinkState(index: 99, name: "e", flags: [.up, .lowerUp, .running], kind: "veth")
        guard case .path(let path, _) = Self.evaluateNested(last: .links([cable])) else {
            Issue.record("it came to no end")
            return
        }
        #expect(path.instantStatus == .wired)
        #expect(path.medium == .bridge)
    }

    @Test("so they do where no port is usable", .timeLimit(.minutes(10))) func nestedBridgesWithoutPorts() {
        guard case .path(let path, _) = Self.evaluateNested(last: .links([])) else {
            Issue.record("it came to no end")
            return
        }
        #expect(path.reason.code == .noPorts)
    }

    @Test("and where the last answer is missing", .timeLimit(.minutes(10))) func nestedBridgesWithoutAnswer()
    {
        guard case .needs(let missing) = Self.evaluateNested(last: nil) else {
            Issue.record("something was concluded from nothing")
            return
        }
        #expect(missing.count == 1)
    }

    // MARK: - Guests beside an uplink

    @Test(
        "FLD-003 a guest's port is no uplink beside a port that leads out",
        arguments: [(nil, 1), ("bond", 1), ("macvlan", 1), ("vlan", 1), ("vxlan", 1)] as [(String?, UInt16)])
    func guestBesideUplink(kind: String?, type: UInt16) {
        for guest in ["veth", "tun", "netkit"] {
            var (network, bridge) = Self.bridged()
            let uplink = network.addLink("uplink", kind: kind, hardwareType: type, master: bridge)
            if kind == "bond" { network.addLink("eth0", master: uplink) }
            network.addLink("guest", kind: guest, master: bridge)
            #expect(network.evaluate(.general).instantStatus == .wired)
            network.setCarrier(uplink, false)
            #expect(network.evaluate(.general).reason.code == .noPorts, "\(guest)")
            // A VLAN on the bridge is lost with it.
            let vlan = network.addLink("br0.5", kind: "vlan", lower: bridge)
            network.addAddress("10.5.0.2/24", to: vlan)
            network.addRoute("0.0.0.0/0", via: "10.5.0.1", on: vlan, metric: 0)
            network.removeRoutes("0.0.0.0/0", metric: 0)
            network.addRoute("0.0.0.0/0", via: "10.5.0.1", on: vlan, metric: 1)
            #expect(network.evaluate(.general).reason.code == .noPorts)
            network.change(uplink) { $0.flags = [] }
            #expect(network.evaluate(.general).reason.code == .noPorts, "switched off is as dead")
        }
    }

    @Test("FLD-003 a bridge of guests alone, or beside an access point, is as usable as they are")
    func guestsAlone() {
        var (network, bridge) = Self.bridged()
        let guest = network.addLink("guest", kind: "veth", master: bridge)
        #expect(network.evaluate(.general).instantStatus == .wired)
        let radio = network.addLink("wlan0", master: bridge)
        network.wireless[radio] = WirelessState(mode: 3)
        #expect(network.evaluate(.general).instantStatus == .wired)
        network.addLink("dummy0", kind: "dummy", master: bridge)
        #expect(network.evaluate(.general).instantStatus == .wired)
        network.setCarrier(guest, false)
        #expect(network.evaluate(.general).reason.code == .noPorts)
    }

    @Test(
        "FLD-078 an uplink port that does not forward is dead, though a guest's port keeps the bridge up",
        arguments: [LinkState.BridgePortState.disabled, .listening, .learning, .blocking])
    func portThatDoesNotForward(state: LinkState.BridgePortState) {
        var (network, bridge) = Self.bridged()
        let uplink = network.addLink("uplink", kind: "macvlan", master: bridge)
        let guest = network.addLink("guest", kind: "veth", master: bridge)
        network.change(uplink) { $0.bridgePortState = .forwarding }
        network.change(guest) { $0.bridgePortState = state }
        #expect(network.evaluate(.general).instantStatus == .wired)
        network.change(uplink) { $0.bridgePortState = state }
        network.change(guest) { $0.bridgePortState = .forwarding }
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .unreachable)
        let held = LinkUsability.port("uplink", .heldByBridge(state))
        #expect(path.reason.sentence == held.sentence("br0"), "\(path.reason)")
        #expect(Self.report(network, on: "br0")?.isOnline == false)
        network.addLink("other", master: bridge)
        #expect(network.evaluate(.general).instantStatus == .wired)
    }

    @Test("FLD-003 every port of a bond is an uplink") func bondOfCables() {
        for kind in ["bond", "team"] {
            var (network, bond) = Self.bridged()
            network.change(bond) { $0.kind = kind }
            let dead = network.addLink("eth0", master: bond)
            network.addLink("v0", kind: "veth", master: bond)
            network.setCarrier(dead, false)
            #expect(network.evaluate(.general).instantStatus == .wired)
        }
    }

    // MARK: - A port as the way out

    @Test(
        "FLD-004 nothing comes back to a port of a bridge, bond or team; it does to one of a VRF",
        arguments: [
            ("bridge", false), ("bond", false), ("team", false), ("openvswitch", false), (nil, false),
            ("vrf", true), ("batadv", true),
        ] as [(String?, Bool)])
    func portAsEgress(kind: String?, isPath: Bool) {
        for (own, route, gateway, host) in [
            ("192.0.2.2/24", "0.0.0.0/0", "192.0.2.1", "192.0.2.9"),
            ("2001:db8::2/64", "::/0", "2001:db8::1", "2001:db8::9"),
        ] {
            var network = FakeNetwork()
            let eth0 = network.addLink("eth0")
            network.addAddress(own, to: eth0)
            network.addRoute(route, via: gateway, on: eth0)
            let master = network.addLink("above", kind: kind)
            network.change(eth0) { $0.master = master }
            let path = network.evaluate(.general)
            #expect(path.isOnline == isPath)
            #expect(network.evaluate(.host(host)).isOnline == isPath)
            #expect(Self.report(network, on: "eth0")?.isOnline == isPath)
            guard !isPath else { continue }
            #expect(path.reason.code == .bridgePort)
            #expect(
                path.reason.sentence
                    == "eth0 is a port of above, where all answers arrive: above needs the address and the route"
            )
            let other = network.addLink("eth1")
            network.addAddress(own.replacing("::2", with: ":1::2").replacing(".2.2", with: ".3.2"), to: other)
            network.addRoute(route, via: gateway, on: other, metric: 500)
            #expect(network.evaluate(.general).alternative == "eth1")
        }
    }

    @Test("FLD-004 a VLAN upon a port gets its frames before the bridge does") func vlanUponAPort() {
        var network = FakeNetwork()
        let bridge = network.addLink("br0", kind: "bridge")
        let vlan = network.addLink("eth0.5", kind: "vlan", lower: network.addLink("eth0", master: bridge))
        network.addAddress("192.0.2.2/24", to: vlan)
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: vlan)
        #expect(network.evaluate(.general).instantStatus == .wired)
    }

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
}
