// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Policy rules with further selectors than the destination: source, protocol, ports.
struct PolicyRulesTests {
    /// eth0 with the default route, and usb0 with a default route for packets from its own address.
    private static func twoUplinks(_ body: (inout FakeNetwork) -> Void = { _ in }) -> FakeNetwork {
        var network = FakeNetwork.wired
        let usb0 = network.addLink("usb0")
        network.addAddress("198.51.100.2/24", to: usb0)
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: network.index("eth0"), table: 201)
        network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: usb0, table: 202)
        network.addRule(from: "192.0.2.2/32", table: 201)
        network.addRule(from: "198.51.100.2/32", table: 202)
        body(&network)
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

    @Test("FLD-007 each uplink is online by what is sent from its own address")
    func probedAddresses() {
        let reports = Self.reports(Self.twoUplinks())
        #expect(reports["eth0"]?.isOnline == true)
        #expect(reports["usb0"]?.isOnline == true)
        #expect(reports["usb0"]?.gateway == IPAddress("198.51.100.1"))
    }

    @Test(
        "FLD-007 while the kernel's choice is dead the other is the alternative, with the address to send from"
    )
    func alternative() {
        let dead = Self.twoUplinks { $0.setCarrier($0.index("eth0"), false) }.evaluate(.general)
        #expect(!dead.isOnline)
        #expect(dead.alternative == "usb0")
        #expect(dead.alternativeSource == IPAddress("198.51.100.2"))
    }

    @Test("FLD-082 where only rules by source lead out, the reason says so, and a link is the alternative")
    func withoutDefault() {
        let path = Self.twoUplinks { $0.removeRoutes("0.0.0.0/0", metric: 100) }.evaluate(.general)
        #expect(path.instantStatus == .unreachable && path.reason.code == .noRoute)
        #expect(path.alternative == "eth0")
        #expect(path.alternativeSource == IPAddress("192.0.2.2"))
        #expect(
            path.reason.sentence
                == "eth0 has a route only for what is sent from its own address (see: ip rule)")
        // Without such rules no link is asked.
        var plain = FakeNetwork.wired
        plain.removeRoutes("0.0.0.0/0")
        #expect(plain.evaluate(.general).alternative == nil)
        // A route that forbids is obeyed.
        let forbidden = Self.twoUplinks { network in
            network.removeRoutes("0.0.0.0/0", metric: 100)
            network.addRoute("0.0.0.0/0", kind: .prohibit)
        }
        #expect(forbidden.evaluate(.general).alternative == nil)
    }

    @Test("FLD-007 of several addresses of a link that one serves which a rule sends on")
    func secondAddress() {
        let dead = Self.twoUplinks { network in
            network.policy.removeLast()
            network.addAddress("198.51.100.9/24", to: network.index("usb0"))
            network.addRule(from: "198.51.100.9/32", table: 202)
            network.setCarrier(network.index("eth0"), false)
        }.evaluate(.general)
        #expect(dead.alternative == "usb0")
        #expect(dead.alternativeSource == IPAddress("198.51.100.9"))
    }

    /// connect(2) looks up again with the source of the first lookup.
    @Test("FLD-007 what the table of the chosen source says, holds", arguments: [true, false])
    func secondLookup(_ isHost: Bool) {
        let evaluator = isHost ? PathEvaluator.host("203.0.113.5") : .general
        let refused = Self.twoUplinks { network in
            network.routes.removeAll { $0.table == 201 }
            network.addRoute("0.0.0.0/0", kind: .prohibit, table: 201)
        }
        #expect(refused.evaluate(evaluator).reason.code == .prohibited)
        let elsewhere = Self.twoUplinks { network in
            network.routes.removeAll { $0.table == 201 }
            network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: network.index("usb0"), table: 201)
        }
        #expect(elsewhere.evaluate(evaluator).interface == "usb0")
        #expect(elsewhere.evaluate(evaluator).source == IPAddress("192.0.2.2"))
    }

    @Test("FLD-007 a connection is fine by its own address's table")
    func connections() {
        func verdict(_ network: FakeNetwork, isBound: Bool) -> ConnectionVerdict? {
            let path = ConnectionPath(
                local: IPAddress("198.51.100.2"), peer: IPAddress(v4: 0xCB00_7105), port: 443,
                interface: network.index("usb0"), name: "usb0", isBound: isBound)
            var snapshot = Snapshot()
            for _ in 0..<8 {
                var context = EvaluationContext(snapshot)
                if let verdict = try? ConnectionRules(path).verdict(&context) { return verdict }
                for question in context.missing { snapshot.add(question, network.answer(question)) }
            }
            return nil
        }
        for isBound in [true, false] {
            #expect(verdict(Self.twoUplinks(), isBound: isBound) == .fine)
        }
        let gone = Self.twoUplinks { $0.routes.removeAll { $0.table == 202 } }
        #expect(verdict(gone, isBound: true) == .dead("no route to 203.0.113.5 through usb0"))
    }

    @Test("FLD-011 where rules look at ports, the port that is configured is asked for")
    func ports() {
        var network = FakeNetwork.wired
        let usb0 = network.addLink("usb0")
        network.addAddress("198.51.100.2/24", to: usb0)
        network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: usb0, table: 100)
        network.addRule(port: 443, table: 100)
        #expect(network.evaluate(.general).interface == "usb0")
        var configuration = ReachabilityConfiguration()
        configuration.port = 80
        let general = ReachabilityTarget.general(sentinels: ReachabilityConfiguration.defaultSentinels)
        let plain = PathEvaluator(target: general, configuration: configuration)
        #expect(network.evaluate(plain).interface == "eth0")
    }

    @Test("FLD-011 where no rule looks at ports or sources, no question names one")
    func plainQuestions() {
        let network = FakeNetwork.wiredAndWiFi
        var snapshot = Snapshot()
        while case .needs(let questions) = PathEvaluator.general.evaluate(snapshot) {
            for question in questions {
                if case .route(let lookup) = question, lookup.destination.family == .ipv4 {
                    #expect(lookup.port == 0 && lookup.source == nil)
                }
                snapshot.add(question, network.answer(question))
            }
        }
    }

    // MARK: - 464XLAT

    private static func translated(_ name: String, _ body: (inout FakeNetwork) -> Void = { _ in })
        -> FakeNetwork
    {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("2001:db8::2/64", to: eth0)
        network.addRoute("::/0", via: "fe80::1", on: eth0, metric: 1024)
        let clat = network.addLink(name, kind: name.hasPrefix("464") ? nil : "tun", hardwareType: 0xFFFE)
        network.addAddress("192.0.0.1/32", to: clat)
        network.addRoute("0.0.0.0/0", on: clat, metric: 2048)
        body(&network)
        return network
    }

    /// A dead way of IPv4's own: a tunnel may be meant to go that way, a translator is not.
    private static func addDeadIPv4(_ network: inout FakeNetwork) {
        let eth1 = network.addLink("eth1")
        network.addAddress("198.51.100.2/24", to: eth1)
        network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: eth1, metric: 5000)
        network.setCarrier(eth1, false)
    }

    private static var onlyIPv4: PathEvaluator {
        var configuration = ReachabilityConfiguration()
        configuration.family = .ipv4
        return PathEvaluator(
            target: .general(sentinels: ReachabilityConfiguration.defaultSentinels),
            configuration: configuration)
    }

    @Test(
        "FLD-011 the IPv6 path carries IPv4 through a 464XLAT device",
        arguments: ["clat", "clat4", "v4-wlan0", "464-wan6"])
    func translator(_ name: String) {
        let path = Self.translated(name).evaluate(.general)
        #expect(path.families == [.ipv4, .ipv6])
        let own = Self.translated(name).evaluate(Self.onlyIPv4)
        #expect(own.isOnline)
        #expect(own.interface == name)
        #expect(own.underlay == "eth0")
        #expect(Self.reports(Self.translated(name))[name]?.isOnline == true)
        let beside = Self.translated(name, Self.addDeadIPv4).evaluate(Self.onlyIPv4)
        #expect(beside.isOnline && beside.underlay == "eth0")
    }

    @Test("FLD-011 without an IPv6 path, or where that is dead, it is none; nor is another tunnel")
    func translatorWithoutIPv6() {
        let without = Self.translated("clat") { $0.removeRoutes("::/0") }.evaluate(Self.onlyIPv4)
        #expect(without.reason.code == .tunnelWithoutUnderlay)
        let dead = Self.translated("clat") { $0.setCarrier($0.index("eth0"), false) }
        #expect(dead.evaluate(Self.onlyIPv4).reason.code == .tunnelWithoutUnderlay)
        for name in ["tun0", "clatter"] {
            let other = Self.translated(name, Self.addDeadIPv4).evaluate(Self.onlyIPv4)
            #expect(other.reason.code == .tunnelWithoutUnderlay, "\(name): \(other.reason)")
        }
    }
}
