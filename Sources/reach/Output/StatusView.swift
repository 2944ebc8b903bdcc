// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore
import SessionManager

/// The view of `reach status`: a headline, the reason, and a line for each link.
enum StatusView {
    /// The whole view, ending with a line feed.
    static func text(_ report: Report, _ style: Style, showsAll: Bool = false) -> String {
        let headline = Headline(report)
        var text = headline.line(style) + "\n"
        let path = report.path
        if !headline.isReason { text += paragraph(path.reason.sentence, style) }
        if let internet = report.internet {
            let origin = report.adoptedSentence == nil ? "" : " (found by the service)"
            text += paragraph("internet: \(internet): \(internet.explanation)\(origin)", style)
            if let sentence = report.internetSentence { text += paragraph(sentence, style) }
        }
        for sentence in notes(report) { text += paragraph(sentence, style) }
        if !report.links.isEmpty {
            text += "\n" + LinkTable(report, showsAll: showsAll).text(style)
        }
        if let steps = report.steps { text += "\n" + explanation(steps, style) }
        return text
    }

    private static func paragraph(_ sentence: String, _ style: Style) -> String {
        style.wrap(sentence, indent: 2).map { "  " + style.text($0, .minor) + "\n" }.joined()
    }

    /// Notes beside the headline.
    private static func notes(_ report: Report) -> [String] {
        let path = report.path
        var notes: [String] = []
        if path.isPartial, !path.hasDeadLegs {
            notes.append("note: only a part of the address space has a route")
        }
        if path.isUniqueLocal {
            notes.append("note: the source address is good for this site only (unique local)")
        }
        if path.isTunnelUnchecked {
            notes.append("note: nothing here tells what carries the tunnel; it counts unchecked")
        }
        if path.isStale, report.status != .unknown {
            notes.append("note: the kernel did not answer the last question; these are earlier facts")
        }
        return notes
    }

    /// The steps of an evaluation: the question, the kernel's answer, and the conclusion.
    static func explanation(_ steps: [EvaluationStep], _ style: Style) -> String {
        let heading = "how this was found out (addresses are looked up, nothing is sent to them):"
        var text = style.wrap(heading, indent: 0).map { style.text($0, .strong) + "\n" }.joined()
        let arrow = !style.hasMarks ? "so" : style.isUnicode ? "→" : "->"
        for step in steps {
            let conclusion = step.conclusion + (step.code.map { " [\($0)]" } ?? "")
            for (indent, sentence) in [(2, step.question), (4, step.answer), (4, "\(arrow) \(conclusion)")] {
                for line in style.wrap(sentence, indent: indent) {
                    text += String(repeating: " ", count: indent) + line + "\n"
                }
            }
        }
        return text
    }
}

extension InternetState {
    /// The tone of its colour.
    var tone: Style.Tone {
        switch self {
        case .full: .good
        case .portal, .limited, .unknown: .doubtful
        case .none: .bad
        }
    }
}
