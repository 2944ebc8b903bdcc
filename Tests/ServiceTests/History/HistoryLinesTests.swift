// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import Storage
import TestSupport
import Testing

@Suite("History: the internet is kept", .timeLimit(.minutes(10)))
struct HistoryLinesTests {
    private static func wall(_ second: Int64) -> WallTime { WallTime(seconds: second) }

    private static func line(_ second: Int64, _ state: InternetState, _ interface: String?, run: Int64)
        -> HistoryRecord
    {
        HistoryRecord(
            state, behind: interface, reason: "evidence \(second)", run: run, wall: wall(second),
            boot: second * 1_000_000_000)
    }

    private static func path(_ second: Int64, run: Int64) -> HistoryRecord {
        HistoryRecord(
            run: run, wall: wall(second), boot: second * 1_000_000_000, status: .wired, isOnline: true,
            reason: "", code: "")
    }

    private static func texts(_ timeline: HistoryTimeline) -> [String] {
        timeline.lines.flatMap { line in
            line.timeline.changes.map {
                "\(line.interface ?? "path") \($0.wall.nanoseconds / 1_000_000_000) \($0.internet?.rawValue ?? "-") \($0.reason)"
            }
        }
    }

    @Test(
        "UPL-267 What is found behind each uplink is on the disk, once, and its last state reaches into a later period"
    )
    func kept() throws {
        let folder = try ScratchFolder("reach-history")
        let path = folder(HistoryDatabase.fileName)
        do {
            let database = try HistoryDatabase(path)
            let run = try database.beginRun(at: Self.wall(100), boot: 100_000_000_000)
            try database.append([
                Self.path(100, run: run), Self.line(101, .full, nil, run: run),
                Self.line(101, .full, "eth0", run: run),
                Self.line(110, .limited, "eth0", run: run),
            ])
            try database.beat(run, at: Self.wall(200), boot: 200_000_000_000, isEnd: true)
            #expect(try database.count() == 1)
        }
        let database = try HistoryDatabase(reading: path)
        let whole = try database.timeline(from: Self.wall(0), to: Self.wall(300))
        #expect(
            Self.texts(whole) == [
                "path 101 full evidence 101", "eth0 101 full evidence 101", "eth0 110 limited evidence 110",
            ])
        #expect(whole.changes.count == 1)
        let late = try database.timeline(from: Self.wall(150), to: Self.wall(300))
        #expect(late.lines.map { HistorySummary($0.timeline).availability } == [1_000_000, 0])
        #expect(late.lines.map { HistorySummary($0.timeline).gap } == [.seconds(100), .seconds(100)])
        let newest = try database.timeline(newest: 1, from: Self.wall(0), to: Self.wall(300))
        #expect(Self.texts(newest) == ["eth0 110 limited evidence 110"])
    }

    @Test("UPL-268 A file of an older version is read as it is, and upgraded without a loss")
    func upgraded() throws {
        let folder = try ScratchFolder("reach-history")
        let path = folder(HistoryDatabase.fileName)
        do {
            let schema = Schema(
                applicationID: HistoryDatabase.schema.applicationID,
                steps: Array(HistoryDatabase.schema.steps.prefix(2)))
            let database = try Database(path)
            try database.migrate(to: schema)
            try database.run(
                "INSERT INTO runs (began, seen, seen_boot) VALUES (?1, ?2, ?2)",
                [
                    .integer(100_000_000_000), .integer(200_000_000_000),
                ])
            for second in [100, 150] as [Int64] {
                try database.run(
                    "INSERT INTO changes VALUES (NULL, 1, ?1, ?1, 1, 3, 1, 'eth0', NULL, 1, 'kept', '')",
                    [.integer(second * 1_000_000_000)])
            }
        }
        func changes(_ database: HistoryDatabase) throws -> [String] {
            try database.timeline(from: Self.wall(0), to: Self.wall(300)).changes.map(\.reason)
        }
        #expect(try changes(HistoryDatabase(reading: path)) == ["kept", "kept"])
        let database = try HistoryDatabase(path)
        #expect(database.setAside == nil)
        #expect(try changes(database) == ["kept", "kept"])
        try database.append([Self.line(160, .full, "eth0", run: 1)])
        let after = try HistoryDatabase(reading: path).timeline(from: Self.wall(0), to: Self.wall(300))
        #expect(Self.texts(after) == ["eth0 160 full evidence 160"])
        #expect(after.changes.map(\.reason) == ["kept", "kept"])
    }

    @Test(
        "UPL-269 The limits of age and number hold for the internet, and each line's last state before stays")
    func pruned() throws {
        let folder = try ScratchFolder("reach-history")
        let database = try HistoryDatabase(folder(HistoryDatabase.fileName))
        for run in 1...3 as ClosedRange<Int64> {
            #expect(try database.beginRun(at: Self.wall(run * 100), boot: run * 100_000_000_000) == run)
            try database.append(
                (0...9 as ClosedRange<Int64>).map { index in
                    Self.line(
                        run * 100 + index, index % 4 < 2 ? .full : .limited,
                        index % 2 == 0 ? "eth0" : "wwan0", run: run)
                })
        }
        func seconds() throws -> [Int64] {
            try database.timeline(from: Self.wall(0), to: Self.wall(1000)).lines.flatMap(\.timeline.changes)
                .map { $0.wall.nanoseconds / 1_000_000_000 }.sorted()
        }
        try database.prune(before: Self.wall(205), keeping: 1000)
        #expect(try seconds() == Array(203...209) + Array(300...309))
        try database.prune(before: Self.wall(301), keeping: 1000)
        #expect(try seconds() == Array(300...309))
        #expect(try database.lastRun()?.id == 3)
        try database.prune(before: Self.wall(0), keeping: 4)
        #expect(try seconds() == Array(306...309))
        // All of it is old: what holds stays.
        try database.prune(before: Self.wall(5000), keeping: 1000)
        #expect(try seconds() == [308, 309])
    }

    private static func change(_ states: (String, InternetState)...) -> CommittedChange {
        var change = CommittedChange.at(1, .wired, event: .initial)
        change.internet = states.first?.1
        change.uplinks = states.map { name, state in
            UplinkInternet(
                interface: name, isPreferred: name == states.first?.0, InternetAnswer(state, "evidence"),
                wall: 0,
                boot: 0)
        }
        change.isInternet = true
        return change
    }

    private func settle(_ service: ServiceBench<HistoryService>) async throws {
        for _ in 0..<3 {
            try await service.files.result {}
            try await service.loop.result {}
        }
    }

    @Test(
        "UPL-270 The service keeps each change of the internet, tells it over the socket, and begins a new file with it"
    )
    func service() async throws {
        let service = try await ServiceBench { _, files, counters in
            HistoryService(ServiceConfiguration.History(), files: files, counters: counters)
        }
        try await service.notify(.at(1, .wired, event: .initial))
        _ = try await service.ask { part in
            part.internetChanged(Self.change(("eth0", .full), ("wwan0", .limited)))
            part.internetChanged(Self.change(("eth0", .full), ("wwan0", .limited)))
            part.internetChanged(Self.change(("eth0", .limited), ("wwan0", .full)))
        }
        // The bench's clock stands still; this ends the run before the time of the question.
        try await service.notify(.at(86_399, .wired, was: .wired, event: .path))
        try await settle(service)
        let answers = EventLog<VarlinkReply>()
        _ = try await service.ask { $0.answerHistory(since: nil, limit: 10) { answers.append($0) } }
        let reply = try #require(await answers.wait(forCount: 1).first)
        let lines = try JSONValue(parsing: .init(reply.parameters))["lines"]?.array
        let reported = lines?.map { "\($0["interface"]?.string ?? "path") \($0["internet"]?.string ?? "-")" }
        #expect(reported?.contains("path limited") == true, "\(reported ?? [])")
        #expect(
            reported?.contains("eth0 limited") == true && reported?.contains("wwan0 full") == true,
            "\(reported ?? [])")
        #expect(lines?.contains { $0["interface"]?.string == "eth0" && $0["until"] == .null } == true)

        // Each change once, though it was told twice.
        let kept = try HistoryDatabase(reading: service.folder(HistoryDatabase.fileName)).timeline(
            from: WallTime(nanoseconds: 0), to: WallTime(nanoseconds: 4_000_000_000_000_000_000))
        #expect(kept.lines.map(\.timeline.changes.count) == [2, 2, 2])

        for name in service.folder.names { #expect(unlink(service.folder(name)) == 0) }
        try await service.notify(.at(2, .unreachable, was: .wired))
        await service.stop()
        let database = try HistoryDatabase(reading: service.folder(HistoryDatabase.fileName))
        let timeline = try database.timeline(
            from: WallTime(nanoseconds: 0), to: WallTime(nanoseconds: 4_000_000_000_000_000_000))
        let states = timeline.lines.flatMap { line in
            line.timeline.changes.map { "\(line.interface ?? "path") \($0.internet?.rawValue ?? "-")" }
        }
        #expect(states == ["path limited", "eth0 limited", "wwan0 full"])
        #expect(timeline.changes.last?.status == .unreachable)
        #expect(try await service.counters { $0.historySkipped } == 0)
    }
}
