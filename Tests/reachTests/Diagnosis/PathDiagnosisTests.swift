// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import Testing

@testable import reach

/// What the doctor says of the path, from reports.
struct PathDiagnosisTests {
    @Test(
        "FLD-013 FLD-014 FLD-015 FLD-016 FLD-017 FLD-018 advice names what has to be changed",
        arguments: [
            (LinkObstacle.ignoresAdvertisements, "sysctl net.ipv6.conf.eth0.accept_ra=2"),
            (.smallMTU(1000), "ip link set eth0 mtu 1500"),
            (.ipv6Disabled, "sysctl net.ipv6.conf.eth0.disable_ipv6=0"),
            (.link(.port("p0", .heldByBridge(.listening))), "spanning tree holds a new port back"),
            (.link(.port("p0", .heldByBridge(.disabled))), "bridge link set dev p0 state 3"),
            (.link(.below("low0", .switchedOff)), "switch it on (ip link set low0 up)"),
            (.link(.below("br0", .port("p0", .switchedOff))), "switch it on (ip link set p0 up)"),
            (.link(.below("low0", .noCarrier)), "look at cable, switch or antenna of low0"),
            (.link(.heldDown), "ip link set eth0 protodown off"),
            (.link(.radioBlocked), "unblock the radio (rfkill list)"),
            (.link(.notOperational), "look at cable, switch or antenna of eth0; switch it on"),
        ] as [(LinkObstacle, String)])
    func obstacle(_ obstacle: LinkObstacle, advice: String) {
        var path = ReachabilityPath(status: .unreachable, interface: nil, medium: .ethernet, generation: 1)
        path.reason = ReachabilityReason(
            .linkDown, interface: "eth0", sentence: "what is wrong", obstacle: obstacle)
        #expect(DiagnosisRules.path(path).advice.contains(advice), "\(DiagnosisRules.path(path))")
    }

    @Test(
        "The path: each reason has advice of its own, and names the link",
        arguments: [
            (ReachabilityReason.Code.linkDown, "look at cable, switch or antenna of eth0; switch it on"),
            (.noAddress, "look whether a DHCP server answers on eth0"),
            (.linkLocalOnly, "look whether a DHCP server answers on eth0"),
            (.noRoute, "look whether DHCP or router advertisements bring a gateway"),
            (.noPorts, "look at the ports of eth0: at least one needs carrier"),
            (
                .prohibited,
                "a rule or a route of this machine forbids it: ip rule; ip route show type prohibit"
            ),
            (
                .blackhole,
                "a rule or a route of this machine forbids it: ip rule; ip route show type blackhole"
            ),
            (
                .unreachableRoute,
                "a rule or a route of this machine forbids it: ip rule; ip route show type unreachable"
            ),
            (.bridgePort, "move addresses and routes of eth0 to the bridge or bond above it"),
            (.dropped, "remove the route through eth0"),
            (.tunnelWithoutUnderlay, "bring up a network beneath eth0, or take the tunnel down"),
            (.unresolved, "see reach status --explain"), (.notMonitoring, "see reach status --explain"),
            (.kernelRefused, "see reach status --explain"),
        ] as [(ReachabilityReason.Code, String)])
    func path(code: ReachabilityReason.Code, advice: String) {
        var path = ReachabilityPath(status: .unreachable, interface: nil, medium: .ethernet, generation: 1)
        path.reason = ReachabilityReason(code, interface: "eth0", sentence: "eth0: what is wrong")
        let finding = DiagnosisRules.path(path)
        #expect(finding.check == .path && finding.verdict == .failed)
        #expect(finding.sentence == "eth0: what is wrong")
        #expect(finding.advice.hasPrefix(advice), "\(finding.advice)")
        path.alternative = "wlan0"
        #expect(
            DiagnosisRules.path(path).advice.hasSuffix(
                "; wlan0 has a path of its own: lower its metric, or remove the dead route"))
        path.alternative = "eth0"
        #expect(
            DiagnosisRules.path(path).advice
                == "add a default route that needs no source address, or have programs bind to eth0",
            "FLD-082")
        path.alternative = nil
        path.reason = ReachabilityReason(code, interface: nil, sentence: "what is wrong")
        #expect(!DiagnosisRules.path(path).advice.contains("eth0"))
    }

    @Test("The path: without any interface the adapter is what to look for, not DHCP")
    func noInterface() {
        var path = ReachabilityPath(status: .unreachable, interface: nil, medium: nil, generation: 1)
        path.reason = ReachabilityReason(.noRoute, sentence: "there is no network interface but loopback")
        let advice = DiagnosisRules.path(path).advice
        #expect(
            advice
                == "look whether the network adapter is plugged in and its driver is loaded (ip link; dmesg)")
    }

    @Test("The path: one that is online is good, whatever leads there")
    func onlinePath() {
        for code in [ReachabilityReason.Code.defaultRoute, .hostRoute, .local] {
            var path = ReachabilityPath(status: .wired, interface: "eth0", medium: .ethernet, generation: 1)
            path.reason = ReachabilityReason(code, interface: "eth0", sentence: "a way")
            #expect(DiagnosisRules.path(path) == .good(.path, "a way"))
        }
    }
}
