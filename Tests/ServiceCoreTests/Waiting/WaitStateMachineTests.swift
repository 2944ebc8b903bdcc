// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import SessionCore
import TestSupport
import Testing

@Suite("The end of a wait")
struct WaitStateMachineTests {
    private static let quick = WaitLimits(timeout: .seconds(30), noCarrier: .seconds(10))

    private func machine(
        _ goal: WaitCondition.Goal = .reachable, _ interfaces: [String] = [], ignoring: [String] = [],
        _ limits: WaitLimits = Self.quick
    ) -> WaitStateMachine {
        let ignored = ignoring.compactMap { InterfacePattern($0) }
        return WaitStateMachine(
            WaitCondition(goal: goal, interfaces: interfaces, ignored: ignored), limits,
            at: .at(milliseconds: 0))
    }

    @Test("UPL-206 it gives up when no link has had a carrier for so long; a carrier stops the count")
    func noCarrier() {
        var wait = machine()
        #expect(wait.deadline == .at(milliseconds: 30_000))
        wait.observe(Report(.unplugged), at: .at(milliseconds: 1000))
        #expect(wait.deadline == .at(milliseconds: 11_000))
        wait.observe(Report(.unplugged), at: .at(milliseconds: 5000))
        #expect(wait.end(at: .at(milliseconds: 10_999)) == nil)
        #expect(wait.end(at: .at(milliseconds: 11_000)) == .noCarrier)
        // A cable comes, and goes again.
        wait.observe(Report(.unplugged.with("eth1", carrier: true)), at: .at(milliseconds: 10_000))
        #expect(wait.deadline == .at(milliseconds: 30_000))
        #expect(wait.end(at: .at(milliseconds: 29_999)) == nil)
        wait.observe(Report(.unplugged), at: .at(milliseconds: 15_000))
        #expect(wait.deadline == .at(milliseconds: 25_000))
        #expect(wait.end(at: .at(milliseconds: 25_000)) == .noCarrier)
        wait.observe(Report(.unplugged.with("eth1", carrier: true)), at: .at(milliseconds: 24_000))
        #expect(wait.end(at: .at(milliseconds: 30_000)) == .timedOut)
    }

    @Test("UPL-206 what holds goes before what is given up, and that before the time-out")
    func order() {
        var wait = machine(.reachable, [], WaitLimits(timeout: .seconds(10), noCarrier: .seconds(10)))
        wait.observe(Report(.unplugged), at: .at(milliseconds: 0))
        #expect(wait.end(at: .at(milliseconds: 10_000)) == .noCarrier)
        wait.observe(Report(.wired), at: .at(milliseconds: 10_000))
        #expect(wait.end(at: .at(milliseconds: 10_000)) == .met)
        #expect(wait.interfaces == ["eth0"])
    }

    @Test("UPL-206 without the option nothing is given up, and 0 stands for never")
    func off() {
        var wait = machine(.reachable, [], WaitLimits())
        wait.observe(Report(.unplugged), at: .at(milliseconds: 0))
        #expect(wait.deadline == nil && wait.end(at: .at(milliseconds: 1_000_000_000)) == nil)
        #expect(!wait.readsLinks && machine().readsLinks && machine(.wired, ["a"], WaitLimits()).readsLinks)
    }

    /// Whether the count stands still, or runs.
    private func hasCarrier(
        _ network: FakeNetwork, _ interfaces: [String] = [], ignoring: [String] = []
    ) -> Bool {
        var wait = machine(.wifi, interfaces, ignoring: ignoring)
        wait.observe(Report(network), at: .at(milliseconds: 0))
        return wait.end(at: .at(milliseconds: 10_000)) == nil
    }

    @Test("UPL-207 the links that are looked at for a carrier: devices, and only those that count")
    func considered() {
        #expect(!hasCarrier(FakeNetwork()))
        #expect(!hasCarrier(.unplugged))
        let plugged = FakeNetwork.unplugged.with("eth1", carrier: true)
        #expect(hasCarrier(plugged))
        #expect(hasCarrier(plugged, ["eth0", "eth1"]) && !hasCarrier(plugged, ["eth0"]))
        #expect(!hasCarrier(plugged, ["wwan0"]))
        #expect(!hasCarrier(plugged, ignoring: ["eth1"]) && hasCarrier(plugged, ignoring: ["eth0"]))
    }

    @Test("UPL-207 tunnels, dummies and bridges to containers bring no cable")
    func virtual() {
        var network = FakeNetwork.unplugged
        network.addLink("wg0", kind: "wireguard", hardwareType: 0xFFFE)
        network.addLink("dummy0", kind: "dummy")
        let bridge = network.addLink("docker0", kind: "bridge")
        network.addLink("veth1", kind: "veth", master: bridge)
        #expect(!hasCarrier(network))
        // Where it is named, its own carrier counts.
        #expect(hasCarrier(network, ["wg0"]) && hasCarrier(network, ["docker0"]))
        #expect(!hasCarrier(network, ["dummy0"]))
    }

    @Test("UPL-207 in a container the virtual cable counts")
    func container() {
        var network = FakeNetwork()
        let veth = network.addLink("eth0", kind: "veth")
        network.addLink("wg0", kind: "wireguard", hardwareType: 0xFFFE)
        #expect(hasCarrier(network))
        network.setCarrier(veth, false)
        #expect(!hasCarrier(network))
    }

    @Test("UPL-207 a port that spanning tree blocks, and a link that waits for its key, have a carrier")
    func busy() {
        var network = FakeNetwork.unplugged
        let bridge = network.addLink("br0", kind: "bridge", up: false)
        let port = network.index("eth0")
        network.change(port) {
            $0.master = bridge
            $0.flags = [.up, .lowerUp, .running]
            $0.operationalState = .up
            $0.bridgePortState = .learning
        }
        #expect(hasCarrier(network, ["br0"]))
        network.setCarrier(port, false)
        #expect(!hasCarrier(network, ["br0"]))
        network.setCarrier(network.addLink("eth1.7", kind: "vlan", lower: network.index("eth1")), false)
        #expect(!hasCarrier(network, ["eth1.7"]))
        network.change(network.index("eth1")) {
            $0.flags = [.up, .lowerUp]
            $0.operationalState = .dormant
        }
        #expect(hasCarrier(network, ["eth1"]))
        network.change(network.index("eth1")) { $0.flags = [] }
        #expect(!hasCarrier(network, ["eth1"]))
    }

    @Test("UPL-208 a second interface beside the one that holds is no interruption, another one is")
    func stable() {
        var wait = machine(.reachable, ["eth0", "wlan0"], WaitLimits(stable: .seconds(5)))
        wait.observe(Report(.wiredAndWiFi.with("eth0", carrier: false)), at: .at(milliseconds: 1000))
        #expect(wait.deadline == .at(milliseconds: 6000) && wait.interfaces == ["wlan0"])
        wait.observe(Report(.wiredAndWiFi), at: .at(milliseconds: 2000))
        #expect(wait.deadline == .at(milliseconds: 6000))
        wait.observe(Report(.wiredAndWiFi.with("wlan0", carrier: false)), at: .at(milliseconds: 3000))
        #expect(wait.deadline == .at(milliseconds: 8000) && wait.interfaces == ["eth0"])
        #expect(wait.end(at: .at(milliseconds: 7999)) == nil && wait.end(at: .at(milliseconds: 8000)) == .met)
    }

    @Test("UPL-218 what was known of an uplink before the kernel turned to it counts, in either order")
    func turnedUplink() {
        func report(_ path: String, asked: String, _ generation: UInt64) -> Report {
            var report = Report(.wired, generation: generation)
            report.path.interface = path
            report.add(
                InternetFindings(
                    .full,
                    uplinks: [
                        UplinkInternet(
                            interface: asked, isPreferred: true, InternetAnswer(.full), wall: 0, boot: 0)
                    ]))
            return report
        }
        for pathFirst in [true, false] {
            var wait = machine(.internet, ["eth1"], WaitLimits(stable: .seconds(60)))
            wait.observe(report("eth0", asked: "eth0", 1), at: .at(milliseconds: 0))
            #expect(wait.deadline == nil)
            let between = pathFirst ? report("eth1", asked: "eth0", 2) : report("eth0", asked: "eth1", 1)
            wait.observe(between, at: .at(milliseconds: 1))
            #expect(wait.deadline == nil)
            wait.observe(report("eth1", asked: "eth1", 2), at: .at(milliseconds: 2))
            #expect(wait.deadline != nil)
            // Another network on the same uplink has to be asked anew.
            wait.observe(report("eth1", asked: "eth1", 3), at: .at(milliseconds: 3))
            #expect(wait.deadline == nil)
        }
    }

    @Test("UPL-209 what was found out over a former path does not count for the new one")
    func formerPath() {
        func report(_ generation: UInt64, _ internet: InternetState?) -> Report {
            Report(.wired, internet: internet, generation: generation)
        }
        var wait = machine(.internet, ["eth0"], WaitLimits(stable: .seconds(60)))
        func holds() -> Bool { wait.deadline != nil }
        wait.observe(report(1, nil), at: .at(milliseconds: 0))
        #expect(!holds())
        wait.observe(report(1, .full), at: .at(milliseconds: 1))
        #expect(holds())
        // The path comes first, and then the probe's word that it does not know yet.
        wait.observe(report(2, .full), at: .at(milliseconds: 2))
        #expect(!holds())
        wait.observe(report(2, .unknown), at: .at(milliseconds: 3))
        wait.observe(report(2, .full), at: .at(milliseconds: 4))
        #expect(holds())
        // Or in the other order.
        wait.observe(report(2, .unknown), at: .at(milliseconds: 5))
        wait.observe(report(3, .unknown), at: .at(milliseconds: 6))
        wait.observe(report(3, .full), at: .at(milliseconds: 7))
        #expect(holds())
    }
}
