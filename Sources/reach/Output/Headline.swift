// SPDX-License-Identifier: Apache-2.0

import Reachability

/// The one line that says it all.
struct Headline {
    let mark: Style.Mark
    let tone: Style.Tone
    /// The status: "wired", "unreachable", with the host where one was asked about.
    let word: String
    /// "eth0  192.0.2.2 → 192.0.2.1", or the sentence that says what is missing.
    let text: String

    init(_ report: Report) {
        let path = report.path
        let host = report.host.map { "\($0): " } ?? ""
        switch report.status {
        case .wifi, .wired:
            guard path.isOnline else {
                // The grace runs: the status still stands, the path is already gone.
                self.init(.failed, .doubtful, host + report.status.description, path.reason.sentence)
                return
            }
            self.init(.online, .good, host + report.status.description, Self.way(path))
        case .unreachable: self.init(.failed, .bad, host + "unreachable", path.reason.sentence)
        case .unknown: self.init(.unknown, .doubtful, host + "unknown", path.reason.sentence)
        }
    }

    private init(_ mark: Style.Mark, _ tone: Style.Tone, _ word: String, _ text: String) {
        self.mark = mark
        self.tone = tone
        self.word = word
        self.text = text
    }

    /// "wlan0 (\"office\", -52 dBm) 192.0.2.2 → 192.0.2.1".
    static func way(_ path: ReachabilityPath) -> String {
        var words = path.interface ?? "?"
        var details: [String] = []
        if let medium = path.medium, !isObvious(medium, path) { details.append(medium.rawValue) }
        if let underlay = path.underlay { details.append("over \(underlay)") }
        if let ssid = path.ssid { details.append("\"\(ssid)\"") }
        if let signal = path.signal { details.append("\(signal) dBm") }
        if path.isExpensive { details.append("expensive") }
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
        let start =
            "\(style.text(style.mark(mark), tone)) \(style.text(word, tone == .good ? .good : tone))  "
        let indent = 2 + SafeText.width(word) + 2
        let hanging = indent * 2 > style.width ?? .max ? 4 : indent
        let lines = style.wrap(text, indent: indent)
        return start + lines.joined(separator: "\n" + String(repeating: " ", count: hanging))
    }

    /// The line for a log: no mark, not broken.
    func plain(_ style: Style) -> String { "\(style.text(word, tone))  \(style.text(text))" }
}
