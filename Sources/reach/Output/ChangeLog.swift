// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore

/// The lines of `reach watch` for people: the local time, the change, and the link.
///
/// Stores the path of the last line and the last usable path, with which a line is compared.
struct ChangeLog: Sendable {
    private var before = ReachabilityPath()
    private var lastInterface: String?
    private var wasLoopback = false
    /// How long the status is delayed after a loss.
    private let lossGrace: Duration
    private let isPresent: (@Sendable (String) -> Bool)?

    /// The width of "12:03:04.123 ", by which further lines of a text are indented.
    private static let indent = 13

    /// - Parameters:
    ///   - lossGrace: how long the status is delayed after a loss.
    ///   - isPresent: whether an interface of that name exists; nil if the reports have the links.
    init(lossGrace: Duration, isPresent: (@Sendable (String) -> Bool)? = nil) {
        self.lossGrace = lossGrace
        self.isPresent = isPresent
    }

    /// The line without a line feed; `time` is the local time.
    mutating func line(_ report: Report, time: String, _ style: Style) -> String {
        defer { remember(report.path) }
        let words = report.change?.event == .path ? pathWords(report) : statusWords(report)
        return style.line([(time, .minor), (" ", .plain)] + words, indent: Self.indent)
    }

    /// Stores a report that was shown in another form.
    mutating func remember(_ path: ReachabilityPath) {
        before = path
        guard let interface = path.interface else { return }
        lastInterface = interface
        wasLoopback = path.medium == .loopback
    }

    private func statusWords(_ report: Report) -> [Style.Piece] {
        // Only some updates have links, and the lines must not depend on them.
        var bare = report
        bare.links = []
        let headline = Headline(bare)
        guard let previous = report.change?.previous else { return headline.words }
        if previous.isReachable, !report.path.isOnline, let name = goneInterface(report) {
            return [
                (headline.word, headline.tone), ("  \(name) is gone; \(headline.text)", .plain),
                (" (was \(previous))", .minor),
            ]
        }
        let on = previous.isReachable ? lastInterface.map { " on \($0)" } ?? "" : ""
        return headline.words + [(" (was \(previous)\(on))", .minor)]
    }

    private func pathWords(_ report: Report) -> [Style.Piece] {
        let path = report.path
        guard path.isOnline else { return lossWords(report) }
        let name = path.interface ?? "the path"
        if !before.isOnline {
            let verb = report.status == .unreachable ? "has a path, waiting for it to be stable" : "is back"
            return [("\(name) \(verb)", .good), (": \(path.reason.sentence)", .plain)]
        }
        let changes = changes(to: path)
        guard !changes.isEmpty else {
            if path.generation == before.generation {
                return [("path", .strong), ("  " + path.reason.sentence, .plain)]
            }
            return [
                ("\(name): connections made before are worthless (generation \(path.generation))", .plain)
            ]
        }
        return [("path", .strong), ("  " + changes.joined(separator: ", "), .plain)]
    }

    private func lossWords(_ report: Report) -> [Style.Piece] {
        let sentence = report.path.reason.sentence
        // Only the first line of a loss says when the status follows.
        guard before.isOnline else { return [(sentence, .doubtful)] }
        let isHeld = report.status.isReachable
        let grace = isHeld ? " – status follows in \(lossGrace.inNanoseconds / 1_000_000) ms" : ""
        if let name = goneInterface(report) { return [("\(name) is gone", .doubtful), (grace, .plain)] }
        return [(sentence, .doubtful), (grace, .plain), (isHeld ? formerInterface(report.path) : "", .minor)]
    }

    /// The interface of the last path, if it does not exist any more and the sentence is about another one.
    private func goneInterface(_ report: Report) -> String? {
        guard let lastInterface, !wasLoopback, report.path.instantStatus != .unknown,
            report.path.reason.interface != lastInterface
        else { return nil }
        // An empty list proves nothing, since not every report has links.
        let isThere =
            isPresent?(lastInterface)
            ?? (report.links.isEmpty || report.links.contains { $0.name == lastInterface })
        return isThere ? nil : lastInterface
    }

    /// Names the interface that was lost, if the sentence is about another one.
    private func formerInterface(_ path: ReachabilityPath) -> String {
        guard let lastInterface, path.reason.interface != lastInterface else { return "" }
        return " (was on \(lastInterface))"
    }

    private func changes(to path: ReachabilityPath) -> [String] {
        var changes: [String] = []
        func record(_ what: String, _ old: String?, _ new: String?) {
            guard old != new else { return }
            changes.append("\(what) \(old ?? "none") → \(new ?? "none")")
        }
        record("interface", before.interface, path.interface)
        record("medium", before.medium?.rawValue, path.medium?.rawValue)
        record("source", before.source?.description, path.source?.description)
        record("gateway", before.gateway?.description, path.gateway?.description)
        record("network", before.ssid.map(SafeText.quoted), path.ssid.map(SafeText.quoted))
        record("carried by", before.underlay, path.underlay)
        record("families", Self.families(before), Self.families(path))
        record("expensive", Self.yes(before.isExpensive), Self.yes(path.isExpensive))
        record("roaming", Self.yes(before.isRoaming), Self.yes(path.isRoaming))
        record("constrained", Self.yes(before.isConstrained), Self.yes(path.isConstrained))
        record("partial", Self.yes(before.isPartial), Self.yes(path.isPartial))
        return changes
    }

    private static func yes(_ flag: Bool) -> String { flag ? "yes" : "no" }

    private static func families(_ path: ReachabilityPath) -> String {
        IPAddress.Family.allCases.filter(path.families.contains).map(\.rawValue).joined(separator: "+")
    }
}
