// SPDX-License-Identifier: Apache-2.0

import Reachability

/// Turns updates into the lines of `reach watch`; `reach replay` prints through it as well.
struct ReportLines: Sendable {
    /// How lines look.
    enum Format: Sendable, Hashable {
        case json
        case text(Style)
    }

    private let format: Format
    private let host: String?
    private let statusOnly: Bool
    private let firstLinks: [LinkReport]
    private var age = StatusAge()
    private var log: ChangeLog
    private var line = TextLine()

    /// - Parameters:
    ///   - firstLinks: The links to show in the first view, where updates do not carry them.
    ///   - isPresent: Whether there is an interface of that name; nil where updates carry the links.
    init(
        format: Format, host: String?, lossGrace: Duration, statusOnly: Bool, firstLinks: [LinkReport] = [],
        isPresent: (@Sendable (String) -> Bool)? = nil
    ) {
        self.firstLinks = firstLinks
        self.format = format
        self.host = host
        self.statusOnly = statusOnly
        log = ChangeLog(lossGrace: lossGrace, isPresent: isPresent)
    }

    /// The bytes to print for an update, with line feeds; empty where nothing is to be printed.
    ///
    /// - Parameter wall: Reads the wall clock; called only where the time is printed.
    mutating func bytes(_ update: ReachabilityUpdate, _ wall: () -> WallTime) -> [UInt8] {
        if update.event == .path, statusOnly {
            log.remember(update.path)
            return []
        }
        line.removeAll()
        switch format {
        case .json:
            if update.event != .path { age.observe(update, at: wall()) }
            ReportJSON.write(Report(update, since: age.since, host: host), to: &line)
        case .text(let style):
            var report = Report(update, since: nil, host: host)
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
        return line.bytes
    }
}
