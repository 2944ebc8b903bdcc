// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

// What to do about a link, where more is known than its reason's code says.
extension DiagnosisRules {
    /// Nil where the code says as much.
    static func advice(for obstacle: LinkObstacle, link: String) -> String? {
        let server = "look whether a DHCP server answers on \(link)"
        return switch obstacle {
        case .link(let usability): advice(for: usability, link: link)
        case .smallMTU:
            "set an MTU of \(LinkObstacle.smallestMTU) at least (ip link set \(link) mtu 1500); for IPv4 alone, \(server)"
        case .ipv6Disabled:
            "switch IPv6 on (sysctl net.ipv6.conf.\(link).disable_ipv6=0, and where it is set for all or default); for IPv4 alone, \(server)"
        case .ignoresAdvertisements:
            "have it take router advertisements all the same (sysctl net.ipv6.conf.\(link).accept_ra=2), or give it address and default route"
        }
    }

    private static func advice(for usability: LinkUsability, link: String) -> String? {
        switch usability {
        case .switchedOff: "switch it on (ip link set \(link) up)"
        case .dormant: "look at the authentication on \(link) (802.1X, WPA): wpa_cli -i \(link) status"
        case .radioBlocked: "unblock the radio (rfkill list)"
        case .heldDown:
            "find the program that holds it down (ip -d link show \(link) names its reasons), or ip link set \(link) protodown off"
        case .heldByBridge(.disabled): "let it forward (bridge link set dev \(link) state 3)"
        case .heldByBridge(.blocking):
            "spanning tree has found a loop or a better way: look at the other ports (bridge -d link)"
        case .heldByBridge:
            "wait for half a minute: spanning tree holds a new port back (bridge link); where no loop can be, shorten its forward_delay or switch it off (stp_state 0)"
        case .below(let lower, let cause): advice(for: cause, link: lower)
        case .port(let port, let cause): advice(for: cause, link: port)
        case .noCarrier: "look at cable, switch or antenna of \(link)"
        case .usable, .notOperational, .noPorts, .noPortsBelow, .sink, .sinkBelow, .enslaved, .wrongMode: nil
        }
    }
}
