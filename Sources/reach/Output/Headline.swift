// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore

/// The summary of a report in one line.
struct Headline {
    let mark: Style.Mark
    let tone: Style.Tone
    /// The status: "wired", "unreachable", with the host if there is one.
    let word: String
    /// "eth0  192.0.2.2 → 192.0.2.1", or the sentence of the reason.
    let text: String
    /// Whether the text is the path's reason.
    let isReason: Bool

    init(_ report: Report) {
        let path = report.path
        let host = report.subject.map { "\($0): " } ?? ""
        switch report.status {
        case .wifi, .wired:
            guard path.isOnline else {
                // During the grace period the status still holds while the path is lost already.
                self.init(
                    .failed, .doubtful, host + report.status.description, Self.reason(report), isReason: true)
                return
            }
            self.init(.online, .good, host + report.status.description, Self.way(path), isReason: false)
        case .unreachable: self.init(.failed, .bad, host + "unreachable", Self.reason(report), isReason: true)
        case .unknown: self.init(.unknown, .doubtful, host + "unknown", Self.reason(report), isReason: true)
        }
    }

    private init(_ mark: Style.Mark, _ tone: Style.Tone, _ word: String, _ text: String, isReason: Bool) {
        self.mark = mark
        self.tone = tone
        self.word = word
        self.text = text
        self.isReason = isReason
    }

    /// The path's reason, without the host's name, which the line has already.
    static func reason(_ report: Report) -> String {
        var sentence = report.path.reason.sentence
        if let host = report.host {
            let unresolved = "cannot resolve \(host): "
            if sentence.hasPrefix("\(host): ") {
                sentence.removeFirst(host.count + 2)
            } else if sentence.hasPrefix(unresolved) {
                sentence = "cannot resolve it: " + sentence.dropFirst(unresolved.count)
            }
        }
        return sentence
            + (unusedLink(report).map { "; \($0) has a path but is not used in place of a tunnel" } ?? "")
    }

    /// A link with a path of its own while the kernel chooses a dead tunnel, which no other link may replace.
    private static func unusedLink(_ report: Report) -> String? {
        let path = report.path
        guard !path.isOnline, path.alternative == nil, path.reason.code != .noRoute,
            report.links.contains(where: {
                $0.name == path.reason.interface && $0.medium == .tunnel && !$0.isOnline
            })
        else { return nil }
        return report.links.first { $0.isOnline && $0.medium != .tunnel }?.name
    }

    /// "wlan0 (\"office\", -52 dBm) 192.0.2.2 → 192.0.2.1".
    static func way(_ path: ReachabilityPath) -> String {
        var words = path.interface ?? "?"
        var details: [String] = []
        if let medium = path.medium, !isObvious(medium, path) { details.append(medium.rawValue) }
        if let underlay = path.underlay { details.append("over \(underlay)") }
        if let ssid = path.ssid { details.append(SafeText.quoted(ssid)) }
        if let signal = path.signal { details.append("\(signal) dBm") }
        if path.isExpensive { details.append("expensive") }
        if path.isRoaming { details.append("roaming") }
        if path.isConstrained { details.append("constrained") }
        if !details.isEmpty { words += " (\(details.joined(separator: ", ")))" }
        if let source = path.source {
            words += " \(source)"
            if let gateway = path.gateway { words += " → \(gateway)" }
        }
        return words
    }

    private static func isObvious(_ medium: Medium, _ path: ReachabilityPath) -> Bool {
        switch medium {
        case .ethernet: path.instantStatus == .wired
        case .wifi: path.instantStatus == .wifi
        default: false
        }
    }

    /// The line as text, without a line feed.
    func line(_ style: Style) -> String {
        let mark = style.mark(mark)
        return style.line([(mark, tone)] + words, indent: SafeText.width(mark + word) + 2)
    }

    /// The line for a log, without a mark.
    var words: [Style.Piece] { [(word, tone), ("  " + text, .plain)] }
}

extension Report {
    /// "example.com via wwan0": what the report is about; nil for anywhere over the kernel's choice.
    var subject: String? {
        let via = via.map { "via \($0)" }
        return host.map { host in via.map { "\(host) \($0)" } ?? host } ?? via
    }
}
