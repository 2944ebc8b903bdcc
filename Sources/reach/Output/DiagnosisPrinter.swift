// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import ServiceCore
import SessionManager

/// Prints each finding at once and the cause at the end; or one JSON object at the end.
struct DiagnosisPrinter {
    let url: URL?
    let isJSON: Bool
    let style: Style

    func print(_ finding: Finding) throws {
        guard !isJSON else { return }
        try StandardStream.output.write(Self.line(finding, style) + "\n").check()
    }

    func conclude(_ diagnosis: Diagnosis) throws {
        guard isJSON else {
            return try StandardStream.output.write(Self.conclusion(diagnosis, style)).check()
        }
        var line = TextLine()
        Self.writeJSON(diagnosis, url, to: &line)
        try StandardStream.output.write(line.bytes).check()
    }

    /// "✗ IPv6        IPv6 is broken: …"; without marks "IPv6: failed, IPv6 is broken: …".
    static func line(_ finding: Finding, _ style: Style) -> String {
        let (mark, word, tone): (Style.Mark, String, Style.Tone) =
            switch finding.verdict {
            case .good: (.online, "good", .good)
            case .failed: (.failed, "failed", .bad)
            case .doubtful: (.unknown, "doubtful", .doubtful)
            case .skipped: (.offline, "skipped", .minor)
            }
        let name = title(finding.check)
        guard style.hasMarks else {
            return style.line(
                [(name, .strong), (": ", .plain), (word, tone), (", \(finding.sentence)", .plain)], indent: 2)
        }
        let pieces: [Style.Piece] = [
            (style.mark(mark), tone), (name, .strong),
            (String(repeating: " ", count: 12 - name.count), .plain), (finding.sentence, .plain),
        ]
        return style.line(pieces, indent: 14)
    }

    private static func title(_ check: Finding.Check) -> String {
        switch check {
        case .path: "path"
        case .proxy: "proxy"
        case .name: "name"
        case .connection: "connection"
        case .ipv4: "IPv4"
        case .ipv6: "IPv6"
        case .answer: "answer"
        case .clock: "clock"
        case .packets: "big packets"
        case .uplink: "uplink"
        case .cost: "cost"
        }
    }

    static func conclusion(_ diagnosis: Diagnosis, _ style: Style) -> String {
        guard let cause = diagnosis.cause else {
            let isWhole = !diagnosis.findings.contains { $0.check == .name && $0.verdict == .skipped }
            let words = isWhole ? "nothing is wrong" : "nothing is wrong, as far as the kernel knows"
            let remark = diagnosis.remark.map {
                style.line([("note:  ", .strong), ($0.advice, .plain)], indent: 7) + "\n"
            }
            return "\n" + style.line([(words, .good)], indent: 0) + "\n" + (remark ?? "")
        }
        return "\n" + style.line([("cause: ", .strong), (cause.sentence, .bad)], indent: 7) + "\n"
            + style.line([("try:   ", .strong), (cause.advice, .plain)], indent: 7) + "\n"
    }

    static func writeJSON(_ diagnosis: Diagnosis, _ url: URL?, to line: inout TextLine) {
        line.append(literal: "{\"schema\":1,\"url\":")
        line.append(json: url?.textWithoutUser)
        line.append(literal: ",\"findings\":")
        line.append(json: diagnosis.findings) { write($1, to: &$0) }
        line.append(literal: ",\"cause\":")
        if let cause = diagnosis.cause { write(cause, to: &line) } else { line.append(literal: "null") }
        line.append(literal: "}\n")
    }

    private static func write(_ finding: Finding, to line: inout TextLine) {
        line.append(literal: "{\"check\":")
        line.append(json: finding.check.rawValue)
        line.append(literal: ",\"verdict\":")
        line.append(json: finding.verdict.rawValue)
        line.append(literal: ",\"sentence\":")
        line.append(json: finding.sentence)
        line.append(literal: ",\"advice\":")
        line.append(json: finding.advice.isEmpty ? nil : finding.advice)
        line.append(literal: "}")
    }
}
