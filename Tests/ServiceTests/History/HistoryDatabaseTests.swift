// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import Storage
import TestSupport
import Testing

@Suite("History: what is forgotten and what is asked", .timeLimit(.minutes(10)))
struct HistoryDatabaseTests {
    private let folder: ScratchFolder
    private let database: HistoryDatabase

    init() throws {
        folder = try ScratchFolder("reach-history")
        database = try HistoryDatabase(folder(HistoryDatabase.fileName))
    }

    private static func wall(_ second: Int64) -> WallTime { WallTime(seconds: second) }
    private static let day: Int64 = 86_400
    /// The current day, and the day of a device without a battery for its clock.
    private static let today: Int64 = 20_000 * day
    private static let reset: Int64 = 3600

    /// A run with changes at these seconds after its start, each with the wall clock's time then, and its
    /// last sign of life.
    private func run(_ changes: [(second: Int64, wall: Int64)], seen: (second: Int64, wall: Int64)) throws {
        let first = try #require(changes.first)
        let run = try database.beginRun(at: Self.wall(first.wall), boot: first.second * 1_000_000_000)
        try database.append(
            changes.enumerated().map { index, change in
                HistoryRecord(
                    run: run, wall: Self.wall(change.wall), boot: change.second * 1_000_000_000,
                    status: index % 2 == 0 ? .wired : .unreachable, isOnline: index % 2 == 0, reason: "",
                    code: "")
            })
        try database.beat(
            run, at: Self.wall(seen.wall), boot: seen.second * 1_000_000_000, isEnd: true)
    }

    /// A run whose clock was right from the start on.
    private func run(at wall: Int64) throws {
        try run([(10, wall), (20, wall + 10)], seen: (30, wall + 20))
    }

    /// A run that began in 1970, until a time server set its clock.
    private func runThatIsSet(at wall: Int64) throws {
        try run([(10, Self.reset + 10), (20, Self.reset + 20), (40, wall + 30)], seen: (50, wall + 40))
    }

    /// A run whose clock was never set.
    private func runWithoutClock() throws {
        try run([(10, Self.reset + 10), (20, Self.reset + 20)], seen: (30, Self.reset + 30))
    }

    private func prune(days: Int64) throws -> Int64 {
        try database.prune(before: Self.wall(Self.today - days * Self.day), keeping: 1000)
        return try database.count()
    }

    @Test("a start in 1970 says nothing about what was written before")
    func clockless() throws {
        try run(at: Self.today - 3 * Self.day)
        try runThatIsSet(at: Self.today - 2 * Self.day)
        try runWithoutClock()
        try runThatIsSet(at: Self.today - Self.day)
        #expect(try prune(days: 30) == 10)
        // All records before the last run are too old, but for the state that reached into it.
        #expect(try prune(days: 1) == 4)
        #expect(try database.timeline(from: Self.wall(0), to: Self.wall(Self.today)).changes.count == 3 + 1)
    }

    @Test("the very first start in 1970: the run that has learned the day since is as old as it is")
    func firstStart() throws {
        try runThatIsSet(at: Self.today - Self.day)
        #expect(try prune(days: 30) == 3)
    }

    @Test("of nothing but old changes the last one stays; of none at all nothing")
    func onlyOld() throws {
        #expect(try prune(days: 30) == 0)
        try run(at: Self.today - 90 * Self.day)
        try run(at: Self.today - 80 * Self.day)
        #expect(try prune(days: 30) == 1)
        #expect(try prune(days: 100) == 1)
    }

    @Test("while the clock shows 1970, nothing is old")
    func beforeTheClockIsSet() throws {
        try run(at: Self.today - 90 * Self.day)
        try database.prune(before: Self.wall(Self.reset - 30 * Self.day), keeping: 1000)
        #expect(try database.count() == 2)
    }

    @Test("a period before a run has all of it, also what was written in 1970")
    func periodOfARunThatWasSet() throws {
        try runThatIsSet(at: Self.today)
        let timeline = try database.timeline(
            from: Self.wall(Self.today - 100), to: Self.wall(Self.today + 100))
        #expect(timeline.changes.map(\.wall) == [0, 10, 30].map { Self.wall(Self.today + $0) })
        let part = try database.timeline(from: Self.wall(Self.today + 15), to: Self.wall(Self.today + 100))
        #expect(part.spans.map(\.state) == [.unreachable, .reachable, .gap])
        // Before the first possible moment nothing happened.
        let all = try database.timeline(from: WallTime(nanoseconds: .min), to: Self.wall(Self.today + 100))
        #expect(all.changes.count == 3)
    }

    @Test("the newest spans are those of the whole time line, and keep no changes of the path")
    func newest() throws {
        for number in 1...3 as ClosedRange<Int64> {
            let start = number * 1000
            let run = try database.beginRun(at: Self.wall(start), boot: start * 1_000_000_000)
            try database.append(
                (0..<200 as Range<Int64>).map { index in
                    HistoryRecord(
                        run: run, wall: Self.wall(start + index), boot: (start + index) * 1_000_000_000,
                        isStatus: index % 50 == 0, status: index / 50 % 2 == 0 ? .wired : .unreachable,
                        isOnline: true, reason: "\(index)", code: "")
                })
        }
        let (from, to) = (Self.wall(1010), Self.wall(4000))
        let whole = try database.timeline(from: from, to: to, running: 3)
        let spans = whole.spans.filter { $0.state != .gap }
        #expect(spans.count == 12)
        for limit in [1, 2, 4, 5, 11, 12, 100] {
            let newest = try database.timeline(newest: limit, from: from, to: to, running: 3)
            let found = newest.spans.filter { $0.state != .gap }
            #expect(found.map(\.from) == spans.suffix(limit).map(\.from))
            #expect(found.map(\.to) == spans.suffix(limit).map(\.to))
            #expect(
                found.dropFirst().map(\.record?.reason)
                    == spans.suffix(limit).dropFirst().map(\.record?.reason))
            #expect(newest.changes.count <= limit)
        }
    }

    private func service() async throws -> ServiceBench<HistoryService> {
        try await ServiceBench(in: folder) { _, files, counters in
            HistoryService(ServiceConfiguration.History(), files: files, counters: counters)
        }
    }

    @Test("while many wait for the history, nobody else may ask; afterwards they may")
    func patience() async throws {
        let service = try await service()
        let answers = EventLog<VarlinkReply>()
        for round in 1...2 {
            // In one turn of the loop, so no answer can arrive meanwhile.
            let refused = try await service.ask { service in
                for _ in 0..<HistoryService.queryLimit {
                    service.answerHistory(since: nil, limit: 10) { answers.append($0) }
                }
                let before = answers.elements.count
                service.answerHistory(since: nil, limit: 10) { answers.append($0) }
                return answers.elements.dropFirst(before).map(\.error)
            }
            #expect(refused == ["io.reach.Reachability.LimitReached"])
            let all = await answers.wait(forCount: round * (HistoryService.queryLimit + 1))
            #expect(all.count { $0.error == nil } == round * HistoryService.queryLimit)
        }
        await service.stop()
    }

    /// Makes an index differ from its table, as damage of the disk may.
    private func damage(_ index: String, from old: String, to new: String) throws {
        let database = try Database(folder(HistoryDatabase.fileName))
        try database.execute("PRAGMA writable_schema = ON")
        try database.run(
            "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?",
            [.text(old), .text(new), .text(index)])
        try database.execute("PRAGMA writable_schema = RESET")
    }

    @Test("damage that only a thorough look finds is found at work, and met with a new file")
    func damagedIndex() async throws {
        // Old changes are removed at once only if not all are old.
        for second in [1_700_000_000, 1_767_300_000] as [Int64] { try run(at: second) }
        do {
            let database = try Database(folder(HistoryDatabase.fileName))
            try database.execute("CREATE INDEX extra ON changes (boot)")
        }
        try damage("extra", from: "(boot)", to: "(wall)")
        #expect(try Database(folder(HistoryDatabase.fileName)).faults().isEmpty)
        let service = try await service()
        try await service.notify(.at(1, .wired, event: .initial))
        let first = await service.log.wait(forCount: 1)
        #expect(first.first?.hasPrefix("error: history: ") == true, "\(first)")
        try await service.files.result {}
        try await service.notify(.at(2, .unreachable, was: .wired))
        let lines = await service.log.wait(forCount: 3)
        #expect(lines.dropFirst().first?.contains("the file was damaged; it is kept as") == true, "\(lines)")
        #expect(lines.last == "notice: history: changes are kept again")
        await service.stop()
        #expect(folder.names.contains { $0.hasPrefix("history.sqlite.damaged-") })
    }

    @Test("of the damaged files that were set aside the last few are kept")
    func damagedCopies() throws {
        let path = folder("other.sqlite")
        for round in 1...5 {
            let file = try OwnedDescriptor(
                "open", open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
            let garbage = [UInt8](repeating: 0x5A, count: 8192)
            #expect(write(file.number, garbage, garbage.count) == garbage.count)
            #expect(try HistoryDatabase(path).setAside == "\(path).damaged-\(round)")
        }
        #expect(
            folder.names.filter { $0.hasPrefix("other.sqlite.damaged-") }.sorted()
                == (3...5).map { "other.sqlite.damaged-\($0)" })
    }

    @Test("a file of the first version loses the index that nobody asks, and nothing else")
    func firstVersion() throws {
        try run(at: Self.today)
        let old = folder("old.sqlite")
        do {
            let schema = Schema(
                applicationID: HistoryDatabase.schema.applicationID,
                steps: Array(HistoryDatabase.schema.steps.prefix(1)))
            let database = try Database(old)
            try database.migrate(to: schema)
            try database.run(
                "INSERT INTO runs (began, seen, seen_boot) VALUES (0, ?1, 0)",
                [.integer(Self.today * 1_000_000_000)])
            try database.run(
                "INSERT INTO changes VALUES (1, 1, 0, 0, 1, 2, 1, NULL, NULL, 1, '', '')")
        }
        #expect(try HistoryDatabase(old).count() == 1)
        let names = try Database(old).all("SELECT name FROM sqlite_schema WHERE type = 'index'") {
            $0.text(0)
        }
        #expect(names.isEmpty)
    }
}
