// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

@testable import reach

@Suite("The view of the history")
struct HistoryViewTests {
    private static let styles: [(name: String, style: Style)] = [
        ("80", Style(width: 80)), ("80-color", Style(hasColor: true, width: 80)), ("40", Style(width: 40)),
        ("40-color", Style(hasColor: true, width: 40)), ("piped", Style()),
        ("ascii", Style(isUnicode: false, width: 80)), ("dumb", Style(hasMarks: false, width: 80)),
    ]

    // Friday, 2026-01-02T00:00:00Z.
    private static let origin: Int64 = 1_767_312_000

    private static func wall(_ second: Int64) -> WallTime {
        WallTime(nanoseconds: (origin + second) * 1_000_000_000)
    }

    /// A place an hour east of UTC, in January.
    private static func zone(_ time: WallTime) -> LocalTime {
        let text = Array((time + .seconds(3600)).text.utf8)
        func number(_ range: Range<Int>) -> Int { text[range].reduce(0) { $0 * 10 + Int($1) - 48 } }
        let days = (time.nanoseconds / 1_000_000_000 + 3600) / 86_400
        return LocalTime(
            year: number(0..<4), month: number(5..<7), day: number(8..<10), hour: number(11..<13),
            minute: number(14..<16), weekday: Int((days + 4) % 7), offset: 3600)
    }

    private static func record(
        _ second: Int64, _ status: ReachabilityStatus, _ reason: String, run: Int64 = 1
    )
        -> HistoryRecord
    {
        HistoryRecord(
            run: run, wall: wall(second), boot: second * 1_000_000_000, status: status,
            isOnline: status.isReachable,
            reason: reason, code: "code")
    }

    private static func run(_ id: Int64, _ began: Int64, _ seen: Int64) -> HistoryRun {
        HistoryRun(
            id: id, began: wall(began), seen: wall(seen), seenBoot: seen * 1_000_000_000, hasEnded: true)
    }

    /// A day with a flap, an outage, a time without a service, and an outage that continues.
    private static let day = HistoryTimeline(
        runs: [run(1, -9000, 40_000), run(2, 50_000, 86_400)],
        records: [
            record(-9000, .wired, "default route via 192.0.2.1 on eth0"),
            record(10_000, .unreachable, "eth0: no carrier"),
            record(10_012, .wired, ""), record(20_000, .unreachable, "wlan0 \u{1B}[2J is rfkill-blocked"),
            record(27_300, .wifi, ""), record(50_000, .wifi, "", run: 2),
            record(60_000, .unknown, "", run: 2),
            record(61_000, .wired, "", run: 2),
            record(
                84_000, .unreachable,
                "eth0 has carrier and 192.0.2.2/24 but no default route, whatever else may be there", run: 2),
        ], from: wall(0), to: wall(86_400))

    /// Thirty days with an outage of twelve seconds each.
    private static let month: HistoryTimeline = {
        var records = [record(0, .wired, "")]
        for day in 0..<30 as Range<Int64> {
            records.append(record(day * 86_400 + 1000, .unreachable, "eth0: no carrier"))
            records.append(record(day * 86_400 + 1012, .wired, ""))
        }
        return HistoryTimeline(
            runs: [run(1, 0, 30 * 86_400)], records: records, from: wall(0), to: wall(30 * 86_400))
    }()

    private static func line(_ second: Int64, _ state: InternetState, _ interface: String?, _ reason: String)
        -> HistoryRecord
    {
        HistoryRecord(
            state, behind: interface, reason: reason, run: 1, wall: wall(second), boot: second * 1_000_000_000
        )
    }

    /// A day in which the line behind the router dies twice, beside a modem that asks to sign in.
    private static let lines = HistoryTimeline(
        runs: [run(1, 0, 86_400)],
        records: [
            record(0, .wired, ""), record(30_000, .unreachable, "eth0: no carrier"),
            record(30_600, .wired, ""),
            line(0, .full, nil, "204"), line(0, .full, "eth0", "204"),
            line(5, .portal, "wwan0", "302 \u{1B}[2J"),
            line(10_000, .limited, nil, "no answer in 10 s"),
            line(10_000, .limited, "eth0", "no answer in 10 s"), line(17_200, .full, nil, "204"),
            line(17_200, .full, "eth0", "204"), line(30_000, .none, nil, "there is no path"),
            line(30_000, .unknown, "eth0", "no uplink any more"), line(30_600, .full, nil, "204"),
            line(30_600, .full, "eth0", "204"), line(80_000, .limited, nil, "no name"),
            line(80_000, .limited, "eth0", "no name: time-out"),
        ], from: wall(0), to: wall(86_400))

    private static let timelines: [(name: String, timeline: HistoryTimeline)] = [
        ("day", day), ("month", month), ("lines", lines),
        (
            "good",
            HistoryTimeline(
                runs: [run(1, 0, 4000)], records: [record(0, .wired, "")], from: wall(100), to: wall(3700))
        ),
        ("nothing", HistoryTimeline(runs: [], records: [], from: wall(0), to: wall(86_400))),
    ]

    @Test(
        "UPL-271 each history in each style, with the internet behind each uplink where a server is asked",
        arguments: timelines.map(\.name), styles.map(\.name))
    func golden(history: String, style: String) throws {
        let timeline = try #require(Self.timelines.first { $0.name == history }).timeline
        let look = try #require(Self.styles.first { $0.name == style }).style
        let text = HistoryView(timeline, zone: Self.zone, look).text
        try Golden.check(text, "history-\(history)-\(style).txt")
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || look.hasColor || !SafeText.steers($0.value) })
        guard !look.hasColor else { return }
        for line in text.split(separator: "\n") {
            if let width = look.width { #expect(SafeText.width(String(line)) <= width, "\(line)") }
            if !look.isUnicode { #expect(line.utf8.allSatisfy { $0 < 0x7F }, "\(line)") }
        }
    }

    @Test("rows begin at the full hour or day of the place, and are no more than twenty-five")
    func periods() {
        for (length, rows) in [
            (600, 10...11), (3600, 12...13), (86_400, 24...25), (7 * 86_400, 7...8), (90 * 86_400, 13...14),
        ]
            as [(Int64, ClosedRange<Int>)]
        {
            let periods = HistoryPeriods(
                from: Self.wall(-length + 1234), to: Self.wall(1234), zone: Self.zone
            ).periods
            #expect(rows.contains(periods.count), "\(length): \(periods.count)")
            #expect(zip(periods, periods.dropFirst()).allSatisfy { $0.to == $1.from })
            #expect(Self.zone(periods[0].from).minute % 5 == 0 || length == 600)
        }
        let days = HistoryPeriods(from: Self.wall(0), to: Self.wall(10 * 86_400), zone: Self.zone).periods
        #expect(days.allSatisfy { Self.zone($0.from).clock == "00:00" })
        #expect(days[0].label == "Fri 01-02")
    }

    @Test("times of options", arguments: ["90m", "7d", "2026-01-02T03:04:05Z"])
    func times(text: String) throws { _ = try HistoryTime(text) }

    @Test("what is no time", arguments: ["", "0s", "yesterday", "-1h", "2026-01-02"])
    func noTimes(text: String) { #expect(throws: (any Error).self) { try HistoryTime(text) } }

    @Test(
        "since centuries ago: few rows, no overflow",
        arguments: ["1678-01-01T00:00:00Z", "1700-01-01T00:00:00Z"])
    func centuries(since: String) throws {
        let from = try #require(WallTime(since))
        let timeline = HistoryTimeline(
            runs: [Self.run(1, 0, 3600)], records: [Self.record(0, .wired, "")], from: from,
            to: Self.wall(7200))
        let text = HistoryView(timeline, zone: Self.zone, Style(width: 80)).text
        #expect(text.hasPrefix("100 % reachable in \(since.hasPrefix("1678") ? "127" : "119")"), "\(text)")
        #expect(text.split(separator: "\n").count < 32, "\(text)")
        #expect(HistoryTime.ago(.seconds(3_155_760_000)).moment(from) == WallTime(nanoseconds: .min))
    }
}
