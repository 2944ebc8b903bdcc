// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReachabilityCore
import ServiceCore
import Testing

@testable import reach

@Suite("JSON")
struct ReportJSONTests {
    private static let reports: [(name: String, report: Report)] = [
        ("wired", CannedReports.wired), ("hostile-wifi", CannedReports.hostileWiFi),
        ("rescue", CannedReports.rescue), ("unknown", CannedReports.unknown),
        (
            "explain",
            {
                var report = CannedReports.wired
                report.steps = CannedReports.steps
                return report
            }()
        ),
        (
            "event",
            {
                var report = CannedReports.rescue
                report.change = Report.Change(event: .status, previous: .wired)
                return report
            }()
        ),
        (
            "initial",
            {
                var report = CannedReports.wired
                report.change = Report.Change(event: .initial, previous: nil)
                return report
            }()
        ),
    ]

    @Test("UPL-248 what a link costs stands behind its internet, and in words where it costs")
    func cost() throws {
        var report = CannedReports.wired
        report.path.cost = NetworkCost(.yes, isRoaming: true, isConstrained: true)
        report.links = [
            LinkReport(
                name: "eth0", index: 2, medium: .ethernet, isOnline: true, reason: report.path.reason,
                cost: NetworkCost(.guessNo, isRoaming: true, isConstrained: true)),
            LinkReport(
                name: "eth1", index: 3, medium: .ethernet, isOnline: true, reason: report.path.reason,
                cost: NetworkCost(.guessNo)),
            LinkReport(
                name: "wwan0", index: 4, medium: .cellular, isOnline: false,
                reason: ReachabilityReason(.noRoute, interface: "wwan0", sentence: "wwan0 has no route"),
                cost: NetworkCost(.yes)),
        ]
        let text = String(decoding: line(report), as: UTF8.self)
        #expect(
            text.contains(
                #""internetReason":null,"metered":"guess-no","roaming":true,"constrained":true,"router":null,"portal":null},{"#
            ),
            "\(text)")
        #expect(
            text.contains(#","portal":null,"metered":"yes","roaming":"#)
                && text.contains(#""expensive":true,"#)
        )
        let lines = StatusView.text(report, Style()).split(separator: "\n").map(String.init)
        #expect(lines.first?.contains("(expensive, roaming, constrained)") == true, "\(lines)")
        #expect(lines.contains { $0.contains("eth0") && $0.hasSuffix("; expensive, roaming, constrained") })
        #expect(!lines.contains { $0.contains("eth1") && $0.contains("expensive") })
        // Without a path it costs nothing.
        #expect(lines.contains { $0.contains("wwan0") && !$0.contains("expensive") })
    }

    private func line(_ report: Report) -> [UInt8] {
        var line = TextLine()
        ReportJSON.write(report, to: &line)
        return line.bytes
    }

    private func object(_ report: Report) throws -> [String: Any] {
        let parsed = try JSONSerialization.jsonObject(with: Data(line(report)))
        return try #require(parsed as? [String: Any])
    }

    @Test("golden", arguments: reports.map(\.name))
    func golden(name: String) throws {
        let report = try #require(Self.reports.first { $0.name == name }).report
        let bytes = line(report)
        #expect(bytes.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        #expect(bytes.last == UInt8(ascii: "\n"))
        try Golden.check(String(decoding: bytes, as: UTF8.self), "report-\(name).json")
    }

    @Test("the fields of the contract come first and in its order")
    func order() throws {
        let text = String(decoding: line(CannedReports.wired), as: UTF8.self)
        let keys = [
            "schema", "status", "since", "interface", "medium", "online", "source", "gateway", "ssid",
            "signalDBm",
            "expensive", "tunnel", "generation", "reason", "alternative", "links", "internet",
        ]
        var position = text.startIndex
        for key in keys {
            let range = try #require(text.range(of: "\"\(key)\":", range: position..<text.endIndex), "\(key)")
            position = range.upperBound
        }
    }

    @Test("a field has one type, or is null where the contract allows it", arguments: reports.map(\.name))
    func types(name: String) throws {
        let object = try object(try #require(Self.reports.first { $0.name == name }).report)
        for key in ["status", "reason", "reasonCode"] { #expect(object[key] is String, "\(key)") }
        for key in ["online", "expensive", "tunnel", "partial", "stale"] {
            #expect(object[key] is Bool, "\(key)")
        }
        for key in ["links", "families"] { #expect(object[key] is [Any], "\(key)") }
        for key in [
            "since", "interface", "medium", "source", "gateway", "ssid", "alternative", "underlay", "host",
        ] {
            #expect(object[key] is String || object[key] is NSNull, "\(key)")
        }
        #expect(object["schema"] as? Int == 1)
        #expect(object["generation"] is Int)
        #expect(object["internet"] is NSNull)
    }

    @Test("text from outside is what it was, and harmless to look at")
    func escaping() throws {
        let object = try object(CannedReports.hostileWiFi)
        #expect(object["ssid"] as? String == CannedReports.hostileWiFi.path.ssid)
        let text = String(decoding: line(CannedReports.hostileWiFi), as: UTF8.self)
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || !SafeText.steers($0.value) })
    }

    @Test(
        "every character survives",
        arguments: [0..<0x300, 0x2000..<0x2100, 0xD700..<0xD800, 0x1F600..<0x1F610])
    func everyCharacter(range: Range<Int>) throws {
        var report = CannedReports.wired
        let scalars = range.compactMap { Unicode.Scalar(UInt32($0)) }
        report.path.ssid = String(String.UnicodeScalarView(scalars))
        let read = try #require(try object(report)["ssid"] as? String)
        #expect(Array(read.unicodeScalars) == scalars)
    }

    @Test("since is the time of the last change that was seen")
    func since() {
        var age = StatusAge()
        func update(_ event: ReachabilityUpdate.Event) -> ReachabilityUpdate {
            ReachabilityUpdate(event: event, status: .wired, previous: nil, path: ReachabilityPath())
        }
        age.observe(update(.initial), at: WallTime(nanoseconds: 1))
        #expect(age.since == nil)
        age.observe(update(.path), at: WallTime(nanoseconds: 2))
        #expect(age.since == nil)
        age.observe(update(.status), at: WallTime(nanoseconds: 3))
        age.observe(update(.path), at: WallTime(nanoseconds: 4))
        #expect(age.since == WallTime(nanoseconds: 3))
    }
}
