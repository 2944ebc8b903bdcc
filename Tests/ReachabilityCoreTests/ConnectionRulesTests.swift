// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

@Suite struct ConnectionRulesTests {
    private static let peer = IPAddress(v4: 0xCB00_7101)  // 203.0.113.1

    /// The verdict on a connection from eth0, 192.0.2.2, after a change.
    private func verdict(
        isBound: Bool = false, isStandIn: Bool = false, from start: FakeNetwork = .wiredAndWiFi,
        interface: String = "eth0", local: IPAddress? = IPAddress("192.0.2.2"),
        _ change: (inout FakeNetwork) -> Void = { _ in }
    ) -> ConnectionVerdict? {
        var network = start
        let path = ConnectionPath(
            local: local, peer: Self.peer, interface: network.index(interface), name: interface,
            isBound: isBound, isStandIn: isStandIn)
        change(&network)
        var snapshot = Snapshot()
        for _ in 0..<4 {
            var context = EvaluationContext(snapshot)
            if let verdict = try? ConnectionRules(path).verdict(&context) { return verdict }
            for question in context.missing { snapshot.add(question, network.answer(question)) }
        }
        return nil
    }

    @Test("Nothing happened, or nothing that concerns it")
    func fine() {
        #expect(verdict() == .fine)
        #expect(verdict { $0.setCarrier($0.index("wlan0"), false) } == .fine)
        #expect(verdict { $0.addRoute("203.0.113.0/24", via: "192.0.2.9", on: $0.index("eth0")) } == .fine)
        #expect(verdict(local: nil) == .fine)
    }

    @Test("Link, carrier, address and route each take it away, with a sentence that says so")
    func dead() {
        #expect(verdict { $0.setCarrier($0.index("eth0"), false) } == .dead("eth0: no carrier"))
        #expect(verdict { $0.change($0.index("eth0")) { $0.flags = [] } } == .dead("eth0 is switched off"))
        #expect(verdict { $0.links.removeAll { $0.name == "eth0" } } == .dead("eth0 is gone"))
        let lost = verdict { network in
            network.addresses.removeAll { $0.address == IPAddress("192.0.2.2") }
        }
        #expect(lost == .dead("eth0 has no longer the address 192.0.2.2"))
        #expect(
            verdict { $0.removeRoutes("0.0.0.0/0", metric: 100) }
                == .dead("no route to 203.0.113.1 through eth0"))
        #expect(verdict { $0.removeRoutes("0.0.0.0/0") } == .dead("no route to 203.0.113.1"))
    }

    @Test("Before an address was chosen the link alone decides")
    func connecting() {
        #expect(verdict(local: nil) { $0.setCarrier($0.index("eth0"), false) } == .dead("eth0: no carrier"))
    }

    @Test("A better path leaves it alive")
    func moved() {
        let wlan0 = FakeNetwork.wiredAndWiFi.index("wlan0")
        let better: (inout FakeNetwork) -> Void = {
            $0.addRoute("0.0.0.0/0", via: "198.51.100.1", on: $0.index("wlan0"), metric: 50)
        }
        #expect(verdict(better) == .moved(to: wlan0))
        #expect(verdict(isBound: true, better) == .fine)
    }

    @Test("A bound connection needs a route of its own interface")
    func bound() {
        #expect(
            verdict(isBound: true) { $0.removeRoutes("0.0.0.0/0", metric: 100) }
                == .dead("no route to 203.0.113.1 through eth0"))
        #expect(
            verdict(isBound: true) { $0.setCarrier($0.index("eth0"), false) } == .dead("eth0: no carrier"))
    }

    @Test("A stand-in is left when the kernel's choice is usable again")
    func standIn() {
        let local = IPAddress("198.51.100.2")
        func standIn(_ change: (inout FakeNetwork) -> Void) -> ConnectionVerdict? {
            verdict(isBound: true, isStandIn: true, interface: "wlan0", local: local, change)
        }
        #expect(standIn { $0.setCarrier($0.index("eth0"), false) } == .fine)
        #expect(standIn { _ in } == .moved(to: FakeNetwork.wiredAndWiFi.index("eth0")))
    }

    @Test("A kernel that does not tell entries gives the benefit of the doubt")
    func oldKernel() {
        var old = FakeNetwork.wiredAndWiFi
        old.returnsEntries = false
        #expect(verdict(isBound: true, from: old) { $0.removeRoutes("0.0.0.0/0") } == .fine)
        #expect(verdict(from: old) { $0.setCarrier($0.index("eth0"), false) } == .dead("eth0: no carrier"))
    }

    @Test("Events that concern no connection are passed over")
    func concerns() {
        let network = FakeNetwork.wiredAndWiFi
        let eth0 = network.index("eth0")
        let paths = [
            ConnectionPath(local: IPAddress("192.0.2.2"), peer: Self.peer, interface: eth0, name: "eth0")
        ]
        func down(_ name: String) -> LinkState {
            var link = network.links.first { $0.name == name } ?? LinkState(index: 0, name: "")
            link.flags = []
            return link
        }
        func address(_ text: String, _ interface: Int32) -> NetworkEvent {
            .addressRemoved(
                InterfaceAddress(
                    interface: interface, address: IPAddress(text) ?? Self.peer, prefixLength: 24))
        }
        let prefix = IPPrefix("198.18.0.0/16") ?? IPPrefix(Self.peer, length: 32)!
        #expect(NetworkEvent.linkChanged(down("eth0"), isWirelessNoise: false).mayConcern(paths))
        #expect(!NetworkEvent.linkChanged(down("wlan0"), isWirelessNoise: false).mayConcern(paths))
        #expect(!NetworkEvent.linkChanged(down("eth0"), isWirelessNoise: true).mayConcern(paths))
        #expect(NetworkEvent.linkRemoved(index: eth0).mayConcern(paths))
        #expect(!NetworkEvent.linkRemoved(index: eth0 + 100).mayConcern(paths))
        #expect(address("192.0.2.2", eth0).mayConcern(paths))
        #expect(!address("198.51.100.2", network.index("wlan0")).mayConcern(paths))
        #expect(!NetworkEvent.routeRemoved(prefix).mayConcern(paths))
        #expect(NetworkEvent.ruleChanged(.ipv4).mayConcern(paths))
        #expect(!NetworkEvent.ruleChanged(.ipv6).mayConcern(paths))
        #expect(NetworkEvent.overrun.mayConcern(paths))
    }
}
