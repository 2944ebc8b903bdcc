// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ReachabilityCore
import Service
import ServiceCore
import Storage
import TestSupport
import Testing

@Suite("History: what is kept", .timeLimit(.minutes(10)))
struct HistoryServiceTests {
    private func service(in folder: ScratchFolder? = nil) async throws -> ServiceBench<HistoryService> {
        try await ServiceBench(in: folder) { _, files, counters in
            HistoryService(ServiceConfiguration.History(), files: files, counters: counters)
        }
    }

    private func read(_ folder: ScratchFolder) throws -> (changes: [HistoryRecord], run: HistoryRun?) {
        let database = try HistoryDatabase(reading: folder(HistoryDatabase.fileName))
        let timeline = try database.timeline(
            from: WallTime(nanoseconds: 0), to: WallTime(nanoseconds: 4_000_000_000_000_000_000))
        return (timeline.changes, try database.lastRun())
    }

    @Test("changes are on the disk, with what was known of them, and the end of the run as well")
    func kept() async throws {
        let service = try await service()
        try await service.notify(
            .at(1, .wired, event: .initial), .at(2, .wired, was: .wired, event: .path),
            .at(3, .unreachable, was: .wired, reason: "eth0: no carrier"))
        // The file is opened on a thread of its own.
        try await service.files.result {}
        #expect(HistoryLock.isHeld(beside: service.folder(HistoryDatabase.fileName)))
        await service.stop()
        #expect(!HistoryLock.isHeld(beside: service.folder(HistoryDatabase.fileName)))
        let (changes, run) = try read(service.folder)
        #expect(changes.map(\.status) == [.wired, .wired, .unreachable])
        #expect(changes.map(\.isStatus) == [true, false, true])
        #expect(changes.map(\.isOnline) == [true, true, false])
        #expect(changes.map(\.interface) == ["eth0", "eth0", nil])
        #expect(changes.map(\.generation) == [2, 3, 4])
        #expect(changes.last?.reason == "eth0: no carrier")
        #expect(changes.last?.code == "noRoute")
        #expect(run?.hasEnded == true)
        #expect(service.log.elements == [])
    }

    @Test("who asks over the socket gets the periods, the newest last and open")
    func answered() async throws {
        let service = try await service()
        try await service.notify(
            .at(86_000, .wired, event: .initial), .at(86_100, .unreachable, was: .wired),
            .at(86_200, .wifi, was: .unreachable))
        // Waiting changes are written when the loop has been notified of the write before; then they can be
        // read.
        for _ in 0..<3 {
            try await service.files.result {}
            try await service.loop.result {}
        }
        let answers = EventLog<VarlinkReply>()
        _ = try await service.ask { $0.answerHistory(since: nil, limit: 2) { answers.append($0) } }
        let reply = try #require(await answers.wait(forCount: 1).first)
        #expect(reply.error == nil)
        let text = String(decoding: reply.parameters, as: UTF8.self)
        #expect(text.contains("\"status\":\"unreachable\""), "\(text)")
        #expect(text.contains("\"until\":null"), "\(text)")
        #expect(!text.contains("\"wired\""), "\(text)")
        await service.stop()
    }

    @Test("what cannot be read is set aside and named, and a new file begun")
    func damaged() async throws {
        let folder = try ScratchFolder("reach-history")
        let path = folder(HistoryDatabase.fileName)
        let file = try OwnedDescriptor("open", open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        let garbage = [UInt8](repeating: 0x5A, count: 8192)
        #expect(write(file.number, garbage, garbage.count) == garbage.count)
        let service = try await service(in: folder)
        try await service.notify(.at(1, .wired, event: .initial))
        await service.stop()
        let aside = try #require(folder.names.first { $0.hasPrefix("history.sqlite.damaged-") })
        #expect(
            service.log.elements == [
                "warning: history: the file was damaged; it is kept as \(folder(aside)), and a new one was begun"
            ])
        #expect(try read(folder).changes.count == 1)
    }

    @Test("where nothing can be written it says so once, and all of it is written as soon as it can be")
    func readOnly() async throws {
        let folder = try ScratchFolder("reach-history")
        // A directory in the file's place is an obstacle even for root.
        #expect(mkdir(folder(HistoryDatabase.fileName), 0o700) == 0)
        let service = try await service(in: folder)
        try await service.notify(.at(1, .wired, event: .initial))
        let first = await service.log.wait(forCount: 1)
        #expect(first.first?.hasPrefix("error: history: ") == true, "\(first)")
        // The thread for files works in order: after this the earlier change has been refused.
        try await service.files.result {}
        #expect(rmdir(folder(HistoryDatabase.fileName)) == 0)
        try await service.notify(.at(2, .unreachable, was: .wired))
        let lines = await service.log.wait(forCount: 2)
        #expect(lines.dropFirst() == ["notice: history: changes are kept again"])
        await service.stop()
        #expect(try read(folder).changes.map(\.status) == [.wired, .unreachable])
        #expect(try await service.counters { $0.historySkipped } == 0)
    }

    @Test("a file that is taken away is begun anew, with how things are")
    func takenAway() async throws {
        let service = try await service()
        try await service.notify(.at(1, .wired, event: .initial))
        for _ in 0..<3 {
            try await service.files.result {}
            try await service.loop.result {}
        }
        for name in service.folder.names { #expect(unlink(service.folder(name)) == 0) }
        try await service.notify(.at(2, .unreachable, was: .wired))
        #expect(
            await service.log.wait(forCount: 1) == [
                "warning: history: the file was taken away; a new one is begun"
            ])
        #expect(HistoryLock.isHeld(beside: service.folder(HistoryDatabase.fileName)))
        await service.stop()
        #expect(try read(service.folder).changes.map(\.status) == [.wired, .unreachable])
        #expect(service.log.elements.count == 1)
    }

    @Test("what could not be written is written at the end, or counted as dropped", arguments: [true, false])
    func written(isPossible: Bool) async throws {
        let folder = try ScratchFolder("reach-history")
        let path = folder(HistoryDatabase.fileName)
        #expect(mkdir(path, 0o700) == 0)
        let service = try await service(in: folder)
        try await service.notify(.at(1, .wired, event: .initial), .at(2, .unreachable, was: .wired))
        _ = await service.log.wait(forCount: 1)
        try await service.files.result {}
        if isPossible { #expect(rmdir(path) == 0) }
        await service.stop()
        #expect(try await service.counters { $0.historySkipped } == (isPossible ? 0 : 2))
        if isPossible { #expect(try read(folder).changes.map(\.status) == [.wired, .unreachable]) }
    }

    @Test("while nothing can be written, no more than the limit wait, and the newest are kept")
    func bounded() async throws {
        let folder = try ScratchFolder("reach-history")
        let path = folder(HistoryDatabase.fileName)
        #expect(mkdir(path, 0o700) == 0)
        let service = try await service(in: folder)
        for changes in [CommittedChange.storm(1_000), CommittedChange.storm(1_500)] {
            try await service.notify(changes)
            try await service.files.result {}
            try await service.loop.result {}
        }
        #expect(rmdir(path) == 0)
        await service.stop()
        let changes = try read(folder).changes
        #expect(changes.count == HistoryService.limit)
        #expect(changes.last?.generation == 1_501)
        #expect(try await service.counters { $0.historySkipped } == 2_500 - UInt64(HistoryService.limit))
    }

    @Test("ten thousand changes in one go: what is kept and what was dropped add up, and the newest is kept")
    func storm() async throws {
        let service = try await service()
        try await service.notify(CommittedChange.storm(10_000))
        await service.stop()
        let changes = try read(service.folder).changes
        let dropped = try await service.counters { $0.historySkipped }
        #expect(changes.count + Int(dropped) == 10_000)
        #expect(changes.last?.generation == 10_001)
        // While the first one is written, no more than the limit wait.
        #expect(changes.count <= HistoryService.limit + 1)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.generation < $1.generation })
    }

    @Test("what is old and what is too much is forgotten; the state that reaches into the kept time stays")
    func pruned() throws {
        let folder = try ScratchFolder("reach-history")
        func wall(_ second: Int64) -> WallTime { WallTime(nanoseconds: second * 1_000_000_000) }
        let database = try HistoryDatabase(folder(HistoryDatabase.fileName))
        for run in 1...3 as ClosedRange<Int64> {
            #expect(try database.beginRun(at: wall(run * 100), boot: run * 100_000_000_000) == run)
            try database.append(
                (1...10 as ClosedRange<Int64>).map { index in
                    let second = run * 100 + index
                    return HistoryRecord(
                        run: run, wall: wall(second), boot: second * 1_000_000_000, status: .wired,
                        isOnline: true,
                        reason: "", code: "")
                })
        }
        try database.prune(before: wall(205), keeping: 1000)
        #expect(try database.count() == 17)
        #expect(try database.timeline(from: wall(0), to: wall(1000)).changes.first?.wall == wall(204))
        try database.prune(before: wall(0), keeping: 4)
        #expect(try database.count() == 4)
        #expect(
            try database.timeline(from: wall(0), to: wall(1000)).changes.map(\.wall)
                == [307, 308, 309, 310].map(wall))
    }

    @Test("a period asks for the last state before it")
    func period() throws {
        let folder = try ScratchFolder("reach-history")
        func wall(_ second: Int64) -> WallTime { WallTime(nanoseconds: second * 1_000_000_000) }
        let database = try HistoryDatabase(folder(HistoryDatabase.fileName))
        for run in 1...2 as ClosedRange<Int64> {
            _ = try database.beginRun(at: wall(run * 100), boot: run * 100_000_000_000)
            try database.append(
                ([(0, .wired), (10, .unreachable), (20, .wired)] as [(Int64, ReachabilityStatus)]).map {
                    offset, status in
                    let second = run * 100 + offset
                    return HistoryRecord(
                        run: run, wall: wall(second), boot: second * 1_000_000_000, status: status,
                        isOnline: status.isReachable, reason: "", code: "")
                })
            try database.beat(
                run, at: wall(run * 100 + 50), boot: (run * 100 + 50) * 1_000_000_000, isEnd: true)
        }
        let timeline = try database.timeline(from: wall(115), to: wall(230))
        #expect(
            timeline.spans.map(\.state) == [
                .unreachable, .reachable, .gap, .reachable, .unreachable, .reachable,
            ])
        #expect(timeline.spans.map(\.from) == [115, 120, 150, 200, 210, 220].map(wall))
    }

    @Test("FLD-114 a history that cannot be written is still read for those who ask")
    func unwritable() async throws {
        let first = try await service()
        try await first.notify(.at(86_000, .wired, event: .initial))
        await first.stop()
        #expect(chmod(first.folder.path, 0o777) == 0)
        let second = try await service(in: first.folder)
        #expect(await second.log.wait(forCount: 1).first?.contains("may be written by every user") == true)
        let replies = EventLog<VarlinkReply>()
        _ = try await second.ask { $0.answerHistory(since: nil, limit: 10) { replies.append($0) } }
        let reply = await replies.wait(forCount: 1)[0]
        #expect(String(decoding: reply.parameters, as: UTF8.self).contains("wired"), "\(reply)")
        #expect(chmod(first.folder.path, 0o700) == 0)
        await second.stop()
    }
}
