// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

struct PathEvaluatorTests {
    @Test func defaultRouteOnEthernetIsWired() {
        let path = FakeNetwork.wired.evaluate(.general)
        #expect(path.isOnline)
        #expect(path.instantStatus == .wired)
        #expect(path.interface == "eth0")
        #expect(path.medium == .ethernet)
        #expect(path.source?.description == "192.0.2.2")
        #expect(path.gateway?.description == "192.0.2.1")
        #expect(path.metric == 100)
        #expect(path.families == [.ipv4])
        #expect(path.reason.sentence == "default route via 192.0.2.1 on eth0 (metric 100)")
        #expect(path.reason.code == .defaultRoute)
    }

    @Test func openingQuestionsAreAskedTogether() {
        let questions = PathEvaluator.general.openingQuestions
        #expect(questions.count == 4)
        guard case .needs(let first) = PathEvaluator.general.evaluate(Snapshot()) else {
            Issue.record("an empty snapshot cannot be enough")
            return
        }
        #expect(Set(first).isSubset(of: Set(questions)))
    }

    @Test func nothingButLoopbackIsSaid() {
        let path = FakeNetwork().evaluate(.general)
        #expect(path.instantStatus == .unreachable)
        #expect(path.interface == nil)
        #expect(path.reason.code == .noRoute)
        #expect(path.reason.sentence == "there is no network interface but loopback")
    }

    @Test func missingRouteNamesTheLinkAndItsAddress() {
        var network = FakeNetwork.wired
        network.removeRoutes("0.0.0.0/0")
        let path = network.evaluate(.general)
        #expect(path.reason.sentence == "eth0 has carrier and 192.0.2.2/24 but no default route")
        #expect(path.reason.interface == "eth0")
        #expect(path.reason.code == .noRoute)
    }

    /// The kernel removes routes with the link or address they depend on: the reason names that cause, which
    /// is what has to be repaired.
    @Test("a route that is missing for another reason: the code is that reason's")
    func missingRouteHasTheCodeOfItsCause() {
        var network = FakeNetwork()
        network.change(network.addLink("eth0", up: false)) { $0.flags = [] }
        var reason = network.evaluate(.general).reason
        #expect(reason == ReachabilityReason(.linkDown, interface: "eth0", sentence: "eth0 is switched off"))
        let link = network.addLink("eth1")
        reason = network.evaluate(.general).reason
        #expect(
            reason
                == ReachabilityReason(
                    .noAddress, interface: "eth1", sentence: "eth1 has carrier but no address"))
        network.addAddress("169.254.7.7/16", to: link)
        reason = network.evaluate(.general).reason
        #expect(reason.code == .linkLocalOnly)
        #expect(reason.interface == "eth1")
    }

    @Test func lostCarrierIsNamedAndNothingStandsIn() {
        var network = FakeNetwork.wired
        network.setCarrier(network.index("eth0"), false)
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .unreachable)
        #expect(path.reason.code == .linkDown)
        #expect(path.reason.sentence == "eth0: no carrier")
        #expect(path.alternative == nil)
    }

    @Test func deadWiredDefaultNamesWorkingWiFiAsAlternative() {
        var network = FakeNetwork.wiredAndWiFi
        network.setCarrier(network.index("eth0"), false)
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .unreachable)
        #expect(path.alternative == "wlan0")
        #expect(path.alternativeMedium == .wifi)
        #expect(!path.isAlternativeExpensive)
        #expect(
            path.reason.sentence
                == "eth0: no carrier, but the kernel still prefers it; wlan0 has a path of its own")
    }

    @Test func refusingRouteHasNoAlternative() {
        var network = FakeNetwork.wiredAndWiFi
        network.addRoute("0.0.0.0/0", metric: 1, kind: .prohibit)
        let path = network.evaluate(.general)
        #expect(path.reason.code == .prohibited)
        #expect(path.alternative == nil)
    }

    @Test func deadTunnelIsNeverBypassed() {
        var network = FakeNetwork.wired
        let tun = network.addLink("tun0", kind: "tun", hardwareType: 0xFFFE, up: false)
        network.addAddress("10.8.0.2/24", to: tun)
        network.addRoute("0.0.0.0/0", on: tun, metric: 50)
        let path = network.evaluate(.general)
        #expect(path.reason.code == .linkDown)
        #expect(path.alternative == nil)
    }

    @Test func tunnelTakesItsStatusFromWhatCarriesIt() {
        var network = FakeNetwork.wiredAndWiFi
        network.removeRoutes("0.0.0.0/0", metric: 100)
        let wg = network.addLink("wg0", kind: "wireguard", hardwareType: 0xFFFE)
        network.addAddress("10.8.0.2/24", to: wg)
        network.addRoute("0.0.0.0/1", on: wg)
        network.addRoute("128.0.0.0/1", on: wg)
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .wifi)
        #expect(path.medium == .tunnel)
        #expect(path.isTunnel)
        #expect(path.underlay == "wlan0")
        #expect(path.ssid == "lab")

        network.setCarrier(network.index("wlan0"), false)
        let lost = network.evaluate(.general)
        #expect(lost.reason.code == .tunnelWithoutUnderlay)
        #expect(lost.instantStatus == .unreachable)
    }

    @Test func accessPointModeIsNoUplink() {
        var network = FakeNetwork.wiredAndWiFi
        network.removeRoutes("0.0.0.0/0", metric: 100)
        network.wireless[network.index("wlan0")]?.mode = 3
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .unreachable)
        #expect(path.reason.sentence.contains("access point mode"))
    }

    @Test func halfTheSpaceIsPartial() {
        var network = FakeNetwork.wired
        network.removeRoutes("0.0.0.0/0")
        network.addRoute("0.0.0.0/1", via: "192.0.2.1", on: network.index("eth0"))
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .wired)
        #expect(path.isPartial)
        network.addRoute("128.0.0.0/1", via: "192.0.2.1", on: network.index("eth0"))
        #expect(!network.evaluate(.general).isPartial)
    }

    @Test func mostSpecificFailureWins() {
        // IPv6 has no route, and IPv4 has a dead link: the dead link is reported, because it can be repaired.
        var network = FakeNetwork.wired
        network.setCarrier(network.index("eth0"), false)
        #expect(network.evaluate(.general).reason.code == .linkDown)
    }

    @Test("RS-088 a name with several addresses, the first unroutable") func severalAddresses() {
        let evaluator = PathEvaluator(
            target: .host(["2001:db8::5", "192.0.2.7"].compactMap { ReachabilityDestination($0) }),
            configuration: .init())
        let path = FakeNetwork.wired.evaluate(evaluator)
        #expect(path.isOnline)
        #expect(path.instantStatus == .wired)
        #expect(path.families == [.ipv4])
        // In the same family as well: the path to one host proves nothing about the address space.
        var neighbours = FakeNetwork.wired
        neighbours.removeRoutes("0.0.0.0/0")
        let other = PathEvaluator(
            target: .host(["203.0.113.5", "192.0.2.7"].compactMap { ReachabilityDestination($0) }),
            configuration: .init())
        let near = neighbours.evaluate(other)
        #expect(near.isOnline)
        #expect(near.reason.code == .hostRoute)
        #expect(!near.isPartial)
    }

    @Test func linkLocalSourceIsNotEnough() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("169.254.7.7/16", to: eth0)
        network.addRoute("0.0.0.0/0", on: eth0)
        let path = network.evaluate(.general)
        #expect(path.reason.code == .linkLocalOnly)
    }

    @Test func bondFollowsItsActivePort() {
        var network = FakeNetwork.wiredAndWiFi
        let bond = network.addLink("bond0", kind: "bond")
        network.addAddress("203.0.113.2/24", to: bond)
        network.addRoute("0.0.0.0/0", via: "203.0.113.1", on: bond, metric: 1)
        for name in ["eth0", "wlan0"] { network.change(network.index(name)) { $0.master = bond } }
        network.change(bond) { [eth0 = network.index("eth0")] in $0.activePort = eth0 }
        #expect(network.evaluate(.general).instantStatus == .wired)
        network.change(bond) { [wlan0 = network.index("wlan0")] in $0.activePort = wlan0 }
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .wifi)
        #expect(path.medium == .bond)
        #expect(path.ssid == "lab")
    }

    @Test func loopOfStackedLinksEnds() {
        var network = FakeNetwork()
        let a = network.addLink("a", kind: "vlan")
        let b = network.addLink("b", kind: "vlan", lower: a)
        network.change(a) { $0.lower = b }
        network.addAddress("192.0.2.2/24", to: a)
        network.addRoute("0.0.0.0/0", on: a)
        #expect(network.evaluate(.general).instantStatus == .wired)
    }

    @Test func explanationNamesEachStep() {
        var snapshot = Snapshot()
        let network = FakeNetwork.wired
        while case .needs(let questions) = PathEvaluator.general.evaluate(snapshot) {
            for question in questions { snapshot.add(question, network.answer(question)) }
        }
        let steps = PathEvaluator.general.explain(snapshot)
        #expect(
            steps.contains {
                $0.question.hasPrefix("route to 12.0.0.1") && $0.answer.contains("via 192.0.2.1")
            })
        #expect(steps.last?.code == .defaultRoute)
    }
}
