// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import Service
import ServiceCore
import Storage
import TestSupport
import Testing

/// Files of a history with changed bytes, the same ones each time.
@Suite(.timeLimit(.minutes(10)))
struct ChangedHistoryTests {
    private let from = WallTime(seconds: 0)
    private let to = WallTime(seconds: 4_000_000_000)

    private func fill(_ path: String) throws {
        let database = try HistoryDatabase(path)
        let run = try database.beginRun(at: WallTime(seconds: 1_000), boot: 1)
        try database.append(
            (0..<20).map {
                HistoryRecord(
                    run: run, wall: WallTime(seconds: 1_000 + $0), boot: $0, status: .wired, isOnline: true,
                    reason: "because", code: "")
            })
        try database.beat(run, at: WallTime(seconds: 2_000), boot: 2_000, isEnd: true)
    }

    @Test(
        "FLD-075 a history with changed bytes is read, refused or set aside, and then a new one can be written",
        arguments: 0..<60)
    func changed(seed: UInt64) throws {
        let folder = try ScratchFolder("reach-changed")
        let path = folder(HistoryDatabase.fileName)
        try fill(path)
        var random = SeededGenerator(seed: seed)
        var bytes = try Data(contentsOf: URL(filePath: path))
        for _ in 0...Int.random(in: 0..<20, using: &random) {
            let index = Int.random(in: bytes.indices, using: &random)
            bytes[index] = UInt8.random(in: .min ... .max, using: &random)
        }
        try bytes.write(to: URL(filePath: path))
        if let database = try? HistoryDatabase(reading: path) {
            _ = try? database.timeline(from: from, to: to)
            _ = try? database.timeline(newest: 3, from: from, to: to, running: try? database.lastRun()?.id)
        }
        // As the service opens one that was found damaged at work.
        let database: HistoryDatabase
        do throws(StorageError) { database = try HistoryDatabase(path, isSuspect: true) } catch {
            // Of another program, or of a later version.
            return #expect(!error.kind.isDamage, "\(error)")
        }
        let run = try? database.beginRun(at: to, boot: 1)
        #expect(database.setAside == nil || run != nil)
    }
}
