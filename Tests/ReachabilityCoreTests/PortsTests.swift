// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Bridges with many ports, and bridges upon bridges.
struct PortsTests {
    /// br0 with the default route; its ports are still to come.
    private static func bridged() -> (network: FakeNetwork, bridge: Int32) {
        var network = FakeNetwork()
        let bridge = network.addLink("br0", kind: "bridge")
        network.addAddress("192.0.2.2/24", to: bridge)
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: bridge)
        return (network, bridge)
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

    /// What a hostile recording says about br0: each bridge claims the next one below it as a hundred of its ports, so
    /// that 10¹² ways lead down to the last one, whose ports are `last`.
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
}
