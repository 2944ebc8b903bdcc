// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

@Suite("History: what is made of what was kept")
struct HistoryTests {
    private func spans(_ timeline: HistoryTimeline) -> [String] {
        timeline.spans.map { span in
            let origin = WallTime.at(0).nanoseconds
            return
                "\((span.from.nanoseconds - origin) / 1_000_000_000)-\((span.to.nanoseconds - origin) / 1_000_000_000) "
                + "\(span.state)"
        }
    }

    @Test("one run: spans follow each other, the same status is one span")
    func oneRun() {
        let timeline = HistoryTimeline(
            runs: [.from(10, seen: 100)],
            records: [
                .at(10, .wired), .at(20, .wired), .at(30, .wifi), .at(50, .unreachable), .at(60, .unknown),
                .at(70, .wired),
            ],
            from: .at(0), to: .at(120))
        #expect(
            spans(timeline) == [
                "0-10 gap", "10-30 reachable", "30-50 reachable", "50-60 unreachable", "60-70 unknown",
                "70-100 reachable",
                "100-120 gap",
            ])
        let summary = HistorySummary(timeline)
        #expect(summary.reachable == .seconds(70))
        #expect(summary.unreachable == .seconds(10))
        #expect(summary.unknown == .seconds(10))
        #expect(summary.gap == .seconds(30))
        #expect(summary.availability == 875_000)
        #expect(summary.availabilityText == "87.50 %")
        #expect(summary.outages == 1)
        // An unknown status followed, and not the network's return.
        #expect(summary.flaps == 0)
    }

    @Test("a service's periods make the same time line, with the gaps between them")
    func periods() throws {
        func period(_ status: String, _ since: Int64, _ until: Int64?) throws -> HistoryPeriod {
            try #require(
                HistoryPeriod([
                    "status": .string(status), "since": .string(WallTime.at(since).text),
                    "until": until.map { .string(WallTime.at($0).text) } ?? .null, "interface": "eth0",
                    "reason": "because",
                ]))
        }
        let timeline = HistoryTimeline(
            periods: [
                try period("wired", 10, 30), try period("unreachable", 30, 40), try period("wifi", 60, nil),
            ], from: .at(20), to: .at(100))
        #expect(spans(timeline) == ["20-30 reachable", "30-40 unreachable", "40-60 gap", "60-100 reachable"])
        #expect(timeline.changes.map(\.status) == [.unreachable, .wifi])
        #expect(timeline.spans.last?.record?.reason == "because")
        #expect(HistoryPeriod(["status": "loud", "since": "2026-01-02T00:00:00Z"]) == nil)
    }

    @Test("a current run lasts until now; one that was killed until its last sign of life")
    func running() {
        let records: [HistoryRecord] = [.at(0, .wired, run: 1), .at(60, .unreachable, run: 2)]
        let runs: [HistoryRun] = [
            .from(0, seen: 20, id: 1, ended: false), .from(60, seen: 60, id: 2, ended: false),
        ]
        let live = HistoryTimeline(runs: runs, records: records, from: .at(0), to: .at(100), running: 2)
        #expect(spans(live) == ["0-20 reachable", "20-60 gap", "60-100 unreachable"])
        let dead = HistoryTimeline(runs: runs, records: records, from: .at(0), to: .at(100))
        #expect(spans(dead) == ["0-20 reachable", "20-100 gap"])
    }

    @Test("the state before the period reaches into it, and later ones are cut off")
    func clipped() {
        let timeline = HistoryTimeline(
            runs: [.from(0, seen: 500)], records: [.at(0, .wired), .at(90, .unreachable), .at(200, .wired)],
            from: .at(80), to: .at(150))
        #expect(spans(timeline) == ["80-90 reachable", "90-150 unreachable"])
        #expect(timeline.changes.map(\.id) == [90])
        #expect(HistorySummary(timeline).longest?.duration == .seconds(60))
    }

    @Test("a clock that is set later moves the whole run")
    func clockSet() {
        // The device's clock started in 1970; a time server corrected it at second 30.
        let records: [HistoryRecord] = [
            .at(10, .unreachable, wall: -1_000_000), .at(20, .wired, wall: -999_990), .at(40, .unreachable),
        ]
        let timeline = HistoryTimeline(
            runs: [.from(10, seen: 50)], records: records, from: .at(0), to: .at(50))
        #expect(spans(timeline) == ["0-10 gap", "10-20 unreachable", "20-40 reachable", "40-50 unreachable"])
        #expect(timeline.changes.map(\.wall) == [.at(10), .at(20), .at(40)])
    }

    @Test("runs whose clocks overlap do not count twice")
    func overlapping() {
        let timeline = HistoryTimeline(
            runs: [.from(0, seen: 50, id: 1), .from(40, seen: 90, id: 2)],
            records: [.at(0, .wired, run: 1), .at(40, .unreachable, run: 2), .at(60, .wired, run: 2)],
            from: .at(0), to: .at(90))
        #expect(spans(timeline) == ["0-50 reachable", "50-60 unreachable", "60-90 reachable"])
    }

    @Test("nothing kept is one gap, of which nothing is known")
    func empty() {
        let timeline = HistoryTimeline(runs: [], records: [], from: .at(0), to: .at(10))
        #expect(spans(timeline) == ["0-10 gap"])
        let summary = HistorySummary(timeline)
        #expect(summary.availability == nil)
        #expect(summary.availabilityText == "–")
    }

    @Test("a flap is an outage that is over within a minute")
    func flaps() {
        let timeline = HistoryTimeline(
            runs: [.from(0, seen: 1000)],
            records: [
                .at(0, .wired), .at(100, .unreachable), .at(159, .wired), .at(300, .unreachable),
                .at(360, .wifi),
                .at(900, .unreachable),
            ], from: .at(0), to: .at(1000))
        let summary = HistorySummary(timeline)
        #expect(summary.outages == 3)
        #expect(summary.flaps == 1)
        #expect(summary.longest?.from == .at(900))
        // A part of a longer outage is no flap.
        let part = HistorySummary(timeline, from: .at(350), to: .at(400))
        #expect((part.outages, part.flaps) == (1, 0))
        #expect(part.unreachable == .seconds(10))
    }

    @Test("a hundred per cent means no outage at all, in a hundred years as well")
    func rounding() {
        let year: Int64 = 31_557_600
        let timeline = HistoryTimeline(
            runs: [.from(0, seen: 100 * year)],
            records: [.at(0, .wired), .at(10, .unreachable), .at(11, .wired)],
            from: .at(0), to: .at(100 * year))
        #expect(HistorySummary(timeline).availabilityText == "99.99 %")
        #expect(HistorySummary(timeline, from: .at(20), to: .at(30)).availabilityText == "100 %")
        #expect(HistorySummary(timeline, from: .at(10), to: .at(11)).availabilityText == "0.00 %")
    }

    @Test("as much time as wall times can tell apart is summed up without overflow")
    func widest() throws {
        let first = try #require(WallTime("1678-01-01T00:00:00Z"))
        let last = try #require(WallTime("2261-12-31T23:59:59Z"))
        for to in [WallTime.at(100), last] {
            let timeline = HistoryTimeline(
                runs: [.from(0, seen: 50)], records: [.at(0, .wired), .at(40, .unreachable)], from: first,
                to: to)
            let summary = HistorySummary(timeline)
            #expect(summary.reachable == .seconds(40) && summary.unreachable == .seconds(10))
            #expect(summary.availability == 800_000)
            // 348 years until 2026, and 583 of all.
            let gap = summary.gap.components.seconds / 31_556_952
            #expect(gap == (to == last ? 583 : 348))
            let bar = HistoryCell.bar(timeline, from: first, to: to, columns: 60)
            #expect(bar.count == 60)
            #expect(bar.count { $0 == .partly } == 1 && bar.count { $0 == .gap } == 59)
            var line = TextLine()
            HistoryJSON.write(timeline, periods: [summary], to: &line)
            #expect(line.text.contains("\"gapMilliseconds\":\(gap == 583 ? "1842" : "1098")"), "\(line.text)")
        }
    }

    @Test("moments beyond the last one are the last one")
    func edges() throws {
        #expect(WallTime.at(0).moved(by: .max) == WallTime(nanoseconds: .max))
        #expect(WallTime(nanoseconds: -5).moved(by: .min) == WallTime(nanoseconds: .min))
        #expect(WallTime.at(0).moved(by: -1_000_000_000) == .at(-1))
        #expect(WallTime(seconds: -10_000_000_000) == WallTime(nanoseconds: .min))
        #expect(WallTime(seconds: 7).nanoseconds == 7_000_000_000)
        let edges = WallTime(nanoseconds: .min).edges(to: WallTime(nanoseconds: .max), count: 4)
        #expect(edges.count == 5 && edges == edges.sorted())
        #expect(edges.first == WallTime(nanoseconds: .min))
    }

    @Test("a column shows the worst, and whether that was all")
    func bar() {
        let timeline = HistoryTimeline(
            runs: [.from(10, seen: 80)],
            records: [
                .at(10, .wired), .at(25, .unreachable), .at(40, .wired), .at(50, .unknown), .at(60, .wired),
            ],
            from: .at(0), to: .at(90))
        #expect(
            HistoryCell.bar(timeline, from: .at(0), to: .at(90), columns: 9)
                == [
                    .gap, .reachable, .partly, .unreachable, .reachable, .unknown, .reachable, .reachable,
                    .gap,
                ])
    }

    @Test("one outage of a second shows in a bar of a year")
    func needle() {
        let timeline = HistoryTimeline(
            runs: [.from(0, seen: 31_536_000)],
            records: [.at(0, .wired), .at(10_000_000, .unreachable), .at(10_000_001, .wired)], from: .at(0),
            to: .at(31_536_000))
        let bar = HistoryCell.bar(timeline, from: .at(0), to: .at(31_536_000), columns: 60)
        #expect(bar.count { $0 == .partly } == 1)
        #expect(bar.count { $0 == .reachable } == 59)
    }

    @Test("JSON")
    func json() {
        let timeline = HistoryTimeline(
            runs: [.from(10, seen: 40)],
            records: [
                .at(10, .wired), .at(20, .unreachable, reason: "eth0: \"no\" carrier"), .at(25, .wired),
            ],
            from: .at(0), to: .at(40))
        var line = TextLine()
        HistoryJSON.write(
            timeline, periods: [HistorySummary(timeline, from: .at(0), to: .at(20))], to: &line)
        let day = "2026-01-02T00:00:"
        let outage =
            "{\"since\":\"\(day)20.000Z\",\"until\":\"\(day)25.000Z\",\"milliseconds\":5000,\"status\":\"unreachable\","
            + "\"reason\":\"eth0: \\\"no\\\" carrier\"}"
        let text = line.text
        #expect(
            text.hasPrefix(
                "{\"schema\":1,\"since\":\"\(day)00.000Z\",\"until\":\"\(day)40.000Z\",\"availability\":0.833333,"
                    + "\"reachableMilliseconds\":25000,\"unreachableMilliseconds\":5000,\"unknownMilliseconds\":0,"
                    + "\"gapMilliseconds\":10000,\"outages\":1,\"flaps\":1,\"longestOutage\":\(outage),\"periods\":["
                    + "{\"since\":\"\(day)00.000Z\",\"until\":\"\(day)20.000Z\",\"availability\":1.000000,"))
        #expect(
            text.contains(
                "\"spans\":[{\"since\":\"\(day)00.000Z\",\"until\":\"\(day)10.000Z\",\"milliseconds\":10000,\"status\":null,\"reason\":null},"
            ))
        #expect(
            text.hasSuffix(
                "{\"time\":\"\(day)25.000Z\",\"event\":\"status\",\"status\":\"wired\",\"online\":true,\"interface\":\"eth0\","
                    + "\"medium\":\"ethernet\",\"generation\":1,\"reason\":\"a reason\",\"reasonCode\":\"code\"}],\"internet\":null,\"uplinks\":[],\"internetChanges\":[]}\n"
            ))
    }
}
