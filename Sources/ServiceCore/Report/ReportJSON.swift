// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// Writes a report as one JSON object on one line.
///
/// The fields and their order are a contract with scripts: a field never changes its type or disappears; new
/// ones are appended.
package enum ReportJSON {
    /// The version of the contract.
    package static let schema = 1

    /// Appends the object and a line feed.
    package static func write(_ report: Report, to line: inout TextLine) {
        var links = LinkFragments()
        write(report, to: &line, knowing: &links)
    }

    /// The same, reusing the JSON of the links of the line before.
    package static func write(_ report: Report, to line: inout TextLine, knowing links: inout LinkFragments) {
        let path = report.path
        line.field(#"{"schema":"#, schema)
        line.append(literal: ",\"status\":\"")
        line.append(report.status.description)
        line.field(#"","since":"#, report.since)
        line.field(#","interface":"#, path.interface)
        line.field(#","medium":"#, path.medium?.rawValue)
        line.field(#","online":"#, path.isOnline)
        line.field(#","source":"#, path.source)
        line.field(#","gateway":"#, path.gateway)
        line.field(#","ssid":"#, path.ssid)
        line.field(#","signalDBm":"#, path.signal)
        line.field(#","expensive":"#, path.isExpensive)
        line.field(#","tunnel":"#, path.isTunnel)
        line.field(#","generation":"#, path.generation)
        line.field(#","reason":"#, path.reason.sentence)
        line.field(#","alternative":"#, path.alternative)
        line.append(literal: ",\"links\":[")
        links.append(linksOf: report, to: &line) { write($0, $1, to: &$2) }
        line.field(#"],"internet":"#, report.internet?.rawValue)
        if let change = report.change {
            line.append(literal: ",\"event\":\"")
            line.append(change.isInternet ? "internet" : change.event.rawValue)
            line.field(#"","previous":"#, change.previous?.description)
        }
        writeAdditions(report, to: &line)
        line.append(literal: "}\n")
    }

    // Fields that came after the first version of the contract.
    private static func writeAdditions(_ report: Report, to line: inout TextLine) {
        let path = report.path
        line.field(#","host":"#, report.host)
        line.field(#","reasonCode":"#, path.reason.code.rawValue)
        line.field(#","metric":"#, path.metric)
        line.append(literal: ",\"families\":[")
        if path.hasIPv4 { line.append(literal: "\"ipv4\"") }
        if path.hasIPv4, path.hasIPv6 { line.append(literal: ",") }
        if path.hasIPv6 { line.append(literal: "\"ipv6\"") }
        line.field(#"],"underlay":"#, path.underlay)
        line.field(#","tunnelUnchecked":"#, path.isTunnelUnchecked)
        line.field(#","partial":"#, path.isPartial)
        line.field(#","stale":"#, path.isStale)
        line.field(#","portal":"#, report.portal)
        line.field(#","metered":"#, path.metered.rawValue)
        if let via = report.via { line.field(#","via":"#, via.description) }
        line.field(#","roaming":"#, path.isRoaming)
        line.field(#","constrained":"#, path.isConstrained)
        line.field(#","internetSentence":"#, report.internetSentence)
        guard let steps = report.steps else { return }
        line.append(literal: ",\"explain\":")
        line.append(json: steps) { write($1, to: &$0) }
    }

    private static func write(_ link: LinkReport, _ internet: LinkInternet, to line: inout TextLine) {
        line.field(#"{"name":"#, link.name)
        line.field(#","index":"#, link.index)
        line.append(literal: ",\"medium\":\"")
        line.append(link.medium.rawValue)
        line.field(#"","online":"#, link.isOnline)
        line.field(#","reason":"#, link.reason.sentence)
        line.append(literal: ",\"addresses\":")
        line.append(json: link.addresses) { $0.append(json: $1) }
        line.field(#","gateway":"#, link.gateway)
        line.field(#","metric":"#, link.metric)
        line.field(#","reasonCode":"#, link.reason.code.rawValue)
        line.field(#","internet":"#, internet.state?.rawValue)
        line.field(#","internetSince":"#, internet.since)
        line.field(#","internetReason":"#, internet.reason)
        line.field(#","metered":"#, link.metered.rawValue)
        line.field(#","roaming":"#, link.isRoaming)
        line.field(#","constrained":"#, link.isConstrained)
        line.field(#","router":"#, internet.router?.rawValue)
        line.field(#","portal":"#, internet.portal)
        line.append(literal: "}")
    }

    private static func write(_ step: EvaluationStep, to line: inout TextLine) {
        line.field(#"{"question":"#, step.question)
        line.field(#","answer":"#, step.answer)
        line.field(#","conclusion":"#, step.conclusion)
        line.field(#","code":"#, step.code?.rawValue)
        line.append(literal: "}")
    }
}

/// What a report says of the internet behind a link.
package struct LinkInternet: Sendable, Equatable {
    /// Nil without a probe.
    var state: InternetState?
    /// Nil for a link that is no uplink.
    var since: WallTime?
    var reason: String?
    /// Whether the next router answers; nil without one.
    var router: UplinkRouter.Standing?
    /// Where to sign in.
    var portal: String?

    /// Nothing is known, as without a probe.
    package init() {}
}

extension Report {
    /// What it says of the internet behind one of its links.
    package func internet(of link: LinkReport) -> LinkInternet {
        var found = LinkInternet()
        guard internet != nil else { return found }
        guard let uplink = uplink(link) else {
            found.state = link.isOnline ? .unknown : InternetState.none
            return found
        }
        found.state = uplink.state
        found.since = WallTime(nanoseconds: uplink.wall)
        found.reason = uplink.reason.isEmpty ? nil : uplink.reason
        found.router = uplink.router?.standing
        found.portal = uplink.portal
        return found
    }
}
