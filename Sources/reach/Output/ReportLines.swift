// SPDX-License-Identifier: Apache-2.0

import Reachability
import Service
import ServiceCore
import SessionCore
import SessionManager

/// Converts updates to the lines of `reach watch` and `reach replay`.
struct ReportLines: ~Copyable, Sendable {
    /// The format of the lines.
    enum Format: Sendable, Hashable {
        case json
        case text(Style)
    }

    private let format: Format
    private let host: String?
    private let via: NetworkRequirement?
    private let statusOnly: Bool
    private let firstLinks: [LinkReport]
    private var age = StatusAge()
    private var log: ChangeLog
    /// The text to print for the last report, with line feeds; empty for none.
    private(set) var line = TextLine()
    /// What was found of the internet; nil without a probe, and where the service sees another network.
    private var findings: InternetFindings?
    /// The last reply of a running service, whose findings are printed where nothing is asked here.
    private var service: [UInt8]?
    private var last: ReachabilityUpdate?
    private var links = LinkFragments()
    /// Since when the first line's status holds, if a service knows.
    private let since: @Sendable (Report) -> WallTime?

    /// - Parameters:
    ///   - firstLinks: the links of the first view, if updates have none.
    ///   - isPresent: whether an interface of that name exists; nil if updates have the links.
    ///   - since: since when the status of a first report holds; called only if that is printed.
    init(
        format: Format, host: String?, via: NetworkRequirement? = nil, lossGrace: Duration, statusOnly: Bool,
        firstLinks: [LinkReport] = [],
        isPresent: (@Sendable (String) -> Bool)? = nil,
        since: @escaping @Sendable (Report) -> WallTime? = { _ in nil }
    ) {
        self.since = since
        self.firstLinks = firstLinks
        self.format = format
        self.host = host
        self.via = via
        self.statusOnly = statusOnly
        log = ChangeLog(lossGrace: lossGrace, isPresent: isPresent)
    }

    /// Writes the ``line`` for an update.
    ///
    /// - Parameter wall: the wall clock; read only if the time is printed.
    mutating func write(_ update: ReachabilityUpdate, _ wall: () -> WallTime) {
        line.removeAll()
        if update.event == .path, statusOnly { return log.remember(update.path) }
        switch format {
        case .json:
            if update.event != .path { age.observe(update, at: wall()) }
            if update.event == .initial { age.start(since(report(update, since: nil))) }
            let report = report(update, since: age.since)
            if service != nil { findings = report.findings }
            ReportJSON.write(report, to: &line, knowing: &links)
        case .text(let style):
            var report = report(update, since: nil)
            if service != nil { findings = report.findings }
            if update.event == .initial {
                if report.links.isEmpty { report.links = firstLinks }
                line.append(StatusView.text(report, style))
                line.append("\n")
                log.remember(update.path)
            } else {
                line.append(log.line(report, time: Clock.localText(wall()), style))
                line.append("\n")
            }
        }
    }

    private func report(_ update: ReachabilityUpdate, since: WallTime?) -> Report {
        var report = Report(update, since: since, host: host)
        report.via = via
        report.add(findings)
        // A service that is about to handle the same change says nothing of it yet: the last findings stay.
        if let service { StatusQuery.adoptInternet(of: service, into: &report) }
        return report
    }

    /// Stores a printed update, for a later line about the internet, and empties the ``line``.
    ///
    /// Separate from `write`, since this takes time and the line should be printed first.
    mutating func remember(_ update: ReachabilityUpdate) {
        last = update
        links.keepText(of: line)
        line.trim()
    }

    /// Stores the links, for a later line about the internet: they change without an update of the path too.
    mutating func remember(_ links: [LinkReport]) {
        // In two steps: assigned through the optional, Swift 6.3 leaks the former links.
        guard var update = last.take() else { return }
        update.links = links
        last = update
    }

    /// Writes the ``line`` for what a running service reports of the internet, if it sees the same network.
    ///
    /// - Parameter reply: nil when the service is gone, and before the first update for what is known then.
    mutating func write(service reply: [UInt8]?, _ wall: () -> WallTime) {
        line.removeAll()
        service = reply
        if reply == nil { findings = nil }
        guard let last, let findings = report(last, since: nil).findings else { return }
        write(findings, boot: 0, wall)
    }

    /// Writes the ``line`` for what was found of the internet, once it is known.
    ///
    /// - Parameter boot: the boot clock.
    mutating func write(_ findings: InternetFindings, boot: Int64, _ wall: () -> WallTime) {
        line.removeAll()
        let former = self.findings
        self.findings = findings
        let changed = findings.changes(since: former).filter { !$0.isPreferred }
        // The first line has the initial state.
        guard let last, !statusOnly else { return }
        let state = findings.state.behind(last.path, last.status)
        let was = former?.state.behind(last.path, last.status)
        let isOfPath =
            was != state && (former != nil || state != .unknown)
            || former != nil && former?.portalURL != findings.portalURL
        guard isOfPath || !changed.isEmpty else { return }
        switch format {
        case .json:
            var report = report(last, since: age.since)
            report.change = Report.Change(event: .path, previous: last.status, isInternet: true)
            ReportJSON.write(report, to: &line)
        case .text(let style):
            var report = report(last, since: nil)
            report.boot = boot
            let words: [Style.Piece]
            if isOfPath {
                let former = was.map { $0 == .unknown ? "" : " (was \($0))" } ?? ""
                let sentence = report.internetSentence ?? state.explanation
                words = [("internet \(state)", state.tone), ("  \(sentence)", .plain), (former, .minor)]
            } else {
                let uplink = changed[0]
                let sentence = report.internetSentence.map { "  \($0)" } ?? ""
                words = [
                    ("internet \(uplink.state) on \(uplink.interface)", uplink.state.tone),
                    (sentence, .plain),
                ]
            }
            line.append(style.line([(Clock.localText(wall()), .minor), (" ", .plain)] + words, indent: 13))
            line.append("\n")
        }
    }
}
