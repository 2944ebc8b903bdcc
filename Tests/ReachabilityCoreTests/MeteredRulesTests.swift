// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// What traffic costs: the order of the evidence, and what a path and each link say.
struct MeteredRulesTests {
    private static func rules(_ change: (inout ReachabilityConfiguration) -> Void) -> MeteredRules {
        var configuration = ReachabilityConfiguration()
        change(&configuration)
        return MeteredRules(configuration)
    }

    private static func evaluator(_ change: (inout ReachabilityConfiguration) -> Void) -> PathEvaluator {
        var configuration = ReachabilityConfiguration()
        change(&configuration)
        return PathEvaluator(
            target: .general(sentinels: ReachabilityConfiguration.defaultSentinels),
            configuration: configuration)
    }

    private static func reports(_ network: FakeNetwork, _ evaluator: PathEvaluator) -> [LinkReport] {
        var snapshot = Snapshot()
        for _ in 0..<40 {
            switch LinkReporter(evaluator: evaluator).report(snapshot) {
            case .reports(let reports): return reports
            case .needs(let questions):
                for question in questions { snapshot.add(question, network.answer(question)) }
            }
        }
        return []
    }

    @Test("UPL-220 configuration counts before a hint, that before the network's name, DHCP and the kind")
    func precedence() {
        var rules = Self.rules {
            $0.metered = ["wlan0": .no]
            $0.meteredNetworks = ["office": .yes]
        }
        rules.hints = [
            InterfaceHint(name: "wlan0", index: 3, metered: .yes),
            InterfaceHint(name: "wlan1", index: 4, metered: .guessNo),
        ]
        let cases: [(name: String, network: String?, lease: Bool, kind: Metered, expected: Metered)] = [
            ("wlan0", "office", true, .guessYes, .no),
            ("wlan1", "office", true, .guessYes, .guessNo),
            ("wlan2", "office", true, .guessNo, .yes),
            ("wlan2", "home", true, .guessNo, .guessYes),
            ("wlan2", nil, true, .unknown, .guessYes),
            ("wlan2", "home", false, .guessNo, .guessNo),
            ("wwan0", nil, false, .guessYes, .guessYes),
        ]
        for (name, network, lease, kind, expected) in cases {
            let cost = rules.cost(
                of: name, network: network, hasMeteredLease: lease, kind: NetworkCost(kind))
            #expect(cost.metered == expected, "\(name) \(network ?? "-") \(lease) \(kind)")
        }
        #expect(rules.cost(of: "wlan1", index: 9, kind: NetworkCost(.yes)).metered == .yes, "another link")
        let short = Self.rules {
            $0.expensiveInterfaces = ["eth0", "eth1"]
            $0.metered = ["eth1": .no]
        }
        #expect(short.cost(of: "eth0", kind: NetworkCost(.guessNo)).metered == .yes)
        #expect(short.cost(of: "eth1", kind: NetworkCost(.guessNo)).metered == .no)
    }

    @Test("UPL-221 yes, guess-yes and roaming cost; roaming does not where the answer is no")
    func expensive() {
        let costly = Metered.allCases.filter { NetworkCost($0).isExpensive }
        #expect(costly == [.yes, .guessYes] && Metered.allCases.filter(\.costs) == costly)
        let roaming = Metered.allCases.filter { NetworkCost($0, isRoaming: true).isExpensive }
        #expect(roaming == [.unknown, .yes, .guessYes, .guessNo])
        #expect(Metered.allCases.map(\.description) == ["unknown", "yes", "guess-yes", "guess-no", "no"])
    }

    @Test("UPL-222 the kind of a link: modem, telephone on USB, Bluetooth, Wi-Fi, cable")
    func kinds() {
        func metered(_ facts: DeviceFacts) -> Metered {
            var network = FakeNetwork.wired
            network.devices[network.index("eth0")] = facts
            return network.evaluate(.general).metered
        }
        #expect(metered(DeviceFacts()) == .guessNo)
        #expect(metered(DeviceFacts(driver: "r8152")) == .guessNo)
        #expect(metered(DeviceFacts(driver: "cdc_ncm")) == .guessNo, "as of many plain adapters")
        #expect(metered(DeviceFacts(driver: "rndis_host")) == .guessYes)
        #expect(metered(DeviceFacts(driver: "ipheth")) == .guessYes)
        #expect(metered(DeviceFacts(type: "wwan", driver: "cdc_ether")) == .guessYes)
        #expect(metered(DeviceFacts(type: "bluetooth")) == .guessYes)
        #expect(metered(DeviceFacts(type: "wlan")) == .guessNo)
        var serial = FakeNetwork()
        let ppp = serial.addLink("ppp0", hardwareType: 512)
        serial.addAddress("192.0.2.2/32", to: ppp)
        serial.addRoute("0.0.0.0/0", on: ppp)
        #expect(serial.evaluate(.general).metered == .unknown, "DSL or a modem")
        #expect(!serial.evaluate(.general).isExpensive)
    }

    @Test("UPL-223 a lease counts only if it is of an address that the link has")
    func lease() {
        var network = FakeNetwork.wired
        let eth0 = network.index("eth0")
        network.meteredLeases[eth0] = IPAddress("192.0.2.2")
        #expect(network.evaluate(.general).metered == .guessYes && network.evaluate(.general).isExpensive)
        network.meteredLeases[eth0] = IPAddress("192.0.2.3")
        #expect(network.evaluate(.general).metered == .guessNo, "a former lease")
        network.addAddress("192.0.2.3/24", to: network.addLink("eth1"))
        #expect(network.evaluate(.general).metered == .guessNo, "another link's")
    }

    @Test("UPL-224 a VLAN, a bridge and a tunnel cost what carries them does")
    func stacked() {
        func path(_ kind: String, _ body: (inout FakeNetwork, Int32) -> Void = { _, _ in })
            -> ReachabilityPath
        {
            var network = FakeNetwork.wired
            let (eth0, upper) = (
                network.index("eth0"), network.addLink("upper", kind: kind, lower: network.index("eth0"))
            )
            network.devices[eth0] = DeviceFacts(driver: "rndis_host")
            network.addAddress("203.0.113.2/24", to: upper)
            network.addRoute("0.0.0.0/0", via: "203.0.113.1", on: upper, metric: 1)
            body(&network, upper)
            return network.evaluate(.general)
        }
        #expect(path("vlan").metered == .guessYes)
        let bridge = path("bridge") { network, bridge in
            network.change(network.index("eth0")) { $0.master = bridge }
        }
        #expect(bridge.interface == "upper" && bridge.metered == .guessYes)
        let mixed = path("bridge") { network, bridge in
            network.change(network.index("eth0")) { $0.master = bridge }
            network.addLink("eth1", master: bridge)
        }
        #expect(mixed.metered == .guessNo, "the cheaper of two ports")
        var ports = FakeNetwork.wired
        let (eth0, master) = (ports.index("eth0"), ports.addLink("upper", kind: "bridge"))
        ports.change(eth0) { $0.master = master }
        let eth1 = ports.addLink("eth1", master: master)
        ports.addAddress("203.0.113.2/24", to: master)
        ports.addRoute("0.0.0.0/0", via: "203.0.113.1", on: master, metric: 1)
        var evaluator = Self.evaluator { _ in }
        evaluator.costs.hints = [InterfaceHint(name: "eth1", index: eth1, isRoaming: true)]
        #expect(!ports.evaluate(evaluator).isRoaming, "the other port does not roam")
        evaluator.costs.hints.append(InterfaceHint(name: "eth0", index: eth0, isRoaming: true))
        #expect(ports.evaluate(evaluator).isRoaming)
        var tunnelled = FakeNetwork.wired
        tunnelled.devices[tunnelled.index("eth0")] = DeviceFacts(driver: "rndis_host")
        let wg0 = tunnelled.addLink("wg0", kind: "wireguard", hardwareType: 0xFFFE)
        tunnelled.addAddress("10.7.0.2/24", to: wg0)
        tunnelled.addRoute("0.0.0.0/1", on: wg0)
        tunnelled.addRoute("128.0.0.0/1", on: wg0)
        let tunnel = tunnelled.evaluate(.general)
        #expect(tunnel.interface == "wg0" && tunnel.metered == .guessYes)
    }

    @Test("UPL-225 the path and each link say metered, roaming and constrained")
    func reported() {
        var network = FakeNetwork.wiredAndWiFi
        let wwan0 = network.addLink("wwan0")
        network.devices[wwan0] = DeviceFacts(type: "wwan")
        network.addAddress("203.0.113.2/24", to: wwan0)
        network.addRoute("0.0.0.0/0", via: "203.0.113.1", on: wwan0, metric: 700)
        var evaluator = Self.evaluator {
            $0.meteredNetworks = ["lab": .yes]
            $0.constrainedInterfaces = ["eth0", "wwan0"]
        }
        evaluator.costs.hints = [
            InterfaceHint(name: "wwan0", index: wwan0, metered: .guessNo, isRoaming: true)
        ]
        let links = Self.reports(network, evaluator)
        let lines = links.map {
            "\($0.name) \($0.metered) \($0.isRoaming) \($0.isConstrained) \($0.isExpensive)"
        }
        #expect(
            lines == [
                "eth0 guess-no false true false", "wlan0 yes false false true",
                "wwan0 guess-no true true true",
            ])
        let path = network.evaluate(evaluator)
        #expect(path.metered == .guessNo && path.isConstrained && !path.isExpensive && !path.isRoaming)
        network.setCarrier(network.index("eth0"), false)
        network.setCarrier(network.index("wlan0"), false)
        let rescue = network.evaluate(evaluator)
        #expect(rescue.alternative == "wwan0")
        #expect(rescue.isAlternativeExpensive && rescue.isAlternativeConstrained)
        let lost = Self.reports(network, evaluator).first { $0.name == "eth0" }
        #expect(lost?.isOnline == false && lost?.metered == .guessNo && lost?.isConstrained == true)
        let public1 = ReachabilityPath(status: .wired, isExpensive: true, isConstrained: true)
        #expect(public1.metered == .guessYes && public1.isConstrained)
    }

    @Test("UPL-226 a path whose cost changes alone is an update")
    func update() {
        let path = ReachabilityPath(status: .wired, interface: "eth0")
        let changes: [(inout ReachabilityPath) -> Void] = [
            { $0.metered = .no }, { $0.isRoaming = true }, { $0.isConstrained = true },
        ]
        for change in changes {
            var other = path
            change(&other)
            #expect(other.differs(from: path))
        }
    }
}
