// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import ReachabilityCore
import SessionManager

/// Turns observations into findings with advice: pure, one function for each check.
enum DiagnosisRules {
    // MARK: The path

    static func path(_ path: ReachabilityPath) -> Finding {
        guard !path.isOnline else { return .good(.path, path.reason.sentence) }
        let sentence = path.reason.sentence
        let advice = Self.advice(for: path.reason)
        // The alternative itself lacks a route for programs that choose no address.
        if let other = path.alternative, path.reason.interface == other {
            return .failed(
                .path, sentence,
                try: "add a default route that needs no source address, or have programs bind to \(other)")
        }
        if let other = path.alternative {
            return .failed(
                .path, sentence,
                try: "\(advice); \(other) has a path of its own: lower its metric, or remove the dead route")
        }
        return .failed(.path, sentence, try: advice)
    }

    private static func advice(for reason: ReachabilityReason) -> String {
        let link = reason.interface ?? "the interface"
        if let obstacle = reason.obstacle, let advice = advice(for: obstacle, link: link) { return advice }
        switch reason.code {
        case .linkDown:
            return
                "look at cable, switch or antenna of \(link); switch it on (ip link set \(link) up), or unblock the radio (rfkill list)"
        case .noAddress, .linkLocalOnly:
            return "look whether a DHCP server answers on \(link), or give it an address"
        case .noRoute where reason.interface == nil:
            return "look whether the network adapter is plugged in and its driver is loaded (ip link; dmesg)"
        case .noRoute:
            return "look whether DHCP or router advertisements bring a gateway, or add a default route"
        case .bridgePort:
            return
                "move addresses and routes of \(link) to the bridge or bond above it, or take it out (ip link set \(link) nomaster)"
        case .dropped:
            return
                "remove the route through \(link), or let a better one lead elsewhere (ip route; ip route del default dev \(link))"
        case .noPorts: return "look at the ports of \(link): at least one needs carrier"
        case .prohibited, .blackhole, .unreachableRoute:
            return
                "a rule or a route of this machine forbids it: ip rule; ip route show type \(kind(reason.code))"
        case .tunnelWithoutUnderlay: return "bring up a network beneath \(link), or take the tunnel down"
        default: return "see reach status --explain"
        }
    }

    private static func kind(_ code: ReachabilityReason.Code) -> String {
        switch code {
        case .prohibited: "prohibit"
        case .blackhole: "blackhole"
        default: "unreachable"
        }
    }

    // MARK: Names

    static func name(_ seen: NameObservation) -> Finding {
        let servers = seen.servers.joined(separator: ", ")
        switch seen.outcome {
        case .found(let addresses):
            let list = addresses.prefix(3).map(\.description).joined(separator: ", ")
            let more = addresses.count > 3 ? " and \(addresses.count - 3) more" : ""
            let sentence = "\(seen.name) is \(list)\(more)"
            guard seen.took >= .seconds(2) else { return .good(.name, sentence) }
            return .doubtful(
                .name, "\(sentence), found after \(text(seen.took))",
                try:
                    "look whether the first of the name servers answers: \(servers.isEmpty ? "none is configured" : servers)"
            )
        case .noSuchName:
            return .failed(
                .name, "the name servers know no address of \(seen.name)",
                try: "look at the spelling; a name of a private network needs that network's name server")
        case .noAnswer where seen.servers.isEmpty:
            return .failed(
                .name, "no name server is configured",
                try: "add one to /etc/resolv.conf, or have DHCP bring it")
        case .noAnswer where !seen.refusals.isEmpty: return refused(seen.refusals)
        case .noAnswer:
            return .failed(
                .name, "no name server answers (\(servers))",
                try:
                    "look whether they can be reached (reach status --host \(seen.servers[0])) and UDP port 53 is let through"
            )
        case .failed(let words):
            return .failed(
                .name, "looking up \(seen.name) failed: \(words)",
                try: "see /etc/nsswitch.conf and /etc/resolv.conf")
        }
    }

    /// Name servers that answer, and not with an address (RFC 1035 §4.1.1).
    private static func refused(_ refusals: [NameServerRefusal]) -> Finding {
        let sentence = refusals.map { refusal in
            switch refusal.code {
            case 2: "\(refusal.server) finds no answer itself (SERVFAIL)"
            case 5: "\(refusal.server) refuses to answer this device (REFUSED)"
            default: "\(refusal.server) answers with error \(refusal.code)"
            }
        }.joined(separator: ", ")
        let isRefused = refusals.contains { $0.code == 5 }
        return .failed(
            .name, "the name server \(sentence)",
            try: isRefused
                ? "have it answer this device, or use another name server"
                : "look whether it reaches other name servers, or use another")
    }

    // MARK: Connections

    /// - Parameter path: the current path; a family without a route there is not judged.
    static func connections(_ seen: [ConnectionObservation], path: ReachabilityPath) -> [Finding] {
        var findings: [Finding] = []
        for family in IPAddress.Family.allCases {
            let of = seen.filter { $0.address.family == family }
            if let finding = connections(of, family, path, seen) { findings.append(finding) }
        }
        if findings.isEmpty {
            findings.append(
                .failed(.connection, "there is no address to connect to", try: "see reach status"))
        }
        return findings
    }

    private static func connections(
        _ seen: [ConnectionObservation], _ family: IPAddress.Family, _ path: ReachabilityPath,
        _ all: [ConnectionObservation]
    ) -> Finding? {
        let check: Finding.Check = family == .ipv4 ? .ipv4 : .ipv6
        let word = family == .ipv4 ? "IPv4" : "IPv6"
        guard let first = seen.first else { return nil }
        if let good = seen.first(where: { $0.outcome == .connected }) {
            return .good(check, "\(endpoint(good)) answers after \(text(good.took))")
        }
        let hasPath = family == .ipv4 ? path.hasIPv4 : path.hasIPv6
        let otherWorks = all.contains { $0.address.family != family && $0.outcome == .connected }
        if !hasPath, otherWorks {
            return .skipped(check, "this machine has no \(word), and does not need it")
        }
        if otherWorks, case .rejected(let rejection) = first.outcome {
            return .failed(
                check, "\(word) is broken: \(reason(first)), and the other family works",
                try: rejection.advice(port: first.port, address: first.address))
        }
        if otherWorks {
            return .failed(
                check, "\(word) is broken: \(reason(first)), and the other family works",
                try:
                    "programs wait for it before they go on: mend the router's \(word), or switch \(word) off on this link"
            )
        }
        if seen.contains(where: { $0.outcome == .refused }) {
            return .failed(
                check, "\(endpoint(first)) refuses the connection",
                try: "the network is fine: nothing listens there, or a firewall forbids it")
        }
        for one in seen {
            guard case .rejected(let rejection) = one.outcome else { continue }
            return .failed(check, reason(one), try: rejection.advice(port: one.port, address: one.address))
        }
        if let neighbour = first.silentNeighbour { return silence(of: neighbour, first, check) }
        if case .failed = first.outcome {
            return .failed(
                check, reason(first),
                try:
                    "this machine cannot send there: look at its routes (ip route get \(first.address)), its neighbours (ip neigh) and its firewall (nft list ruleset)"
            )
        }
        return .failed(
            check, reason(first),
            try:
                "the packets leave and nothing comes back: look at the router's uplink, and at firewalls on the way"
        )
    }

    private static func silence(
        of neighbour: ConnectionObservation.Neighbour, _ seen: ConnectionObservation, _ check: Finding.Check
    ) -> Finding {
        guard neighbour.address == seen.address else {
            return .failed(
                check,
                "\(reason(seen)), and the gateway \(neighbour.address) is not there (no answer to ARP)",
                try: "look at the router, the VLAN and the address of the gateway")
        }
        let link = neighbour.interface
        return .failed(
            check, "\(reason(seen)), and no device on \(link) has this address (no answer to ARP)",
            try: "look whether the server is switched on, and in the network that \(link) is in (cable, VLAN)"
        )
    }

    private static func reason(_ seen: ConnectionObservation) -> String {
        switch seen.outcome {
        case .connected: "\(endpoint(seen)) answers"
        case .refused: "\(endpoint(seen)) refuses"
        case .timedOut: "\(endpoint(seen)) does not answer within \(text(seen.took))"
        case .failed(let words): "\(endpoint(seen)): \(words)"
        case .rejected(let rejection): "\(endpoint(seen)): \(rejection.sentence)"
        }
    }

    private static func endpoint(_ seen: ConnectionObservation) -> String {
        seen.address.family == .ipv6 ? "[\(seen.address)]:\(seen.port)" : "\(seen.address):\(seen.port)"
    }

    /// "less than 1 ms", "12 ms", "2.5 s".
    static func text(_ duration: Duration) -> String {
        let milliseconds =
            duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return "less than 1 ms" }
        guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
        let tenths = milliseconds % 1000 / 100
        return "\(milliseconds / 1000)\(tenths > 0 ? ".\(tenths)" : "") s"
    }
}
