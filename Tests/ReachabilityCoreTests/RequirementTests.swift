// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// The path of a network that is asked for, beside one that the kernel prefers.
struct RequirementTests {
    /// A wire (metric 100), Wi-Fi (600) and a modem (700), each with a path of its own.
    private static var threeUplinks: FakeNetwork {
        var network = FakeNetwork.wiredAndWiFi
        let modem = network.addLink("wwan0", kind: "wwan", hardwareType: 0xFFFE)
        network.addAddress("10.64.0.2/30", to: modem)
        network.addRoute("0.0.0.0/0", via: "10.64.0.1", on: modem, metric: 700)
        return network
    }

    private static func evaluator(
        _ requirement: NetworkRequirement, host: String? = nil, family: IPAddress.Family? = nil
    ) -> PathEvaluator {
        var configuration = ReachabilityConfiguration()
        configuration.requirement = requirement
        configuration.family = family
        let hosts = host.flatMap { ReachabilityDestination($0) }.map { [$0] }
        return PathEvaluator(
            target: hosts.map { .host($0) } ?? .general(sentinels: configuration.sentinels),
            configuration: configuration)
    }

    @Test(
        "UPL-130 the path of a link or medium that is asked for, preferred by the kernel or not",
        arguments: [
            (.interface("eth0"), .wired, "eth0", "192.0.2.2", "192.0.2.1", 100),
            (.interface("wlan0"), .wifi, "wlan0", "198.51.100.2", "198.51.100.1", 600),
            (.interface("wwan0"), .wired, "wwan0", "10.64.0.2", "10.64.0.1", 700),
            (.medium(.wired), .wired, "eth0", "192.0.2.2", "192.0.2.1", 100),
            (.medium(.wifi), .wifi, "wlan0", "198.51.100.2", "198.51.100.1", 600),
            (.medium(.cellular), .wired, "wwan0", "10.64.0.2", "10.64.0.1", 700),
        ] as [(NetworkRequirement, ReachabilityStatus, String, String, String, UInt32)])
    func path(
        _ requirement: NetworkRequirement, _ status: ReachabilityStatus, _ name: String, _ source: String,
        _ gateway: String, _ metric: UInt32
    ) {
        let network = Self.threeUplinks
        let path = network.evaluate(Self.evaluator(requirement))
        #expect(path.isOnline && path.instantStatus == status)
        #expect(path.interface == name && path.interfaceIndex == network.index(name))
        #expect(path.source?.description == source)
        #expect(path.gateway?.description == gateway)
        #expect(path.metric == metric && path.families == [.ipv4])
        #expect(path.isExpensive == (name == "wwan0"))
        #expect(path.ssid == (name == "wlan0" ? "lab" : nil))
        let sentence = "default route via \(gateway) on \(name) (metric \(metric))"
        #expect(path.reason == ReachabilityReason(.defaultRoute, interface: name, sentence: sentence))
        #expect(path.alternative == nil)
    }

    @Test("UPL-131 without a path the sentence says what that link lacks, and nothing stands in")
    func missing() {
        func reason(
            _ requirement: NetworkRequirement, _ change: (inout FakeNetwork, Int32) -> Void
        ) -> ReachabilityReason {
            var network = Self.threeUplinks
            change(&network, network.index("wwan0"))
            let path = network.evaluate(Self.evaluator(requirement))
            #expect(path.instantStatus == .unreachable && path.interface == nil && path.alternative == nil)
            return path.reason
        }
        func both(
            _ code: ReachabilityReason.Code, _ sentence: String, _ change: (inout FakeNetwork, Int32) -> Void
        ) {
            let wanted = ReachabilityReason(code, interface: "wwan0", sentence: sentence)
            #expect(reason(.interface("wwan0"), change) == wanted)
            #expect(reason(.medium(.cellular), change) == wanted)
        }
        both(.linkDown, "wwan0: no carrier") { $0.setCarrier($1, false) }
        both(.linkDown, "wwan0 is switched off") { network, modem in network.change(modem) { $0.flags = [] } }
        both(.noRoute, "wwan0 has carrier and 10.64.0.2/30 but no default route") { network, _ in
            network.removeRoutes("0.0.0.0/0", metric: 700)
        }
        both(.noAddress, "wwan0 has carrier but no address") { network, modem in
            network.addresses.removeAll { $0.interface == modem }
            network.routes.removeAll { $0.interface == modem }
        }
        #expect(
            reason(.interface("wwan7")) { _, _ in }
                == ReachabilityReason(.noRoute, sentence: "interface wwan7 does not exist"))
        #expect(
            reason(.medium(.cellular)) { network, modem in network.links.removeAll { $0.index == modem } }
                == ReachabilityReason(.noRoute, sentence: "no link of the medium cellular"))
    }

    @Test("UPL-132 of several links of a medium: with a path before without, then IPv4, metric and index")
    func several() {
        var network = Self.threeUplinks
        let second = network.addLink("wwan1", kind: "wwan", hardwareType: 0xFFFE)
        network.addAddress("10.65.0.2/30", to: second)
        network.addRoute("0.0.0.0/0", via: "10.65.0.1", on: second, metric: 650)
        func chosen() -> String? {
            var listedBackwards = network
            listedBackwards.links.reverse()
            let path = network.evaluate(Self.evaluator(.medium(.cellular)))
            #expect(listedBackwards.evaluate(Self.evaluator(.medium(.cellular))) == path)
            return path.interface ?? path.reason.sentence
        }
        #expect(chosen() == "wwan1")
        network.removeRoutes("0.0.0.0/0", metric: 650)
        network.addRoute("0.0.0.0/0", via: "10.65.0.1", on: second, metric: 700)
        #expect(chosen() == "wwan0")
        network.setCarrier(network.index("wwan0"), false)
        #expect(chosen() == "wwan1")
        network.removeRoutes("0.0.0.0/0", metric: 700)
        network.addAddress("2001:db8::2/64", to: second)
        network.addRoute("::/0", via: "2001:db8::1", on: second, metric: 1)
        #expect(chosen() == "wwan1")
        network.setCarrier(network.index("wwan0"), true)
        network.addRoute("0.0.0.0/0", via: "10.64.0.1", on: network.index("wwan0"), metric: 900)
        #expect(chosen() == "wwan0")
        // The nearest one is named where none has a path.
        network.setCarrier(network.index("wwan0"), false)
        network.removeRoutes("::/0")
        #expect(chosen() == "wwan1 has carrier and 10.65.0.2/30 but no default route")
    }

    @Test("UPL-133 which links are of a medium: what carries them counts; tunnels, ports and PPP are of none")
    func media() {
        var network = FakeNetwork()
        let radio = network.addLink("wlan0")
        network.wireless[radio] = WirelessState(mode: 2)
        let vlan = network.addLink("wlan0.7", kind: "vlan", lower: radio)
        let tunnel = network.addLink("wg0", kind: "wireguard", hardwareType: 0xFFFE)
        let bridge = network.addLink("br0", kind: "bridge")
        let port = network.addLink("eth0", master: bridge)
        let serial = network.addLink("ppp0", kind: "ppp", hardwareType: 512)
        let routed = network.addLink("eth1", master: network.addLink("vrf0", kind: "vrf"))
        for (number, link) in [vlan, tunnel, bridge, port, serial, routed].enumerated() {
            network.addAddress("10.\(number).0.2/24", to: link)
            network.addRoute("0.0.0.0/0", via: "10.\(number).0.1", on: link, metric: UInt32(50 - number))
        }
        func path(_ requirement: NetworkRequirement) -> ReachabilityPath {
            network.evaluate(Self.evaluator(requirement))
        }
        #expect(path(.medium(.wifi)).interface == "wlan0.7")
        #expect(path(.medium(.wifi)).instantStatus == .wifi)
        #expect(path(.medium(.wired)).interface == "br0")
        #expect(path(.medium(.cellular)).reason.sentence == "no link of the medium cellular")
        // By its name each can be asked for.
        #expect(path(.interface("ppp0")).interface == "ppp0")
        #expect(path(.interface("wg0")).isTunnel && path(.interface("wg0")).underlay != nil)
        #expect(path(.interface("eth0")).reason.sentence == "eth0 has carrier and is a port of br0")
        // Neither a VLAN on Wi-Fi nor a tunnel over it is wired.
        network.setCarrier(bridge, false)
        #expect(path(.interface("wg0")).isOnline && path(.interface("wlan0.7")).isOnline)
        #expect(!path(.medium(.wired)).isOnline)
        // A tunnel without another path that carries it.
        for link in [vlan, bridge, serial] { network.setCarrier(link, false) }
        #expect(path(.interface("wg0")).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("UPL-134 both families of the link are told, one alone where that is wanted, and how long it holds")
    func families() {
        var network = Self.threeUplinks
        let modem = network.index("wwan0")
        network.addAddress("2001:db8::2/64", to: modem)
        network.addRoute("::/0", via: "fe80::1", on: modem, metric: 1024, expires: 300)
        #expect(network.evaluate(Self.evaluator(.interface("wwan0"))).families == [.ipv4, .ipv6])
        let sixth = network.evaluate(Self.evaluator(.interface("wwan0"), family: .ipv6))
        #expect(sixth.families == [.ipv6] && sixth.gateway?.description == "fe80::1")
        let wired = network.evaluate(Self.evaluator(.interface("eth0"), family: .ipv6))
        #expect(wired.reason.sentence == "eth0 has carrier but no IPv6 address")
        var snapshot = Snapshot()
        let evaluator = Self.evaluator(.interface("wwan0"))
        var held: Duration??
        for _ in 0..<10 where held == nil {
            switch evaluator.evaluate(snapshot) {
            case .needs(let questions): for one in questions { snapshot.add(one, network.answer(one)) }
            case .path(_, let expires): held = .some(expires)
            }
        }
        #expect(held == .some(.seconds(3)))
        #expect(evaluator.explain(snapshot).contains { $0.question == "path through wwan0 alone" })
    }

    @Test("UPL-135 one host through the link: by its own route there, and not by that of another link")
    func host() {
        var network = Self.threeUplinks
        network.addRoute("203.0.113.0/24", via: "192.0.2.9", on: network.index("eth0"))
        func path(_ host: String, _ name: String) -> ReachabilityPath {
            network.evaluate(Self.evaluator(.interface(name), host: host))
        }
        #expect(path("203.0.113.7", "eth0").gateway?.description == "192.0.2.9")
        #expect(path("203.0.113.7", "wwan0").gateway?.description == "10.64.0.1")
        network.removeRoutes("0.0.0.0/0", metric: 700)
        #expect(
            path("203.0.113.7", "wwan0").reason.sentence
                == "wwan0 has carrier and 10.64.0.2/30 but no route to 203.0.113.7")
        for name in ["eth0", "wlan0"] {
            network.addAddress("fe80::2/64", to: network.index(name))
        }
        #expect(path("fe80::7%wlan0", "wlan0").isOnline)
        #expect(!path("fe80::7%wlan0", "eth0").isOnline)
    }

    @Test("UPL-136 grace and generations: a short loss is hidden, and a link that takes over is another path")
    func overTime() {
        var network = Self.threeUplinks
        let evaluator = Self.evaluator(.medium(.cellular))
        var machine = ReachabilityStateMachine(timing: .init())
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        var reported: [String] = []
        func collect(_ action: ReachabilityStateMachine.EvaluationAction) {
            guard case .publish(let update) = action else { return }
            let path = update.path
            reported.append("\(update.event) \(update.status) \(path.interface ?? "-") \(path.generation)")
        }
        func stay(_ milliseconds: Int64) {
            #expect(machine.observed(.requested, at: now) == .evaluate)
            collect(machine.evaluated(network.evaluate(evaluator), at: now))
            let end = now + .milliseconds(milliseconds)
            while let due = machine.nextDeadline, due < end {
                guard case .evaluate = machine.deadlineReached(at: due) else { break }
                collect(machine.evaluated(network.evaluate(evaluator), at: due))
            }
            now = end
        }
        let modem = network.index("wwan0")
        machine.started()
        collect(machine.evaluated(network.evaluate(evaluator), at: now))
        // What the kernel prefers is nothing to it.
        network.setCarrier(network.index("eth0"), false)
        stay(1_000)
        network.setCarrier(modem, false)
        stay(200)
        network.setCarrier(modem, true)
        stay(1_000)
        let second = network.addLink("wwan1", kind: "wwan", hardwareType: 0xFFFE)
        network.addAddress("10.65.0.2/30", to: second)
        network.addRoute("0.0.0.0/0", via: "10.65.0.1", on: second, metric: 650)
        stay(1_000)
        network.setCarrier(second, false)
        network.setCarrier(modem, false)
        stay(1_000)
        #expect(
            reported == [
                "initial wired wwan0 1", "path wired - 1", "path wired wwan0 2", "path wired wwan1 3",
                "path wired - 3", "status unreachable - 3",
            ])
    }
}
