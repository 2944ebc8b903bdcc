// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore
import SessionManager

/// One line for each interface: its name, kind, whether it is online, and its fault.
struct LinkTable {
    private struct Row {
        var name: String
        var medium: String
        var isOnline: Bool
        var sentence: String
    }

    private var rows: [Row] = []
    private var hidden = 0

    /// The most addresses of the link in use that are shown.
    private static let shownAddresses = 3
    /// The most virtual links without a path that are shown; more are only counted.
    static let virtualLimit = 4

    init(_ report: Report, showsAll: Bool) {
        let path = report.path
        let noise = showsAll ? [] : Self.noise(in: report.links, path)
        hidden = noise.count
        for link in Self.ordered(report.links, path) where !noise.contains(link) {
            rows.append(
                Row(
                    name: link.name, medium: link.medium.rawValue, isOnline: link.isOnline,
                    sentence: Self.internet(report.uplink(link)) + Self.sentence(link, path)
                        + Self.cost(link)))
        }
    }

    /// The links in the order of all views.
    static func ordered(_ links: [LinkReport], _ path: ReachabilityPath) -> [LinkReport] {
        links.sorted { rank($0, path) < rank($1, path) }
    }

    /// The virtual links without a path that nothing else mentions; empty if few enough to be shown.
    static func noise(in links: [LinkReport], _ path: ReachabilityPath) -> [LinkReport] {
        let mentioned = [path.interface, path.underlay, path.alternative, path.reason.interface]
        let noise = links.filter { $0.medium == .virtual && !$0.isOnline && !mentioned.contains($0.name) }
        return noise.count > virtualLimit ? noise : []
    }

    /// The path's own link first, then those that are online, hardware before virtual, then in the kernel's
    /// order.
    private static func rank(_ link: LinkReport, _ path: ReachabilityPath) -> Int64 {
        let group: Int64 =
            link.name == path.interface ? 0 : link.isOnline ? 1 : link.medium == .virtual ? 3 : 2
        return group << 32 | Int64(link.index)
    }

    /// "internet full; ": the beginning of an uplink's sentence; empty where it was not asked.
    static func internet(_ uplink: UplinkInternet?) -> String {
        guard let uplink, uplink.state != .unknown else { return "" }
        return "internet \(uplink.state); "
    }

    /// "; expensive, roaming": the end of the sentence of a link that costs; empty for others.
    private static func cost(_ link: LinkReport) -> String {
        let words = [
            link.isExpensive ? "expensive" : nil, link.isRoaming ? "roaming" : nil,
            link.isConstrained ? "constrained" : nil,
        ].compactMap { $0 }
        return words.isEmpty || !link.isOnline ? "" : "; " + words.joined(separator: ", ")
    }

    /// The reason without the interface's name, with which the row begins.
    static func sentence(_ link: LinkReport, _ path: ReachabilityPath) -> String {
        let sentence = link.reason.sentence
        // That of the path may go on, as with a leg that is dead.
        if link.isOnline, link.name == path.interface, path.reason.sentence.hasPrefix(sentence) {
            let more = link.addresses.count - shownAddresses
            let rest = more > 0 ? ["and \(more) more"] : []
            return (["in use"] + link.addresses.prefix(shownAddresses) + rest).joined(separator: ", ")
        }
        for prefix in ["\(link.name): ", "\(link.name) "] where sentence.hasPrefix(prefix) {
            return String(sentence.dropFirst(prefix.count))
        }
        return sentence
    }

    /// The lines, each with its line feed.
    func text(_ style: Style) -> String {
        let nameWidth = rows.map { SafeText.width(style.text($0.name)) }.max() ?? 0
        let mediumWidth = rows.map(\.medium.utf8.count).max() ?? 0
        // Two columns of indent, two between columns, a mark, and "offline".
        let indent = 2 + nameWidth + 2 + mediumWidth + 2 + SafeText.width(style.mark(.online)) + 7 + 2
        // On a narrow terminal the sentence gets lines of its own.
        let isNarrow = style.width.map { $0 - indent < 24 } ?? false
        var text = ""
        for row in rows {
            let plainStyle = Style(isUnicode: style.isUnicode, hasMarks: style.hasMarks, width: style.width)
            let name = Self.padded(plainStyle.text(row.name), nameWidth)
            let mark = style.mark(row.isOnline ? .online : .offline)
            let word = row.isOnline ? "online" : "offline"
            text +=
                "  \(row.isOnline ? style.text(name, .strong) : name)  \(Self.padded(row.medium, mediumWidth))  "
            text += style.text(mark + word, row.isOnline ? .good : .minor)
            if isNarrow {
                for line in style.wrap(row.sentence, indent: 6) { text += "\n      \(line)" }
            } else {
                text += String(repeating: " ", count: 7 - word.utf8.count + 2)
                text += style.wrap(row.sentence, indent: indent)
                    .joined(separator: "\n" + String(repeating: " ", count: indent))
            }
            text += "\n"
        }
        return text + Self.hidden(hidden, style)
    }

    /// The line for links that are only counted; empty for none.
    static func hidden(_ count: Int, _ style: Style) -> String {
        guard count > 0 else { return "" }
        let sentence = "and \(count) virtual links without a path ('reach status --all' shows them)"
        return style.wrap(sentence, indent: 2).map { "  " + style.text($0, .minor) + "\n" }.joined()
    }

    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - SafeText.width(text)))
    }
}
