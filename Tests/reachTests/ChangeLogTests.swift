// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

@testable import reach

@Suite("The lines of watch for people")
struct ChangeLogTests {
    private func update(
        _ event: ReachabilityUpdate.Event, _ report: Report, status: ReachabilityStatus? = nil,
        previous: ReachabilityStatus?, _ change: (inout ReachabilityPath) -> Void = { _ in }
    ) -> Report {
        var path = report.path
        change(&path)
        return Report(
            ReachabilityUpdate(event: event, status: status ?? report.status, previous: previous, path: path),
            since: nil, host: report.host)
    }

    private func offline(_ path: inout ReachabilityPath) {
        path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.reason = ReachabilityReason(.linkDown, interface: "eth0", sentence: "eth0: no carrier")
    }

    @Test(
        "golden",
        arguments: [("plain", Style()), ("color", Style(hasColor: true)), ("ascii", Style(isUnicode: false))])
    func golden(name: String, style: Style) throws {
        var log = ChangeLog(lossGrace: .milliseconds(500))
        let wired = CannedReports.wired
        let reports = [
            update(.initial, wired, previous: nil),
            update(.path, wired, previous: .wired, offline),
            update(.path, wired, previous: .wired),
            update(.path, wired, previous: .wired, offline),
            update(.status, wired, status: .unreachable, previous: .wired, offline),
            update(.path, CannedReports.rescue, previous: .unreachable),
            update(.path, wired, status: .unreachable, previous: .unreachable),
            update(.status, wired, previous: .unreachable),
            update(.path, wired, previous: .wired) { $0.generation += 1 },
            update(.path, wired, previous: .wired) {
                $0.interface = "eth1"
                $0.source = IPAddress("198.51.100.2")
                $0.gateway = nil
                $0.families = [.ipv4]
            },
            update(.path, wired, previous: .wired, offline),
            update(.status, CannedReports.hostileWiFi, previous: .wired),
            update(.status, CannedReports.unknown, previous: .wifi),
        ]
        var text = ""
        for report in reports { text += log.line(report, time: "12:03:04.123", style) + "\n" }
        try Golden.check(text, "watch-\(name).txt")
    }
}
