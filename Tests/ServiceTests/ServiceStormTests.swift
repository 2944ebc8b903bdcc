// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Reachability
import ReachabilityCore
import ServiceCore
import SessionCore
import TestSupport
import Testing

@testable import Service

/// Ten thousand changes of the status for all components that handle each of them.
@Suite("A storm", .timeLimit(.minutes(10)))
struct ServiceStormTests {
    /// All components as one, notified as by the service.
    private final class Everything: ServiceComponent {
        let name = "everything"
        let parts: [any ServiceComponent]
        let history: HistoryService
        private var context: ServiceContext?
        private var running = 0

        init(history: HistoryService, _ parts: [any ServiceComponent]) {
            self.history = history
            self.parts = [history] + parts
        }

        func start(_ context: ServiceContext) throws(ServiceError) {
            self.context = context
            for part in parts { try part.start(context) }
        }

        func statusChanged(_ change: CommittedChange) {
            context?.current = change
            for part in parts { part.statusChanged(change) }
        }

        func stop(_ done: @escaping () -> Void) {
            running = parts.count
            for part in parts {
                part.stop { [self] in
                    running -= 1
                    if running == 0 { done() }
                }
            }
        }
    }

    private func bench() async throws -> ServiceBench<Everything> {
        let folder = try ScratchFolder("reach-storm")
        try #require(mkdir(folder("hooks.d"), 0o755) == 0)
        let hook = folder("hooks.d/note")
        try "#!/bin/sh\necho $REACH_STATUS $REACH_SKIPPED >>\(folder("told"))\n".write(
            toFile: hook, atomically: false, encoding: .utf8)
        try #require(chmod(hook, 0o755) == 0)
        return try await ServiceBench(in: folder) { folder, files, counters in
            var settings = ServiceConfiguration()
            settings.hooks.directory = folder("hooks.d")
            var limits = VarlinkLimits()
            limits.unread = 4096
            // A client that does not read has to remain until the end, however long the storm takes.
            limits.stallTime = .seconds(600)
            let statusService = StatusService(identity: .init(version: "1"), batches: KernelEventBatches()) {
                _ throws(ReachabilityError) in
                throw ReachabilityError(.netlinkRefused, errno: EPERM, context: "links", advice: "none")
            }
            return Everything(
                history: HistoryService(settings.history, files: files, counters: counters),
                [
                    ChangeLogger(settings.log, counters: counters),
                    HookRunner(settings.hooks, files: files, counters: counters),
                    VarlinkServer(
                        limits: limits, statusService: statusService, mayUseOutbox: { _ in false },
                        isOwner: { _ in false }
                    ) { () throws(ServiceError) in try UnixListener(path: folder("socket")) },
                ])
        }
    }

    /// The value of a key; found without a parser, which in a debug build takes longer than the storm.
    private static func word(_ key: String, _ message: [UInt8]) -> String? {
        let mark = "\"\(key)\":"
        return (message + [0]).withUnsafeBytes { bytes -> String? in
            let text = bytes.bindMemory(to: CChar.self)
            guard let start = text.baseAddress, let found = strstr(start, mark) else { return nil }
            let value = bytes[(UnsafePointer(found) - start + mark.utf8.count)...]
            return String(decoding: value.prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self)
        }
    }

    /// Reads until the newest change: the replies, each compared with the status before.
    private static func read(_ caller: inout Caller, from reported: String?) throws -> (
        replies: Int, isChain: Bool
    ) {
        var (reported, replies, isChain) = (reported, 0, true)
        while true {
            let change = try #require(try caller.message())
            replies += 1
            if word("event", change) == "\"status\"", word("previous", change) != reported { isChain = false }
            reported = word("status", change)
            if word("generation", change) == "10001" { return (replies, isChain && reported == "\"wired\"") }
        }
    }

    @Test(
        "ten thousand changes of the status: who reads, who does not, history and hooks come to the newest, and nothing grows"
    )
    func everything() async throws {
        let bench = try await bench()
        try await bench.notify(.at(0, .unreachable, event: .initial))
        let socket = bench.folder("socket")
        var idle = try Caller(path: socket)
        try idle.send("Monitor", more: true)
        let first = try #require(try idle.message())
        let begun = EventLog<Bool>()
        // On a thread of its own, since it waits for the work of Swift's tasks.
        let thread = try Reactor(name: "reader")
        defer { thread.stop() }
        async let reader = thread.result {
            var caller = try Caller(path: socket)
            try caller.send("Monitor", more: true)
            let first = try #require(try caller.message())
            begun.append(true)
            return try Self.read(&caller, from: Self.word("status", first))
        }
        await begun.wait(forCount: 1)

        let changes = CommittedChange.storm(10_000)
        for start in stride(from: 0, to: changes.count, by: 100) {
            try await bench.notify(Array(changes[start..<start + 100]))
            let line = try await bench.ask { $0.history.stateLine } ?? ""
            let waiting = try #require(line.split(separator: " ").first.flatMap { Int($0) })
            #expect(waiting <= HistoryService.limit)
        }
        let attentive = try await reader
        #expect(attentive.isChain && attentive.replies <= 10_000)
        let late = try Self.read(&idle, from: Self.word("status", first))
        #expect(late.isChain && late.replies < 10_000, "\(late.replies)")

        // The running hook is followed by one more, which gets the newest change.
        let reported = bench.folder("told")
        func lines() -> [Substring] {
            ((try? String(contentsOfFile: reported, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        func heard(_ line: Substring) -> Int {
            let words = line.split(separator: " ")
            return words.count == 2 ? 1 + (Int(words[1]) ?? 0) : 0
        }
        // Starting a program may take long on a busy machine; the suite's limit ends it.
        while lines().reduce(0, { $0 + heard($1) }) < 10_001 { try await bench.loop.result {} }
        let hooks = lines()
        #expect(hooks.last?.hasPrefix("wired ") == true && hooks.count < 10_001, "\(hooks.suffix(2))")

        await bench.stop()
        let database = try HistoryDatabase(reading: bench.folder(HistoryDatabase.fileName))
        let kept = try database.timeline(
            from: WallTime(nanoseconds: 0), to: WallTime(nanoseconds: 4_000_000_000_000_000_000)
        ).changes
        let dropped = try await bench.counters { $0.historySkipped }
        #expect(kept.count + Int(dropped) == 10_001 && kept.last?.generation == 10_001)
        #expect(zip(kept, kept.dropFirst()).allSatisfy { $0.generation < $1.generation })
    }
}
