// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

@Suite("History: the line behind the router")
struct InternetHistoryTests {
    private static func uplink(
        _ name: String, _ state: InternetState, _ reason: String = "", isPreferred: Bool = false
    ) -> UplinkInternet {
        UplinkInternet(
            interface: name, isPreferred: isPreferred, InternetAnswer(state, reason), wall: 0, boot: 0)
    }

    private static func change(_ internet: InternetState?, _ uplinks: UplinkInternet...) -> CommittedChange {
        var change = CommittedChange.at(0, .wired)
        change.internet = internet
        change.uplinks = uplinks
        return change
    }

    private static func line(
        _ second: Int64, _ state: InternetState, _ interface: String?, reason: String = "evidence"
    ) -> HistoryRecord {
        HistoryRecord(
            state, behind: interface, reason: reason, run: 1, wall: .at(second), boot: second * 1_000_000_000)
    }

    @Test(
        "UPL-263 A state is stored when it is another than the one before, and an uplink that goes as unknown"
    )
    func stored() {
        var history = InternetHistory()
        var second: Int64 = 0
        func records(_ change: CommittedChange) -> [String] {
            second += 1
            let records = history.records(change, wall: .at(second), boot: second)
            #expect(records.allSatisfy { $0.wall == .at(second) && $0.boot == second })
            return records.map { "\($0.interface ?? "path") \($0.internet?.rawValue ?? "-") \($0.reason)" }
        }
        let asked = Self.uplink("eth0", .unknown, isPreferred: true)
        #expect(records(Self.change(.unknown, asked)) == [])
        let full = Self.uplink("eth0", .full, "204", isPreferred: true)
        #expect(
            records(Self.change(.full, full, Self.uplink("wwan0", .unknown))) == [
                "path full 204", "eth0 full 204",
            ])
        // The evidence alone is no change.
        let again = Self.uplink("eth0", .full, "200", isPreferred: true)
        #expect(
            records(Self.change(.full, again, Self.uplink("wwan0", .portal, "302"))) == ["wwan0 portal 302"])
        let dead = Self.uplink("eth0", .limited, "no answer", isPreferred: true)
        #expect(
            records(Self.change(.limited, dead)) == [
                "path limited no answer", "eth0 limited no answer", "wwan0 unknown no uplink any more",
            ])
        #expect(
            records(Self.change(InternetState.none)) == ["path none ", "eth0 unknown no uplink any more"])
        #expect(records(Self.change(nil)) == ["path unknown not asked any more"])
        #expect(records(Self.change(nil)) == [])
        #expect(records(Self.change(.full, full)) == ["path full 204", "eth0 full 204"])
        // The probe asks over an alternative while there is no path.
        var lost = CommittedChange.at(9, .unreachable, was: .wired)
        (lost.internet, lost.uplinks) = (.full, [full])
        #expect(records(lost) == ["path none "])
        #expect(records(Self.change(.full, full)) == ["path full 204"])
    }

    /// A path that is lost for 10 s of 100, over a line that is dead for 20 s and asks to sign in for 5.
    private static let timeline = HistoryTimeline(
        runs: [.from(0, seen: 100)],
        records: [
            .at(0, .wired), .at(80, .unreachable), .at(90, .wired),
            line(0, .full, nil), line(0, .full, "eth0"), line(10, .limited, "wwan0"),
            line(20, .limited, nil), line(20, .limited, "eth0", reason: "no answer in 10 s"),
            line(40, .portal, nil), line(40, .portal, "eth0"), line(45, .full, nil), line(45, .full, "eth0"),
            line(60, .unknown, "wwan0"), line(80, .none, nil), line(80, .none, "eth0"),
            line(90, .full, nil), line(90, .full, "eth0"),
        ],
        from: .at(0), to: .at(100))

    @Test("UPL-264 Availability of the line beside that of the path, over the same windows")
    func availability() throws {
        let timeline = Self.timeline
        #expect(HistorySummary(timeline).availability == 900_000)
        #expect(timeline.lines.map(\.interface) == [nil, "eth0", "wwan0"])
        let summaries = timeline.lines.map { HistorySummary($0.timeline) }
        // Behind the path in use there was no internet while there was no path.
        #expect(summaries.map(\.availability) == [650_000, 722_222, 0])
        #expect(summaries.map(\.outages) == [2, 1, 1])
        #expect(summaries.map(\.unknown) == [.zero, .seconds(10), .seconds(40)])
        #expect(summaries.map(\.gap) == [.zero, .zero, .seconds(10)])
        #expect(summaries[1].longest?.record?.reason == "no answer in 10 s")
        let window = timeline.lines.map {
            HistorySummary($0.timeline, from: .at(30), to: .at(50)).availability
        }
        #expect(window == [250_000, 250_000, 0])
        #expect(
            HistoryTimeline(
                runs: [.from(0, seen: 100)], records: [.at(0, .wired)], from: .at(0), to: .at(100)
            ).lines.isEmpty)
    }

    @Test("UPL-265 JSON: the internet of the whole time and of each period, and every change")
    func json() throws {
        var line = TextLine()
        let period = HistorySummary(Self.timeline, from: .at(30), to: .at(50))
        HistoryJSON.write(Self.timeline, periods: [period], to: &line)
        let json = try JSONValue(parsing: .init(line.bytes))
        #expect(json["availability"]?.double == 0.9)
        #expect(json["internet"]?["availability"]?.double == 0.65)
        #expect(json["internet"]?["unreachableMilliseconds"]?.double == 35_000)
        #expect(json["uplinks"]?.array?.map { $0["interface"]?.string } == ["eth0", "wwan0"])
        #expect(json["uplinks"]?.array?.first?["outages"]?.double == 1)
        #expect(json["uplinks"]?.array?.first?["longestOutage"]?["status"]?.string == "limited")
        let first = json["periods"]?.array?.first
        #expect(first?["availability"]?.double == 1)
        #expect(first?["internet"]?["availability"]?.double == 0.25)
        #expect(first?["uplinks"]?.array?.map { $0["availability"]?.double } == [0.25, 0])
        let changes = try #require(json["internetChanges"]?.array)
        #expect(changes.count == 14)
        let times = changes.compactMap { $0["time"]?.string }
        #expect(times.count == 14 && times == times.sorted())
        let reported = changes.first { $0["reason"]?.string == "no answer in 10 s" }
        #expect(reported?["interface"]?.string == "eth0" && reported?["state"]?.string == "limited")
        #expect(reported?["time"]?.string == WallTime.at(20).text)
        #expect(json["changes"]?.array?.count == 3)
    }

    @Test("UPL-266 The periods of a service's lines make the same time lines")
    func periods() throws {
        func period(_ field: String, _ value: String, _ interface: String?, _ since: Int64, _ until: Int64?)
            throws
            -> HistoryPeriod
        {
            try #require(
                HistoryPeriod([
                    field: .string(value), "since": .string(WallTime.at(since).text),
                    "until": until.map { .string(WallTime.at($0).text) } ?? .null,
                    "interface": interface.map { .string($0) } ?? .null, "reason": "evidence",
                ]))
        }
        let timeline = HistoryTimeline(
            periods: [
                try period("status", "wired", "eth0", 0, nil),
                try period("internet", "full", nil, 0, 40), try period("internet", "limited", nil, 40, nil),
                try period("internet", "full", "eth0", 10, 40),
                try period("internet", "limited", "eth0", 50, nil),
            ], from: .at(0), to: .at(100))
        #expect(HistorySummary(timeline).availability == 1_000_000)
        #expect(timeline.lines.map { HistorySummary($0.timeline).availability } == [400_000, 375_000])
        #expect(timeline.lines.map { HistorySummary($0.timeline).gap } == [.zero, .seconds(20)])
        #expect(timeline.changes.count == 1)
        #expect(HistoryPeriod(["internet": "loud", "since": "2026-01-02T00:00:00Z"]) == nil)
    }
}
