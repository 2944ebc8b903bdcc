// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import Logging
import ReachabilityCore
import Service
import ServiceCore
import TestSupport
import Testing

@Suite("The service's log", .timeLimit(.minutes(10)))
struct ServiceLogTests {
    /// A pipe whose reading end does not block.
    private final class LogPipe: Sendable {
        let reading: OwnedDescriptor
        let writing: OwnedDescriptor

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard clinux_pipe(&ends) == 0 else { throw LabError("pipe: \(errno)") }
            reading = OwnedDescriptor(adopting: ends[0])
            writing = OwnedDescriptor(adopting: ends[1])
            _ = fcntl(reading.number, F_SETFL, O_NONBLOCK)
        }

        func drain() -> String {
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(reading.number, &buffer, buffer.count)
                guard count > 0 else { return String(decoding: all, as: UTF8.self) }
                all += buffer.prefix(count)
            }
        }
    }

    private func sink(_ pipe: LogPipe, _ format: String, _ journal: String? = nil) -> LogSink {
        LogSink(descriptor: pipe.writing.number, format: format, journalStream: journal) {
            WallTime(nanoseconds: 1_767_312_000_123_000_000)
        }
    }

    @Test("priorities for the journal, the time for everyone else")
    func formats() throws {
        let pipe = try LogPipe()
        var status = stat()
        fstat(pipe.writing.number, &status)
        let stream = "\(status.st_dev):\(status.st_ino)"
        sink(pipe, "journal").write(.warning, "a")
        sink(pipe, "plain", stream).write(.info, "b")
        sink(pipe, "auto", stream).write(.error, "c")
        sink(pipe, "auto", "0:0").write(.debug, "d")
        #expect(
            pipe.drain()
                == "<4>a\n2026-01-02T00:00:00.123Z info: b\n<3>c\n2026-01-02T00:00:00.123Z debug: d\n"
        )
    }

    @Test("one message is one line, whatever is in it")
    func oneLine() throws {
        let pipe = try LogPipe()
        let sink = sink(pipe, "journal")
        sink.write(.info, "a\nb\u{1B}[2J")
        #expect(pipe.drain() == "<6>a\u{FFFD}b\u{FFFD}[2J\n")
        sink.write(.info, String(repeating: "é", count: 5000))
        let long = pipe.drain()
        #expect(long.hasSuffix("é\n"))
        #expect(long.utf8.count <= 4096)
        #expect(!long.contains("\u{FFFD}"))
    }

    @Test("the level decides, and metadata follows the message")
    func levels() throws {
        let pipe = try LogPipe()
        let sink = sink(pipe, "journal")
        sink.level = .notice
        let logger = Logger.service(sink)
        logger.write(.info, "not this")
        logger.write(.notice, "this")
        logger.error("and that", metadata: ["b": "2", "a": "1"])
        #expect(pipe.drain() == "<5>this\n<3>and that a=1 b=2\n")
        // A configuration that was read again applies to existing loggers.
        sink.level = .debug
        logger.write(.debug, "and this")
        #expect(pipe.drain() == "<7>and this\n")
    }

    @Test("without a reader lines are lost and counted, and writing never waits")
    func withoutReader() throws {
        let pipe = try LogPipe()
        let sink = sink(pipe, "journal")
        let text = String(repeating: "x", count: 1000)
        for _ in 0..<200 { sink.write(.info, text) }
        let before = pipe.drain().split(separator: "\n")
        #expect(before.count < 200)
        #expect(before.allSatisfy { $0 == "<6>\(text)" })
        sink.write(.info, "after")
        #expect(pipe.drain() == "<4>\(200 - before.count) lines were lost: the log was not read\n<6>after\n")
    }

    @Test("ten thousand changes in a minute are sixty lines, and the rest is counted at the end")
    func storm() async throws {
        let bench = try await ServiceBench { _, _, counters in
            ChangeLogger(ServiceConfiguration.Log(), counters: counters)
        }
        let changes = (0..<10_000).map { index in
            let change = CommittedChange.at(0, index % 2 == 0 ? .wired : .unreachable, was: .unknown)
            return CommittedChange(
                change.update, since: nil, wall: change.wall,
                instant: MonotonicInstant(nanoseconds: Int64(index) * 5_000_000))
        }
        try await bench.notify(changes)
        await bench.stop()
        let lines = bench.log.elements
        #expect(lines.count == 61)
        #expect(lines.last == "notice: 9940 changes are left out of the log")
        #expect(try await bench.counters { $0.linesLeftOut } == 9940)
    }

    @Test("a change says how long the status before had lasted")
    func durations() async throws {
        let bench = try await ServiceBench { _, _, counters in
            ChangeLogger(ServiceConfiguration.Log(), counters: counters)
        }
        try await bench.notify(
            .at(0, .wired, event: .initial), .at(10, .unreachable, was: .wired),
            .at(15, .unreachable, was: .unreachable, event: .path), .at(75, .wired, was: .unreachable))
        await bench.stop()
        #expect(
            bench.log.elements == [
                "notice: status wired on eth0: a reason (generation 1)",
                "warning: status unreachable, was wired: a reason (generation 11)",
                "info: path offline, status still unreachable: a reason (generation 16)",
                "notice: status wired on eth0, was unreachable for 1 min 5 s: a reason (generation 76)",
            ])
    }
}
