// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore

@testable import reach

/// Reports for the golden files.
enum CannedReports {
    static let moment = WallTime(nanoseconds: 1_767_323_045_678_000_000)

    static func link(
        _ name: String, _ index: Int32, _ medium: Medium, online: Bool = false,
        _ code: ReachabilityReason.Code,
        _ sentence: String, addresses: [String] = [], gateway: String? = nil, metric: UInt32? = nil
    ) -> LinkReport {
        LinkReport(
            name: name, index: index, medium: medium, isOnline: online,
            reason: ReachabilityReason(code, interface: name, sentence: sentence), addresses: addresses,
            gateway: gateway.flatMap(IPAddress.init), metric: metric)
    }

    static let eth0 = link(
        "eth0", 2, .ethernet, online: true, .defaultRoute, "default route via 192.0.2.1 on eth0 (metric 100)",
        addresses: ["192.0.2.2/24", "2001:db8::2/64"], gateway: "192.0.2.1", metric: 100)
    static let wlan0 = link("wlan0", 3, .wifi, .linkDown, "wlan0: rfkill-blocked")

    /// A cable that works.
    static var wired: Report {
        var path = ReachabilityPath()
        path.isOnline = true
        path.instantStatus = .wired
        path.interface = "eth0"
        path.interfaceIndex = 2
        path.medium = .ethernet
        path.source = IPAddress("192.0.2.2")
        path.gateway = IPAddress("192.0.2.1")
        path.metric = 100
        path.families = [.ipv4, .ipv6]
        path.generation = 1
        path.reason = eth0.reason
        return Report(status: .wired, path: path, links: [eth0, wlan0])
    }

    /// A tunnel over Wi-Fi whose name contains control characters.
    static var hostileWiFi: Report {
        var path = ReachabilityPath()
        path.isOnline = true
        path.instantStatus = .wifi
        path.interface = "wg0"
        path.interfaceIndex = 7
        path.medium = .tunnel
        path.isTunnel = true
        path.underlay = "wlan0"
        path.source = IPAddress("10.8.0.2")
        path.metric = 50
        path.families = [.ipv4]
        path.isPartial = true
        path.isExpensive = true
        path.ssid = "caf\u{E9}\u{1B}]0;owned\u{7}\u{202E}\u{9B}31m \"5G\"\\"
        path.signal = -52
        path.generation = 12
        path.reason = ReachabilityReason(
            .defaultRoute, interface: "wg0", sentence: "default route on wg0 (metric 50), carried by wlan0")
        return Report(
            status: .wifi, path: path,
            links: [
                link(
                    "wlan0", 3, .wifi, online: true, .defaultRoute,
                    "default route via 10.0.0.1 on wlan0 (metric 600)", addresses: ["10.0.0.5/24"],
                    gateway: "10.0.0.1", metric: 600),
                link(
                    "wg0", 7, .tunnel, online: true, .defaultRoute, path.reason.sentence,
                    addresses: ["10.8.0.2/32"], metric: 50),
                link("evil\u{1B}[2J", 9, .other, .linkDown, "evil\u{1B}[2J: no carrier"),
            ])
    }

    /// The cable is unplugged and the kernel still prefers it.
    static var rescue: Report {
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.alternative = "wlan0"
        path.generation = 3
        path.reason = ReachabilityReason(
            .linkDown, interface: "eth0",
            sentence: "eth0: no carrier, but the kernel still prefers it; wlan0 has a path of its own")
        return Report(
            status: .unreachable, path: path,
            links: [
                link("eth0", 2, .ethernet, .linkDown, "eth0: no carrier", addresses: ["192.0.2.2/24"]),
                link(
                    "wlan0", 3, .wifi, online: true, .defaultRoute,
                    "default route via 10.0.0.1 on wlan0 (metric 600)", addresses: ["10.0.0.5/24"],
                    gateway: "10.0.0.1", metric: 600),
            ], since: moment)
    }

    /// The tunnel is dead, and the cable beside it is not used in its place.
    static var deadTunnel: Report {
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.generation = 2
        path.reason = ReachabilityReason(.linkDown, interface: "tun0", sentence: "tun0: no carrier")
        return Report(
            status: .unreachable, path: path,
            links: [
                eth0, link("tun0", 5, .tunnel, .linkDown, "tun0: no carrier", addresses: ["10.9.0.2/24"]),
            ])
    }

    /// A name that does not exist, on a machine with a route.
    static var noSuchName: Report {
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.reason = ReachabilityReason(
            .unresolved, interface: "eth0", sentence: "nothing.invalid: Name or service not known")
        return Report(status: .unreachable, path: path, links: [eth0, wlan0], host: "nothing.invalid")
    }

    /// A container host: one cable without an address, and sixty virtual links.
    static var sixtyLinks: Report {
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.generation = 1
        path.reason = ReachabilityReason(
            .noRoute, interface: "eth0", sentence: "eth0 has carrier and 192.0.2.2/24 but no default route")
        var links = [
            link("eth0", 2, .ethernet, .noRoute, path.reason.sentence, addresses: ["192.0.2.2/24"]),
            link(
                "docker0", 3, .bridge, .noPorts, "docker0: none of its ports is usable",
                addresses: ["172.17.0.1/16"]),
        ]
        for number in 0..<58 {
            links.append(
                link(
                    "veth\(number)", Int32(10 + number), .virtual, .noRoute,
                    "veth\(number) has carrier and is a port of docker0"))
        }
        return Report(status: .unreachable, path: path, links: links)
    }

    /// The kernel refuses.
    static var unknown: Report {
        Report(
            status: .unknown,
            path: .unknown(
                ReachabilityReason(.kernelRefused, sentence: "netlink is refused; allow AF_NETLINK")),
            links: [], host: "example.com")
    }

    static let steps = [
        EvaluationStep(
            "route to 12.0.0.1", "via 192.0.2.1 dev eth0 src 192.0.2.2 metric 100", "it leads to eth0"),
        EvaluationStep("link eth0", "<UP,LOWER_UP,RUNNING> state up", "eth0 has carrier"),
        EvaluationStep(
            "status", "default route via 192.0.2.1 on eth0 (metric 100)", "wired", code: .defaultRoute),
    ]
}
