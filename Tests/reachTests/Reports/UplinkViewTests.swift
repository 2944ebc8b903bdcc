// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

@testable import reach

/// What `reach status` and `reach watch` show of the internet behind each uplink.
struct UplinkViewTests {
    private static let second: Int64 = 1_000_000_000

    private static func uplink(
        _ name: String, _ state: InternetState, _ reason: String, isPreferred: Bool = false,
        router: UplinkRouter? = nil, since: Int64 = 100
    ) -> UplinkInternet {
        UplinkInternet(
            interface: name, isPreferred: isPreferred,
            InternetAnswer(state, reason, isSilence: state == .limited),
            wall: CannedReports.moment.nanoseconds, boot: since * second, router: router)
    }

    private static let wlan0 = CannedReports.link(
        "wlan0", 3, .wifi, online: true, .defaultRoute, "default route via 10.0.0.1 on wlan0 (metric 600)")

    private static func report(_ uplinks: [UplinkInternet]) -> Report {
        var report = CannedReports.wired
        report.links = [CannedReports.eth0, wlan0]
        report.internet = uplinks.first(where: \.isPreferred)?.state
        report.uplinks = uplinks
        report.boot = 112 * second
        return report
    }

    private static let deadLine = [
        uplink(
            "eth0", .limited, "no answer in 10 s", isPreferred: true,
            router: UplinkRouter(address: "192.0.2.1", standing: .answers)),
        uplink("wlan0", .full, "204 from https://example.com/"),
    ]

    @Test("UPL-106 status has the state of each uplink in its line, and one sentence")
    func status() {
        let text = StatusView.text(Self.report(Self.deadLine), Style())
        #expect(
            text.contains(
                """
                  internet: limited: there is a path, but the server does not answer as it should
                  eth0: the router 192.0.2.1 answers, the line behind it does not, for 12 s; wlan0 has internet

                """), "\(text)")
        #expect(text.contains("  internet limited; in use, 192.0.2.2/24"), "\(text)")
        #expect(text.contains("  internet full; default route via 10.0.0.1"), "\(text)")
        for width in [40, 60, 80] {
            let lines = StatusView.text(Self.report(Self.deadLine), Style(width: width)).split(
                separator: "\n")
            #expect(lines.allSatisfy { SafeText.width(String($0)) <= width })
        }
    }

    @Test("UPL-449 What a running service has found is told as such")
    func adopted() {
        var report = Self.report(Self.deadLine)
        report.adoptedSentence = "eth0: no answer, for 3 min"
        let text = StatusView.text(report, Style())
        #expect(
            text.contains(
                "as it should (found by the service)\n  eth0: no answer, for 3 min\n"), "\(text)")
        report.adoptedSentence = ""
        #expect(StatusView.text(report, Style()).contains("as it should (found by the service)\n\n"))
    }

    @Test("UPL-106 one uplink that works needs no sentence, and without a probe nothing is said")
    func alone() {
        let text = StatusView.text(
            Self.report([Self.uplink("eth0", .full, "204 from https://example.com/", isPreferred: true)]),
            Style())
        #expect(text.contains("internet: full: the server answers\n"))
        #expect(!text.contains("has internet"))
        let beside = Self.report([
            Self.uplink("eth0", .full, "204", isPreferred: true),
            Self.uplink("wlan0", .unknown, "not asked: its traffic costs"),
        ])
        #expect(!StatusView.text(beside, Style()).contains("internet unknown"))
        var bare = Self.report([])
        bare.internet = nil
        #expect(!StatusView.text(bare, Style()).contains("internet"))
    }

    @Test("FLD-104 without a path there is no internet behind it, though another uplink has")
    func alternative() {
        var report = CannedReports.rescue
        report.internet = .full
        report.uplinks = [Self.uplink("wlan0", .full, "204 from https://example.com/", isPreferred: true)]
        let text = StatusView.text(report, Style())
        #expect(text.contains("internet: none: there is no path\n  wlan0 has internet\n"), "\(text)")
        func none() -> Int {
            var line = TextLine()
            ReportJSON.write(report, to: &line)
            return line.text.components(separatedBy: #""internet":"none""#).count - 1
        }
        // That of the path, and that of eth0.
        #expect(none() == 2)
        // The probe has not heard of the loss yet.
        report.uplinks.append(Self.uplink("eth0", .full, "204"))
        #expect(report.internetSentence == "wlan0 has internet")
        #expect(none() == 2)
    }

    @Test("FLD-105 beside a service that reports the same change a moment later, watch keeps what is known")
    func serviceIsLater() throws {
        func reply(_ report: Report) -> [UInt8] {
            var line = TextLine()
            ReportJSON.write(report, to: &line)
            return Array(#"{"parameters":\#(line.text)}"#.utf8)
        }
        let known = [
            Self.uplink("eth0", .full, "204", isPreferred: true), Self.uplink("wlan0", .full, "204"),
        ]
        for format in [ReportLines.Format.json, .text(Style())] {
            var lines = ReportLines(
                format: format, host: nil, lossGrace: .milliseconds(500), statusOnly: false)
            func write(_ update: ReachabilityUpdate) -> String {
                lines.write(update) { CannedReports.moment }
                defer { lines.remember(update) }
                return lines.line.text
            }
            func hear(_ report: Report) -> String {
                lines.write(service: reply(report)) { CannedReports.moment }
                return lines.line.text
            }
            #expect(hear(Self.report(known)) == "")
            let first = write(
                ReachabilityUpdate(
                    event: .initial, status: .wired, previous: nil, path: CannedReports.wired.path,
                    links: [CannedReports.eth0, Self.wlan0]))
            #expect(first.contains(format == .json ? #""internet":"full""# : "internet: full"))
            let rescue = CannedReports.rescue
            let lost = write(
                ReachabilityUpdate(
                    event: .path, status: .wired, previous: .wired, path: rescue.path, links: rescue.links))
            if format == .json { #expect(lost.contains(#"],"internet":"none""#), "\(lost)") }
            var later = Report(status: .wired, path: rescue.path, links: rescue.links)
            (later.internet, later.uplinks) = (.full, known)
            #expect(hear(later) == "", "nothing has changed but what watch has printed")
            // Found out since.
            later.uplinks[1] = Self.uplink("wlan0", .portal, "302")
            #expect(hear(later).contains("portal"))
        }
    }

    private func lines(_ format: ReportLines.Format, statusOnly: Bool = false) -> ReportLines {
        var lines = ReportLines(
            format: format, host: nil, lossGrace: .milliseconds(500), statusOnly: statusOnly)
        let update = ReachabilityUpdate(
            event: .initial, status: .wired, previous: nil, path: CannedReports.wired.path,
            links: [CannedReports.eth0, Self.wlan0])
        lines.write(update) { CannedReports.moment }
        lines.remember(update)
        return lines
    }

    private func findings(_ eth0: InternetState, _ wlan0: InternetState) -> InternetFindings {
        InternetFindings(
            eth0,
            uplinks: [
                Self.uplink("eth0", eth0, eth0 == .unknown ? "" : "evidence", isPreferred: true),
                Self.uplink("wlan0", wlan0, wlan0 == .unknown ? "" : "evidence"),
            ])
    }

    @Test("UPL-107 watch has a line for each change of an uplink, and none for what is not known yet")
    func watch() {
        var lines = lines(.text(Style()))
        func line(_ eth0: InternetState, _ wlan0: InternetState) -> String {
            lines.write(findings(eth0, wlan0), boot: 112 * Self.second) { CannedReports.moment }
            // Without the local time.
            return String(lines.line.text.dropFirst(13))
        }
        #expect(line(.unknown, .unknown) == "")
        #expect(line(.unknown, .full) == "internet full on wlan0  wlan0 has internet\n")
        #expect(line(.full, .full) == "internet full  eth0 has internet; wlan0 has internet\n")
        #expect(line(.full, .full) == "")
        #expect(
            line(.full, .limited)
                == "internet limited on wlan0  eth0 has internet; wlan0: evidence, for 12 s\n")
        #expect(
            line(.limited, .full)
                == "internet limited  eth0: evidence, for 12 s; wlan0 has internet (was full)\n")
        // Another address to sign in alone is news.
        var portal = findings(.portal, .full)
        lines.write(portal, boot: 0) { CannedReports.moment }
        for address in ["http://a.example/", "http://b.example/"] {
            portal.portalURL = URL(string: address)
            lines.write(portal, boot: 0) { CannedReports.moment }
            #expect(lines.line.text.contains("internet portal"))
        }
        lines.write(portal, boot: 0) { CannedReports.moment }
        #expect(lines.line.text.isEmpty)
        var silent = self.lines(.text(Style()), statusOnly: true)
        silent.write(findings(.full, .full), boot: 0) { CannedReports.moment }
        #expect(silent.line.text.isEmpty)
    }

    @Test("UPL-107 as JSON it is the event internet, with the links as they are now")
    func json() {
        var lines = lines(.json)
        lines.write(findings(.unknown, .unknown), boot: 0) { CannedReports.moment }
        #expect(lines.line.text.isEmpty)
        lines.write(findings(.unknown, .portal), boot: 0) { CannedReports.moment }
        let text = lines.line.text
        #expect(text.contains(#""internet":"unknown","event":"internet","previous":"wired""#), "\(text)")
        #expect(
            text.contains(
                #""internet":"portal","internetSince":"2026-01-02T03:04:05.678Z","internetReason":"evidence","metered":"unknown""#
            ), "\(text)")
    }

    @Test("UPL-108 doctor: an uplink beside the path in use is a note and no cause")
    func doctor() {
        let router = UplinkRouter(address: "10.0.0.1", standing: .silent)
        let bad = DiagnosisRules.uplink(Self.uplink("wlan0", .limited, "no answer in 10 s", router: router))
        #expect(bad.verdict == .doubtful)
        #expect(bad.sentence == "wlan0: the router 10.0.0.1 does not answer")
        let good = DiagnosisRules.uplink(Self.uplink("wlan0", .full, "204 from https://example.com/"))
        #expect(good == .good(.uplink, "wlan0: 204 from https://example.com/"))
        let diagnosis = Diagnosis(findings: [.good(.path, "a way"), bad])
        #expect(diagnosis.cause == nil)
        #expect(diagnosis.remark == bad)
        let both = Diagnosis(findings: [.failed(.connection, "none", try: "this"), bad])
        #expect(both.cause?.check == .connection)
        #expect(
            DiagnosisPrinter.conclusion(diagnosis, Style()).contains("nothing is wrong\nnote:  wlan0 does"))
    }
}
