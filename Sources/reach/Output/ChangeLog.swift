// SPDX-License-Identifier: Apache-2.0

import Reachability

/// The lines of `reach watch` for people: the local time, what changed, and which cable.
///
/// It remembers what a line has to compare with: the path of the line before, and the last one that was usable.
struct ChangeLog: Sendable {
    private var before = ReachabilityPath()
    private var lastInterface: String?
    /// How long a loss is held back from the status.
    private let lossGrace: Duration

    init(lossGrace: Duration) { self.lossGrace = lossGrace }

    /// The line without a line feed; `time` is the local time.
    mutating func line(_ report: Report, time: String, _ style: Style) -> String {
        defer { remember(report.path) }
        let words = report.change?.event == .path ? pathWords(report, style) : statusWords(report, style)
        return style.text(time, .minor) + " " + words
    }

    /// Takes in a report that was shown in another way.
    mutating func remember(_ path: ReachabilityPath) {
        before = path
        if let interface = path.interface { lastInterface = interface }
    }

    private func statusWords(_ report: Report, _ style: Style) -> String {
        var was = ""
        if let previous = report.change?.previous {
            let on = previous.isReachable ? lastInterface.map { " on \($0)" } ?? "" : ""
            was = " (was \(previous)\(on))"
        }
        return Headline(report).plain(style) + style.text(was, .minor)
    }

    private func pathWords(_ report: Report, _ style: Style) -> String {
        let path = report.path
        guard path.isOnline else {
            // Only the first line of a loss says how long it is held.
            let isHeld = report.status.isReachable && before.isOnline
            let hold = isHeld ? " – holding for \(lossGrace.inNanoseconds / 1_000_000) ms" : ""
            return style.text(path.reason.sentence, .doubtful) + style.text(hold)
                + style.text(isHeld ? formerInterface(path) : "", .minor)
        }
        let name = path.interface ?? "the path"
        if !before.isOnline {
            let verb = report.status == .unreachable ? "has a path, waiting for it to be stable" : "is back"
            return style.text("\(name) \(verb)", .good) + style.text(": \(path.reason.sentence)")
        }
        let changes = changes(to: path)
        guard !changes.isEmpty else {
            return style.text(
                "\(name): connections made before are worthless (generation \(path.generation))")
        }
        return style.text("path", .strong) + style.text("  " + changes.joined(separator: ", "))
    }

    /// Names the interface that was lost where the sentence speaks of another one: it may not even exist any more.
    private func formerInterface(_ path: ReachabilityPath) -> String {
        guard let lastInterface, path.reason.interface != lastInterface else { return "" }
        return " (was on \(lastInterface))"
    }

    private func changes(to path: ReachabilityPath) -> [String] {
        var changes: [String] = []
        func note(_ what: String, _ old: String?, _ new: String?) {
            guard old != new else { return }
            changes.append("\(what) \(old ?? "none") → \(new ?? "none")")
        }
        note("interface", before.interface, path.interface)
        note("medium", before.medium?.rawValue, path.medium?.rawValue)
        note("source", before.source?.description, path.source?.description)
        note("gateway", before.gateway?.description, path.gateway?.description)
        note("network", before.ssid, path.ssid)
        note("carried by", before.underlay, path.underlay)
        note("families", Self.families(before), Self.families(path))
        note("expensive", Self.yes(before.isExpensive), Self.yes(path.isExpensive))
        note("partial", Self.yes(before.isPartial), Self.yes(path.isPartial))
        return changes
    }

    private static func yes(_ flag: Bool) -> String { flag ? "yes" : "no" }

    private static func families(_ path: ReachabilityPath) -> String {
        IPAddress.Family.allCases.filter(path.families.contains).map(\.rawValue).joined(separator: "+")
    }
}
