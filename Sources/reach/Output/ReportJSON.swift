// SPDX-License-Identifier: Apache-2.0

import Reachability

/// Writes a report as one JSON object on one line.
///
/// The fields and their order are a contract with scripts: a field never changes its type and none goes away; new ones
/// come at the end.
enum ReportJSON {
    /// The version of the contract.
    static let schema = 1

    /// Appends the object and a line feed.
    static func write(_ report: Report, to line: inout TextLine) {
        let path = report.path
        line.append("{\"schema\":")
        line.append(schema)
        line.append(",\"status\":\"")
        line.append(report.status.description)
        line.append("\",\"since\":")
        writeTime(report.since, to: &line)
        line.append(",\"interface\":")
        line.append(json: path.interface)
        line.append(",\"medium\":")
        line.append(json: path.medium?.rawValue)
        line.append(",\"online\":")
        line.append(json: path.isOnline)
        line.append(",\"source\":")
        line.append(json: path.source)
        line.append(",\"gateway\":")
        line.append(json: path.gateway)
        line.append(",\"ssid\":")
        line.append(json: path.ssid)
        line.append(",\"signalDBm\":")
        line.append(json: path.signal)
        line.append(",\"expensive\":")
        line.append(json: path.isExpensive)
        line.append(",\"tunnel\":")
        line.append(json: path.isTunnel)
        line.append(",\"generation\":")
        line.append(path.generation)
        line.append(",\"reason\":")
        line.append(json: path.reason.sentence)
        line.append(",\"alternative\":")
        line.append(json: path.alternative)
        line.append(",\"links\":")
        line.append(json: report.links) { write($1, to: &$0) }
        line.append(",\"internet\":null")
        if let change = report.change {
            line.append(",\"event\":\"")
            line.append(change.event.rawValue)
            line.append("\",\"previous\":")
            line.append(json: change.previous?.description)
        }
        writeAdditions(report, to: &line)
        line.append("}\n")
    }

    // What came after the first version of the contract.
    private static func writeAdditions(_ report: Report, to line: inout TextLine) {
        let path = report.path
        line.append(",\"host\":")
        line.append(json: report.host)
        line.append(",\"reasonCode\":")
        line.append(json: path.reason.code.rawValue)
        line.append(",\"metric\":")
        line.append(json: path.metric)
        line.append(",\"families\":")
        line.append("[")
        if path.hasIPv4 { line.append("\"ipv4\"") }
        if path.hasIPv4, path.hasIPv6 { line.append(",") }
        if path.hasIPv6 { line.append("\"ipv6\"") }
        line.append("]")
        line.append(",\"underlay\":")
        line.append(json: path.underlay)
        line.append(",\"partial\":")
        line.append(json: path.isPartial)
        line.append(",\"stale\":")
        line.append(json: path.isStale)
        guard let steps = report.steps else { return }
        line.append(",\"explain\":")
        line.append(json: steps) { write($1, to: &$0) }
    }

    private static func writeTime(_ time: WallTime?, to line: inout TextLine) {
        guard let time else { return line.append("null") }
        line.append("\"")
        time.append(to: &line)
        line.append("\"")
    }

    private static func write(_ link: LinkReport, to line: inout TextLine) {
        line.append("{\"name\":")
        line.append(json: link.name)
        line.append(",\"index\":")
        line.append(link.index)
        line.append(",\"medium\":\"")
        line.append(link.medium.rawValue)
        line.append("\",\"online\":")
        line.append(json: link.isOnline)
        line.append(",\"reason\":")
        line.append(json: link.reason.sentence)
        line.append(",\"addresses\":")
        line.append(json: link.addresses) { $0.append(json: $1) }
        line.append(",\"gateway\":")
        line.append(json: link.gateway)
        line.append(",\"metric\":")
        line.append(json: link.metric)
        line.append(",\"reasonCode\":")
        line.append(json: link.reason.code.rawValue)
        line.append("}")
    }

    private static func write(_ step: EvaluationStep, to line: inout TextLine) {
        line.append("{\"question\":")
        line.append(json: step.question)
        line.append(",\"answer\":")
        line.append(json: step.answer)
        line.append(",\"conclusion\":")
        line.append(json: step.conclusion)
        line.append(",\"code\":")
        line.append(json: step.code?.rawValue)
        line.append("}")
    }
}
