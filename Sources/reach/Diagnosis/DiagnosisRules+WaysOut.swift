// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore
import SessionCore
import SessionManager

// What the ways out cost and reach: the path in use, other uplinks, a proxy.
extension DiagnosisRules {
    /// What the path in use costs; nil if that is nothing.
    static func cost(_ path: ReachabilityPath) -> Finding? {
        guard path.isOnline, let name = path.interface else { return nil }
        let words = [
            path.isExpensive ? "traffic costs (metered: \(path.metered))" : nil,
            path.isRoaming ? "the modem is roaming" : nil, path.isConstrained ? "data is to be saved" : nil,
        ].compactMap { $0 }
        return words.isEmpty ? nil : .good(.cost, "\(name): \(words.joined(separator: ", "))")
    }

    /// The finding about a link beside the path in use, over which the server was asked.
    static func uplink(_ uplink: UplinkInternet) -> Finding {
        let name = uplink.interface
        let sentence = InternetSentence.text([uplink]) ?? "\(name): the server was not asked"
        switch uplink.state {
        case .full: return .good(.uplink, "\(name): \(uplink.reason)")
        case .unknown, .none: return .skipped(.uplink, sentence)
        case .portal:
            return .doubtful(
                .uplink, sentence,
                try: "sign in to the network of \(name), or do not count on it as a way out")
        case .limited:
            return .doubtful(
                .uplink, sentence,
                try: "\(name) does not reach the server: look at it before the path in use fails")
        }
    }

    /// Judges the proxy that the environment names.
    ///
    /// - Parameters:
    ///   - host: the server of the URL.
    ///   - worksWithout: whether the server accepts connections without the proxy; nil if not tried.
    static func proxy(
        _ choice: ProxyChoice, _ seen: ProxyObservation, host: String, worksWithout: Bool?
    ) -> Finding {
        let (address, variable) = (choice.authority, choice.variable ?? "the configuration")
        let why: String
        switch seen {
        case .connection(let connection):
            switch connection.outcome {
            case .connected:
                return .good(
                    .proxy,
                    "\(variable) leads through \(address), which answers after \(text(connection.took))"
                )
            case .refused: why = "nothing listens there"
            case .timedOut: why = "nothing answers there within \(text(connection.took))"
            case .failed(let words): why = "\(words)"
            case .rejected(let rejection): why = rejection.sentence
            }
        case .name(.noSuchName), .name(.found): why = "its name has no address"
        case .name(.noAnswer): why = "no name server answers for it"
        case .name(.failed(let words)): why = "looking up its name failed: \(words)"
        }
        let advice =
            worksWithout == true
            ? "without the proxy \(host) can be reached: unset \(variable), or add \(host) to no_proxy"
            : "correct \(variable) where it is set (env, /etc/environment, the unit of a service), or start the proxy"
        return .failed(.proxy, "\(variable) leads through \(address), and \(why)", try: advice)
    }
}

// Advice on a link that is more specific than its reason's code.
extension DiagnosisRules {
    /// Nil if the code's own advice suffices.
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
        case .portless: "add a port to \(link) (ip link set eth0 master \(link))"
        case .noCarrier: "look at cable, switch or antenna of \(link)"
        case .usable, .notOperational, .noPorts, .noPortsBelow, .sink, .sinkBelow, .enslaved, .wrongMode: nil
        }
    }
}
