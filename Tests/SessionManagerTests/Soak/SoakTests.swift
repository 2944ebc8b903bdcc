// SPDX-License-Identifier: Apache-2.0

import CTestSupport
import FoundationEssentials
import Glibc
import SessionCore
import TestSupport
import Testing

/// Transfers of every kind while the network and the server do everything that they can do.
///
/// For longer, round after round with the next seed each, 300 transfers under 200 faults:
///
///     REACH_SOAK_SECONDS=900 REACH_SOAK_SEED=1 Tests/run soak
///
/// Memory is looked at then as well: what was allocated and not freed, as mallinfo2(3) counts it with one
/// arena and without the caches of threads. What stays resident depends on how the pieces lie.
@Suite(
    "Soak",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct SoakTests {
    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    @Test(
        "every transfer that can succeed does, with the right content; nothing is carried out twice; nothing stays"
    )
    func soak() async throws {
        guard let seconds = Self.number("REACH_SOAK_SECONDS") else {
            return try await round(
                seed: UInt64(Self.number("REACH_SOAK_SEED") ?? 1), transfers: 60, faults: 40)
        }
        let end = ContinuousClock.now + .seconds(seconds)
        var seed = UInt64(Self.number("REACH_SOAK_SEED") ?? 1)
        var memory: [Int] = []
        repeat {
            try await round(seed: seed, transfers: 300, faults: 200)
            memory.append(ctest_allocated_bytes() / 1024)
            print("seed \(seed): \(memory.last ?? 0) KiB allocated, \(Self.residentKiB) KiB resident")
            seed += 1
        } while ContinuousClock.now < end
        // The first rounds fill caches, and each round differs from the next. Two kilobytes that stay of each
        // transfer would be two megabytes.
        guard memory.count >= 6 else { return }
        let third = memory.count / 3
        #expect(
            Self.median(memory.suffix(third)) <= Self.median(memory[third..<(2 * third)]) + 512, "\(memory)")
    }

    private func round(seed: UInt64, transfers: Int, faults: Int) async throws {
        let run = try await SoakRun(SoakPlan(seed: seed, transfers: transfers, faults: faults))
        try await run()
        if Self.number("REACH_SOAK_SECONDS") != nil {
            print(
                "seed \(seed): \(transfers) transfers, \(run.failed) failed, \(run.unknown) of them carried out"
            )
        }
        for fault in run.faults { Issue.record("seed \(seed): \(fault)") }
    }

    private static func median(_ values: ArraySlice<Int>) -> Int { values.sorted()[values.count / 2] }

    private static var residentKiB: Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (words.flatMap { Int($0[1]) } ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / 1024
    }
}
