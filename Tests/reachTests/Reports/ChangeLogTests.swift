// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
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
        arguments: [
            ("plain", Style()), ("color", Style(hasColor: true)), ("ascii", Style(isUnicode: false)),
            ("60", Style(width: 60)), ("60-color", Style(hasColor: true, width: 60)),
            ("80", Style(width: 80)), ("40", Style(width: 40)), ("20", Style(width: 20)),
            ("dumb", Style(hasMarks: false)),
        ])
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
        if let width = style.width, width >= 40, !style.hasColor {
            #expect(text.split(separator: "\n").allSatisfy { SafeText.width(String($0)) <= width })
        }
    }

    @Test(
        "sixty links: the first view counts what says nothing, and changes name one link each",
        arguments: [80, 40])
    func sixtyLinks(width: Int) throws {
        let style = Style(width: width)
        let sixty = CannedReports.sixtyLinks
        var lines = ReportLines(
            format: .text(style), host: nil, lossGrace: .milliseconds(500), statusOnly: false,
            firstLinks: sixty.links)
        lines.write(
            ReachabilityUpdate(event: .initial, status: sixty.status, previous: nil, path: sixty.path)
        ) { CannedReports.moment }
        var text = lines.line.text
        var log = ChangeLog(lossGrace: .milliseconds(500))
        log.remember(sixty.path)
        for (event, status) in [(.path, .unreachable), (.status, .wired), (.path, .wired)]
            as [(ReachabilityUpdate.Event, ReachabilityStatus)]
        {
            let report = update(event, CannedReports.wired, status: status, previous: .unreachable) {
                if event == .path, status == .wired { offline(&$0) }
            }
            text += log.line(report, time: "12:03:04.123", style) + "\n"
        }
        try Golden.check(text, "watch-sixty-links-\(width).txt")
        #expect(text.split(separator: "\n").allSatisfy { SafeText.width(String($0)) <= width })
    }

    @Test("FLD-069 where only the reason is another one, its sentence is the line")
    func otherReason() {
        var log = ChangeLog(lossGrace: .milliseconds(500))
        let wired = CannedReports.wired
        log.remember(wired.path)
        let online = update(.path, wired, previous: .wired) {
            $0.reason = ReachabilityReason(
                .hostRoute, interface: "eth0", sentence: "route to the host on eth0")
        }
        #expect(
            log.line(online, time: "12:03:04.123", Style()) == "12:03:04.123 path  route to the host on eth0")
        log.remember(update(.status, wired, status: .unreachable, previous: .wired, offline).path)
        let refused = update(.path, wired, status: .unreachable, previous: .unreachable) { path in
            offline(&path)
            path.reason = ReachabilityReason(
                .prohibited, sentence: "a route or rule of type prohibit refuses it")
        }
        #expect(
            log.line(refused, time: "12:03:04.123", Style())
                == "12:03:04.123 a route or rule of type prohibit refuses it")
    }

    @Test("an interface that was deleted is said to be gone, however its absence is known")
    func gone() {
        func lines(isPresent: (@Sendable (String) -> Bool)?, links: [LinkReport]) -> [String] {
            var log = ChangeLog(lossGrace: .milliseconds(500), isPresent: isPresent)
            log.remember(CannedReports.wired.path)
            var lost = CannedReports.wired
            lost.links = links
            lost.path = ReachabilityPath()
            lost.path.instantStatus = .unreachable
            lost.path.reason = ReachabilityReason(
                .linkDown, interface: "br0", sentence: "br0 is switched off")
            lost.change = Report.Change(event: .path, previous: .wired)
            var reported = lost
            reported.status = .unreachable
            reported.change = Report.Change(event: .status, previous: .wired)
            return [lost, reported].map { log.line($0, time: "12:03:04.123", Style()) }
        }
        let gone = [
            "12:03:04.123 eth0 is gone – status follows in 500 ms",
            "12:03:04.123 unreachable  eth0 is gone; br0 is switched off (was wired)",
        ]
        let there = [
            "12:03:04.123 br0 is switched off – status follows in 500 ms (was on eth0)",
            "12:03:04.123 unreachable  br0 is switched off (was wired on eth0)",
        ]
        #expect(lines(isPresent: { $0 != "eth0" }, links: []) == gone)
        #expect(lines(isPresent: nil, links: [CannedReports.wlan0]) == gone)
        #expect(lines(isPresent: { $0 == "eth0" }, links: []) == there)
        #expect(lines(isPresent: nil, links: [CannedReports.eth0, CannedReports.wlan0]) == there)
    }

    @Test("this machine's interfaces")
    func names() {
        #expect(InterfaceName.exists("lo"))
        #expect(!InterfaceName.exists("nosuch0"))
        #expect(InterfaceName.exists("v\u{FFFD}"), "who knows: its bytes are gone")
    }
}
