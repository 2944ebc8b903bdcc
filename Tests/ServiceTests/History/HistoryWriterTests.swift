// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import TestSupport
import Testing

@testable import Service

@Suite("History: what is old by a clock that may be wrong")
struct HistoryWriterTests {
    private static let day: Int64 = 86_400_000_000_000
    private static let hour: Int64 = 3_600_000_000_000
    private let folder: ScratchFolder
    private var path: String { folder(HistoryDatabase.fileName) }
    private var directory: StateDirectory { StateDirectory(folder.path) }

    init() throws { folder = try ScratchFolder("reach-writer") }

    private func record(_ wall: Int64, _ boot: Int64) -> HistoryRecord {
        HistoryRecord(
            run: 0, wall: WallTime(nanoseconds: wall), boot: boot, status: .wired, isOnline: true, reason: "",
            code: "")
    }

    private func count() throws -> Int64 { try HistoryDatabase(reading: path).count() }

    /// A run of ten changes at a day, with its end.
    private func run(_ day: Int64) {
        let writer = HistoryWriter(in: directory, ServiceConfiguration.History())
        let wall = day * Self.day
        let outcome = writer.write(
            (0..<10).map { record(wall + $0, $0) }, at: WallTime(nanoseconds: wall + 10), boot: 10,
            isEnd: true)
        #expect(outcome.problem == nil)
    }

    @Test(
        "what a clock 50 years ahead calls old is kept for an hour; when that is set by then, for as long as ever"
    )
    func ahead() throws {
        for day in 20_000..<20_003 as Range<Int64> { run(day) }
        #expect(try count() == 30)
        let wrong = 38_000 * Self.day
        let writer = HistoryWriter(in: directory, ServiceConfiguration.History())
        _ = writer.write([record(wrong, 0)], at: WallTime(nanoseconds: wrong), boot: 0, isEnd: false)
        #expect(try count() == 31)
        // The clock was set, and the run continues after the hour.
        let right = 20_010 * Self.day
        _ = writer.write([], at: WallTime(nanoseconds: right), boot: Self.hour, isEnd: false)
        #expect(try count() == 31)
        _ = writer.write([], at: WallTime(nanoseconds: right), boot: 2 * Self.hour, isEnd: true)
        #expect(try count() == 31)
    }

    @Test(
        "what is old by a clock that is never set is forgotten after the hour, and at once where not all of it is"
    )
    func old() throws {
        run(20_000)
        let late = 20_200 * Self.day
        let writer = HistoryWriter(in: directory, ServiceConfiguration.History())
        _ = writer.write([record(late, 0)], at: WallTime(nanoseconds: late), boot: 0, isEnd: false)
        #expect(try count() == 11)
        let wall = WallTime(nanoseconds: late + Self.hour)
        _ = writer.write([], at: wall, boot: Self.hour - 1, isEnd: false)
        #expect(try count() == 11)
        _ = writer.write([], at: wall, boot: Self.hour, isEnd: true)
        // The state that reaches into the remaining time stays.
        #expect(try count() == 2)
        run(20_280)
        #expect(try count() == 12)
        run(20_300)
        #expect(try count() == 21)
    }
}
