// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Sentences that name the setting, the link or the port to change.
struct LinkObstacleTests {
    /// eth0 with carrier and nothing else.
    private func bare(_ change: (inout LinkState) -> Void) -> ReachabilityReason {
        var network = FakeNetwork()
        network.change(network.addLink("eth0"), change)
        return network.evaluate(.general).reason
    }

    @Test("FLD-013 a link that forwards ignores router advertisements, unless accept_ra is 2")
    func advertisements() {
        let plain = bare { $0.ipv6 = .init() }
        #expect(plain.sentence == "eth0 has carrier but no address" && plain.obstacle == nil)
        let forwarding = bare { $0.ipv6 = .init(forwards: true) }
        #expect(forwarding.code == .noAddress && forwarding.obstacle == .ignoresAdvertisements)
        #expect(forwarding.sentence.contains("accept_ra is 1"), "\(forwarding)")
        #expect(bare { $0.ipv6 = .init(forwards: true, acceptsAdvertisements: 2) }.obstacle == nil)
        // 0 is the setting of programs that read advertisements themselves (systemd-networkd,
        // NetworkManager).
        #expect(bare { $0.ipv6 = .init(forwards: true, acceptsAdvertisements: 0) }.obstacle == nil)
    }

    @Test("FLD-013 the obstacle is named for a missing IPv6 router, not for a missing IPv4 one")
    func router() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.change(eth0) { $0.ipv6 = .init(forwards: true) }
        network.addAddress("2001:db8::2/64", to: eth0)
        let reason = network.evaluate(.general).reason
        #expect(reason.code == .noRoute && reason.obstacle == .ignoresAdvertisements)
        #expect(
            reason.sentence.hasPrefix("eth0 has carrier and 2001:db8::2/64 but no default route (router"),
            "\(reason)")
        network.addresses = []
        network.addAddress("192.0.2.2/24", to: eth0)
        #expect(network.evaluate(.general).reason.obstacle == nil)
    }

    @Test("FLD-014 an MTU below 1280 switches IPv6 off", arguments: [(1279, true), (1280, false)])
    func mtu(bytes: UInt32, isTooSmall: Bool) {
        let reason = bare { $0.mtu = bytes }
        #expect(reason.code == .noAddress)
        #expect(reason.obstacle == (isTooSmall ? .smallMTU(bytes) : nil))
        #expect(reason.sentence.contains("MTU of 1279") == isTooSmall, "\(reason)")
    }

    @Test("FLD-015 disable_ipv6 is named if IPv6 is missing")
    func disabled() {
        let reason = bare { $0.ipv6 = .init(isDisabled: true) }
        #expect(reason.code == .noAddress && reason.obstacle == .ipv6Disabled)
        #expect(reason.sentence.contains("disable_ipv6"), "\(reason)")
        var network = FakeNetwork()
        network.change(network.addLink("eth0")) { $0.ipv6 = .init(isDisabled: true) }
        var configuration = ReachabilityConfiguration()
        configuration.family = .ipv4
        let ipv4 = PathEvaluator(
            target: .general(sentinels: ReachabilityConfiguration.defaultSentinels),
            configuration: configuration)
        #expect(network.evaluate(ipv4).reason.obstacle == nil)
    }

    @Test(
        "FLD-016 a bridge without carrier whose port has one: spanning tree, or the bridge, holds the port",
        arguments: [
            (LinkState.BridgePortState.listening, "br0: its port eth0 waits for spanning tree"),
            (.learning, "br0: its port eth0 waits for spanning tree"),
            (.blocking, "br0: its port eth0 is blocked by spanning tree"),
            (.disabled, "br0: its port eth0 is disabled in its bridge"),
        ])
    func spanningTree(state: LinkState.BridgePortState, sentence: String) {
        var network = FakeNetwork()
        let br0 = network.addLink("br0", kind: "bridge", up: false)
        let eth0 = network.addLink("eth0", master: br0)
        network.change(eth0) { $0.bridgePortState = state }
        network.addAddress("192.0.2.2/24", to: br0)
        // The obstacle is the same with and without a route through the bridge.
        let lacking = network.evaluate(.general).reason
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: br0)
        let routed = network.evaluate(.general).reason
        #expect([lacking.sentence, routed.sentence] == [sentence, sentence])
        #expect(routed.code == .linkDown)
        #expect(lacking.obstacle == .link(.port("eth0", .heldByBridge(state))))
        // The sentence does not mention it if the port forwards, or has no carrier itself.
        network.change(eth0) { $0.bridgePortState = .forwarding }
        #expect(network.evaluate(.general).reason.sentence == "br0: no carrier")
        network.change(eth0) { $0.bridgePortState = state }
        network.setCarrier(eth0, false)
        #expect(network.evaluate(.general).reason.sentence == "br0: no carrier")
    }

    @Test("FLD-017 it is the lowest link that has to be switched on")
    func below() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        let vlan = network.addLink("eth0.5", kind: "vlan", lower: eth0, up: false)
        let macvlan = network.addLink("mv0", kind: "macvlan", lower: vlan, up: false)
        network.addAddress("192.0.2.2/24", to: macvlan)
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: macvlan)
        func reason() -> ReachabilityReason { network.evaluate(.general).reason }
        network.change(eth0) { $0.flags = [] }
        // The kernel switches the VLAN off and on together with its lower link.
        for flags in [LinkState.Flags.up, []] {
            network.change(vlan) { $0.flags = flags }
            #expect(reason().sentence == "mv0: it lies on eth0, which is switched off")
            #expect(reason().obstacle == .link(.below("eth0", .switchedOff)))
            #expect(reason().code == .linkDown && reason().interface == "mv0")
        }
        network.change(eth0) { $0.flags = [.up, .lowerUp, .running] }
        #expect(reason().sentence == "mv0: it lies on eth0.5, which is switched off")
        network.setCarrier(eth0, false)
        network.change(vlan) { $0.flags = [.up] }
        #expect(reason().sentence == "mv0: it lies on eth0, which has no carrier")
        network.change(macvlan) { $0.flags = [] }
        #expect(reason().sentence == "mv0 is switched off")
    }

    @Test("FLD-017 so with a bridge or bond whose ports are all switched off", arguments: ["bridge", "bond"])
    func ports(kind: String) {
        var network = FakeNetwork()
        let master = network.addLink("m0", kind: kind, up: false)
        let vlan = network.addLink("m0.5", kind: "vlan", lower: master, up: false)
        network.addLink("eth0", master: master)
        network.change(network.index("eth0")) { $0.flags = [] }
        network.addAddress("192.0.2.2/24", to: vlan)
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: vlan)
        let reason = network.evaluate(.general).reason
        #expect(reason.sentence == "m0.5: it lies on m0, whose port eth0 is switched off")
        let reporter = LinkReporter(evaluator: .general)
        var snapshot = Snapshot()
        var asked: [KernelQuestion] = []
        while case .needs(let questions) = reporter.report(snapshot) {
            asked += questions
            for question in questions { snapshot.add(question, network.answer(question)) }
        }
        guard case .reports(let reports) = reporter.report(snapshot) else {
            Issue.record("no reports")
            return
        }
        #expect(reports.first { $0.name == "m0" }?.reason.sentence == "m0: its port eth0 is switched off")
        #expect(!asked.contains(.ports(master: master)), "the list of all links has the ports")
    }

    @Test("FLD-018 a link that a program holds down; one that has carrier all the same works")
    func protocolDown() {
        var network = FakeNetwork.wired
        let eth0 = network.index("eth0")
        network.change(eth0) { $0.isProtocolDown = true }
        #expect(network.evaluate(.general).isOnline)
        network.setCarrier(eth0, false)
        let reason = network.evaluate(.general).reason
        #expect(reason.code == .linkDown && reason.obstacle == .link(.heldDown))
        #expect(reason.sentence == "eth0: is held down by a program (protodown)")
        network.change(eth0) { $0.flags = [] }
        #expect(network.evaluate(.general).reason.sentence == "eth0 is switched off")
    }

    @Test("FLD-013 FLD-015 what was said of links is asked again where these settings may have changed")
    func caching() throws {
        let own = InterfaceAddress(
            interface: 2, address: try #require(IPAddress("fe80::1")), prefixLength: 64)
        func keeps(_ ipv6: LinkState.IPv6Settings, over event: NetworkEvent) -> Bool {
            let cache = KernelCache()
            var link = LinkState(index: 2, name: "eth0")
            link.ipv6 = ipv6
            cache.store(.link(2), .link(link))
            cache.invalidate(after: event)
            return cache[.link(2)] != nil
        }
        #expect(keeps(.init(), over: .settingChanged(.ipv4)))
        #expect(!keeps(.init(), over: .settingChanged(.ipv6)))
        #expect(!keeps(.init(), over: .addressRemoved(own)))
        // A new link gets its address after its message, which does not invalidate the list of links.
        #expect(keeps(.init(), over: .addressAdded(own)))
        #expect(!keeps(.init(isDisabled: true), over: .addressAdded(own)))
    }
}
