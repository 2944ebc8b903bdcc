// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// Writes a report as one JSON object on one line.
///
/// The fields and their order are a contract with scripts: a field never changes its type and none goes away; new ones
/// come at the end.
package enum ReportJSON {
    /// The version of the contract.
    package static let schema = 1

    /// Appends the object and a line feed.
    package static func write(_ report: Report, to line: inout TextLine) {
        var links = LinkFragments()
        write(report, to: &line, knowing: &links)
    }

    /// The same, with what the line before said of its links.
    package static func write(_ report: Report, to line: inout TextLine, knowing links: inout LinkFragments) {
        let path = report.path
        line.append(literal: "{\"schema\":")
        line.append(schema)
        line.append(literal: ",\"status\":\"")
        line.append(report.status.description)
        line.append(literal: "\",\"since\":")
        writeTime(report.since, to: &line)
        line.append(literal: ",\"interface\":")
        line.append(json: path.interface)
        line.append(literal: ",\"medium\":")
        line.append(json: path.medium?.rawValue)
        line.append(literal: ",\"online\":")
        line.append(json: path.isOnline)
        line.append(literal: ",\"source\":")
        line.append(json: path.source)
        line.append(literal: ",\"gateway\":")
        line.append(json: path.gateway)
        line.append(literal: ",\"ssid\":")
        line.append(json: path.ssid)
        line.append(literal: ",\"signalDBm\":")
        line.append(json: path.signal)
        line.append(literal: ",\"expensive\":")
        line.append(json: path.isExpensive)
        line.append(literal: ",\"tunnel\":")
        line.append(json: path.isTunnel)
        line.append(literal: ",\"generation\":")
        line.append(path.generation)
        line.append(literal: ",\"reason\":")
        line.append(json: path.reason.sentence)
        line.append(literal: ",\"alternative\":")
        line.append(json: path.alternative)
        line.append(literal: ",\"links\":[")
        for position in report.links.indices {
            if position > 0 { line.append(literal: ",") }
            links.append(report.links[position], at: position, to: &line) { write($0, to: &$1) }
        }
        line.append(literal: "],\"internet\":")
        line.append(json: report.internet?.rawValue)
        if let change = report.change {
            line.append(literal: ",\"event\":\"")
            line.append(change.isInternet ? "internet" : change.event.rawValue)
            line.append(literal: "\",\"previous\":")
            line.append(json: change.previous?.description)
        }
        writeAdditions(report, to: &line)
        line.append(literal: "}\n")
    }

    // What came after the first version of the contract.
    private static func writeAdditions(_ report: Report, to line: inout TextLine) {
        let path = report.path
        line.append(literal: ",\"host\":")
        line.append(json: report.host)
        line.append(literal: ",\"reasonCode\":")
        line.append(json: path.reason.code.rawValue)
        line.append(literal: ",\"metric\":")
        line.append(json: path.metric)
        line.append(literal: ",\"families\":[")
        if path.hasIPv4 { line.append(literal: "\"ipv4\"") }
        if path.hasIPv4, path.hasIPv6 { line.append(literal: ",") }
        if path.hasIPv6 { line.append(literal: "\"ipv6\"") }
        line.append(literal: "],\"underlay\":")
        line.append(json: path.underlay)
        line.append(literal: ",\"tunnelUnchecked\":")
        line.append(json: path.isTunnelUnchecked)
        line.append(literal: ",\"partial\":")
        line.append(json: path.isPartial)
        line.append(literal: ",\"stale\":")
        line.append(json: path.isStale)
        guard let steps = report.steps else { return }
        line.append(literal: ",\"explain\":")
        line.append(json: steps) { write($1, to: &$0) }
    }

    private static func writeTime(_ time: WallTime?, to line: inout TextLine) {
        guard let time else { return line.append(literal: "null") }
        line.append(literal: "\"")
        time.append(to: &line)
        line.append(literal: "\"")
    }

    private static func write(_ link: LinkReport, to line: inout TextLine) {
        line.append(literal: "{\"name\":")
        line.append(json: link.name)
        line.append(literal: ",\"index\":")
        line.append(link.index)
        line.append(literal: ",\"medium\":\"")
        line.append(link.medium.rawValue)
        line.append(literal: "\",\"online\":")
        line.append(json: link.isOnline)
        line.append(literal: ",\"reason\":")
        line.append(json: link.reason.sentence)
        line.append(literal: ",\"addresses\":")
        line.append(json: link.addresses) { $0.append(json: $1) }
        line.append(literal: ",\"gateway\":")
        line.append(json: link.gateway)
        line.append(literal: ",\"metric\":")
        line.append(json: link.metric)
        line.append(literal: ",\"reasonCode\":")
        line.append(json: link.reason.code.rawValue)
        line.append(literal: "}")
    }

    private static func write(_ step: EvaluationStep, to line: inout TextLine) {
        line.append(literal: "{\"question\":")
        line.append(json: step.question)
        line.append(literal: ",\"answer\":")
        line.append(json: step.answer)
        line.append(literal: ",\"conclusion\":")
        line.append(json: step.conclusion)
        line.append(literal: ",\"code\":")
        line.append(json: step.code?.rawValue)
        line.append(literal: "}")
    }
}
