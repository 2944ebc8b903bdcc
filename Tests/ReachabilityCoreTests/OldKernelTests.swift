// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Kernels before Linux 4.13, which do not return the FIB entry of a lookup (RTM_F_FIB_MATCH).
struct OldKernelTests {
    private var wired: FakeNetwork {
        var network = FakeNetwork.wiredAndWiFi
        network.returnsEntries = false
        return network
    }

    /// wg0 with the preferred default route; the only one if `hasUnderlay` is false.
    private func tunnel(hasUnderlay: Bool) -> FakeNetwork {
        var network = hasUnderlay ? wired : FakeNetwork()
        network.returnsEntries = false
        let wg0 = network.addLink("wg0", kind: "wireguard", hardwareType: 0xFFFE)
        network.addAddress("10.8.0.2/24", to: wg0)
        network.addRoute("0.0.0.0/0", on: wg0, metric: 50)
        return network
    }

    private func snapshot(_ network: FakeNetwork) -> Snapshot {
        var snapshot = Snapshot()
        while true {
            var questions: [KernelQuestion] = []
            if case .needs(let more) = PathEvaluator.general.evaluate(snapshot) { questions += more }
            if case .needs(let more) = LinkReporter(evaluator: .general).report(snapshot) {
                questions += more
            }
            if questions.isEmpty { return snapshot }
            for question in questions { snapshot.add(question, network.answer(question)) }
        }
    }

    @Test("RB-15 a tunnel counts as a path, unchecked, and says so", arguments: [true, false])
    func tunnelCounts(hasUnderlay: Bool) {
        let network = tunnel(hasUnderlay: hasUnderlay)
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .wired)
        #expect(path.interface == "wg0" && path.isTunnel && path.underlay == nil)
        #expect(path.isTunnelUnchecked)
        let step = PathEvaluator.general.explain(snapshot(network)).first {
            $0.question == "what carries wg0"
        }
        #expect(step?.answer == "not told by this kernel (Linux before 4.13)")
        #expect(step?.conclusion == "wg0 counts as a path, unchecked")
    }

    @Test("RB-15 where the kernel tells it, a tunnel is checked") func checked() {
        var network = tunnel(hasUnderlay: true)
        network.returnsEntries = true
        #expect(network.evaluate(.general).underlay == "eth0")
        #expect(!network.evaluate(.general).isTunnelUnchecked)
        network = tunnel(hasUnderlay: false)
        network.returnsEntries = true
        network.addLink("eth0", up: false)
        #expect(network.evaluate(.general).reason.code == .tunnelWithoutUnderlay)
    }

    @Test("RB-15 an expensive tunnel stays expensive") func expensive() {
        var configuration = ReachabilityConfiguration()
        configuration.expensiveInterfaces = ["wg0"]
        let evaluator = PathEvaluator(
            target: .general(sentinels: configuration.sentinels), configuration: configuration)
        #expect(tunnel(hasUnderlay: true).evaluate(evaluator).isExpensive)
        #expect(!tunnel(hasUnderlay: true).evaluate(.general).isExpensive)
    }

    @Test("RB-15 nothing is claimed of a route that the kernel does not tell") func plain() {
        let path = wired.evaluate(.general)
        #expect(path.instantStatus == .wired)
        #expect(path.reason.code == .defaultRoute)
        #expect(path.reason.sentence == "route via 192.0.2.1 on eth0")
        #expect(path.metric == nil)
        #expect(!path.isPartial)
        let host = wired.evaluate(.host("203.0.113.5"))
        #expect(host.reason.code == .hostRoute)
        #expect(host.reason.sentence == "route to 203.0.113.5 via 192.0.2.1 on eth0")
    }

    @Test("RB-15 of the links, the one that the kernel chose is online, and no untruth is said of the others")
    func links() {
        guard case .reports(let reports) = LinkReporter(evaluator: .general).report(snapshot(wired)) else {
            return #expect(Bool(false))
        }
        #expect(reports.map(\.name) == ["eth0", "wlan0"])
        #expect(reports.map(\.isOnline) == [true, false])
        #expect(reports.map(\.metric) == [nil, nil])
        #expect(
            reports.last?.reason.sentence
                == "wlan0 has carrier and 198.51.100.2/24, but the kernel chose another link")
    }

    @Test("RB-15 a dead choice has no alternative, since none can be told") func alternative() {
        var network = wired
        network.setCarrier(network.index("eth0"), false)
        let path = network.evaluate(.general)
        #expect(path.instantStatus == .unreachable)
        #expect(path.alternative == nil)
        #expect(path.reason.sentence == "eth0: no carrier")
    }
}
