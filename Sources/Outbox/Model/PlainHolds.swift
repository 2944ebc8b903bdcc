// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import SessionCore

/// Holds requests without TLS while a probe reports a captive portal, whose page would answer them, or has
/// them be sent over another uplink with internet.
///
/// Requests with TLS are tried in each state: a portal has no certificate of their server, so it gets nothing
/// of them, and `limited` may be the fault of the probe's own server.
enum PlainHolds {
    /// Stands for every origin without TLS, among those that are held.
    static let everyOrigin = "http"

    /// Why what goes to an origin waits; nil if it does not.
    static func hold(_ origin: String, _ holds: [String: String]) -> String? {
        holds[origin] ?? (isPlain(origin) ? holds[everyOrigin] : nil)
    }

    /// Whether requests without TLS wait, or take another uplink; `internet` is nil without a probe.
    static func mayNotUsePath(_ internet: InternetFindings?) -> Bool {
        guard let internet else { return false }
        return switch internet.state {
        case .limited, .full: false
        // Not probed yet on this path: the answer comes within seconds.
        case .portal, .none, .unknown: true
        }
    }

    /// Whether all requests without TLS of a condition wait.
    static func holds(_ internet: InternetFindings?, _ condition: NetworkCondition = .any) -> Bool {
        mayNotUsePath(internet) && uplink(internet, condition) == nil
    }

    /// The interface of another uplink with internet that carries what must not use the path; nil for none.
    ///
    /// A request that wants a kind of network waits: the uplink's own is not known here.
    static func uplink(_ internet: InternetFindings?, _ condition: NetworkCondition = .any) -> String? {
        guard condition == .any || condition == .internet, let internet,
            internet.state == .portal || internet.state == .none
        else { return nil }
        return internet.best(besides: internet.preferred?.interface ?? "")?.interface
    }

    /// Whether a server is behind every uplink: what is on a link itself, or in a private network, may be
    /// behind one alone (RFC 1918, RFC 4193, RFC 6598, RFC 6762).
    static func isBehindEveryUplink(_ host: String) -> Bool {
        let name = host.lowercased()
        if let address = IPAddress(name.trimmingBrackets) {
            return !address.isLoopback && !address.staysOnLink && !address.isUniqueLocal
                && !privateNetworks.contains { $0.contains(address) }
        }
        return name.contains(".") && !localDomains.contains { name.hasSuffix($0) }
    }

    private static let privateNetworks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"]
        .compactMap { IPPrefix($0) }
    private static let localDomains = [".local", ".lan", ".internal", ".home.arpa", ".localhost"]

    /// The reason in a sentence; nil if nothing waits.
    static func reason(_ internet: InternetFindings?) -> String? {
        guard internet?.state == .portal else { return nil }
        let portal = "the network wants a sign-in (the probe says portal)"
        guard let uplink = uplink(internet) else {
            return "\(portal), and its page would take what is sent without TLS"
        }
        return "\(portal): without TLS only \(uplink) is used, and what it may not carry waits"
    }

    /// Whether the probe reports a portal behind any uplink.
    static func hasPortal(_ internet: InternetFindings?) -> Bool {
        internet.map { $0.state == .portal || $0.uplinks.contains { $0.state == .portal } } ?? false
    }

    /// Turns a delivery without TLS into a retry while the probe reports a portal behind the uplink that
    /// carried it: the portal may have answered.
    ///
    /// - Parameter carriers: The interfaces that may have carried it: the one that it was bound to, or those
    ///   with its address; nil or none where they are not known, and each uplink may have.
    static func doubt(
        _ verdict: DeliveryVerdict, _ internet: InternetFindings?, over carriers: [String]? = nil
    ) -> DeliveryVerdict {
        guard case .delivered(let status) = verdict, let internet else { return verdict }
        let carriers = carriers ?? []
        let states = internet.uplinks.filter { carriers.contains($0.interface) }.map(\.state)
        let isOfPortal =
            carriers.isEmpty || internet.uplinks.isEmpty ? hasPortal(internet) : states.contains(.portal)
        guard isOfPortal else { return verdict }
        let message =
            "status \(status) came while the probe says portal: perhaps of the network's page to sign in"
        return .retry(OutboxFailure(.network, message, statusCode: status))
    }

    static func isPlain(_ origin: String) -> Bool { origin.hasPrefix("http:") }
}

extension String {
    /// Without the brackets of an IPv6 address in a URL.
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
