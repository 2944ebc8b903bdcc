// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Multipath routes with a dead leg that the kernel still uses.
struct MultipathTests {
    /// eth0 and eth1 are legs of the default route; `hash` names the leg of a connection.
    private static func network(
        dead: String? = nil, hash: @escaping @Sendable (RouteLookup) -> Int = { _ in 0 }
    ) -> FakeNetwork {
        var network = FakeNetwork()
        var legs: [RouteAnswer.Leg] = []
        for number in 0..<2 {
            let link = network.addLink("eth\(number)")
            network.addAddress("10.\(number).0.2/24", to: link)
            legs.append(RouteAnswer.Leg(interface: link, gateway: IPAddress("10.\(number).0.1")))
        }
        network.addRoute("0.0.0.0/0", legs: legs)
        network.hash = hash
        if let dead { network.setCarrier(network.index(dead), false) }
        return network
    }

    @Test("FLD-008 the way to anywhere is partial and names the dead leg", arguments: ["eth0", "eth1"])
    func general(_ dead: String) {
        let path = Self.network(dead: dead).evaluate(.general)
        #expect(path.isOnline)
        #expect(path.interface == (dead == "eth0" ? "eth1" : "eth0"))
        #expect(path.isPartial)
        #expect(path.reason.code == .defaultRoute)
        #expect(
            path.reason.sentence.hasSuffix(
                "; what the kernel sends over another leg is lost (\(dead): no carrier)"))
    }

    @Test("FLD-008 with all legs alive nothing is said, and none is to be had where all are dead")
    func allOrNone() {
        let path = Self.network().evaluate(.general)
        #expect(!path.isPartial)
        #expect(path.reason.sentence == "default route via 10.0.0.1 on eth0 (metric 0)")
        var none = Self.network(dead: "eth0")
        none.setCarrier(none.index("eth1"), false)
        #expect(none.evaluate(.general).reason.code == .linkDown)
        #expect(none.evaluate(.host("203.0.113.5")).reason.code == .linkDown)
    }

    @Test("FLD-008 a host whose leg is dead is unreachable, and the other leg is the alternative")
    func hostOfDeadLeg() {
        let path = Self.network(dead: "eth0").evaluate(.host("203.0.113.5"))
        #expect(!path.isOnline)
        #expect(path.reason.code == .linkDown)
        #expect(path.alternative == "eth1")
    }

    @Test("FLD-008 a host of the other leg is reachable, and nothing is partial")
    func hostOfLivingLeg() {
        let path = Self.network(dead: "eth1").evaluate(.host("203.0.113.5"))
        #expect(path.interface == "eth0")
        #expect(path.isOnline)
        #expect(!path.isPartial)
    }

    /// The hash includes the source, and connect(2) looks up again after choosing it.
    @Test("FLD-008 the leg is that of the lookup with the source")
    func sourceIsInTheHash() {
        let path = Self.network(dead: "eth1") { $0.source == nil ? 1 : 0 }.evaluate(.host("203.0.113.5"))
        #expect(path.isOnline)
        #expect(path.interface == "eth0")
        let other = Self.network(dead: "eth1") { $0.source == nil ? 0 : 1 }.evaluate(.host("203.0.113.5"))
        #expect(!other.isOnline)
        #expect(other.alternative == "eth0")
    }

    @Test("FLD-008 where ports are in the hash, a host is partial", arguments: ["eth0", "eth1"])
    func portsAreInTheHash(_ dead: String) {
        let path = Self.network(dead: dead) { Int($0.sourcePort / 8) }.evaluate(.host("203.0.113.5"))
        #expect(path.isOnline)
        #expect(path.isPartial)
        #expect(path.interface == (dead == "eth0" ? "eth1" : "eth0"))
    }

    @Test("FLD-008 a leg that the kernel itself takes for dead makes nothing partial")
    func unusedLeg() {
        var network = Self.network(dead: "eth1")
        network.routes[network.routes.count - 1].legs[1].isDead = true
        #expect(!network.evaluate(.general).isPartial)
        #expect(network.evaluate(.host("203.0.113.5")).isOnline)
    }

    @Test("FLD-008 a connection over one leg stays where another lookup shows another leg")
    func connection() {
        let network = Self.network { $0.source == nil ? 0 : Int($0.destination.low & 1) }
        let path = ConnectionPath(
            local: IPAddress("10.1.0.2"), peer: IPAddress(v4: 0xCB00_7104), interface: network.index("eth1"),
            name: "eth1")
        var snapshot = Snapshot()
        var verdict: ConnectionVerdict?
        for _ in 0..<8 where verdict == nil {
            var context = EvaluationContext(snapshot)
            verdict = try? ConnectionRules(path).verdict(&context)
            for question in context.missing { snapshot.add(question, network.answer(question)) }
        }
        #expect(verdict == .fine)
    }
}
