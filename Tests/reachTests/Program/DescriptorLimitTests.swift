// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Service
import ServiceCore
import TestSupport
import Testing

/// Programs that may open few files (RLIMIT_NOFILE, setrlimit(2)).
@Suite(
    "Too few descriptors", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct DescriptorLimitTests {
    private func run(_ limit: Int, _ arguments: String...) async throws -> ProgramResult {
        let lab = try await NetworkLab(.f0)
        return try await lab.near.reactor.run(
            ["timeout", "60", "prlimit", "--nofile=\(limit)", "--", BuiltProgram.reach] + arguments)
    }

    // SQLite needs one for the file, one for its log and one for the log's index.
    @Test("a history that cannot be opened for that reason says so, without advice about the folder")
    func history() async throws {
        let folder = try ScratchFolder("reach-history")
        _ = try HistoryDatabase(folder(HistoryDatabase.fileName)).beginRun(at: WallTime(seconds: 0), boot: 0)
        let result = try await run(4, "history", "--state-directory", folder.path)
        #expect(result.status == .exited(74))
        #expect(
            result.errors.contains("raise the limit of open files (ulimit -n, LimitNOFILE=)"),
            "\(result.errors)")
        #expect(!result.errors.contains("check that the folder exists"), "\(result.errors)")
    }

    @Test(
        "a service that cannot start for that reason says so",
        .enabled(if: !BuiltProgram.isInstrumented, "\(BuiltProgram.instrumentsNeed)"), arguments: [6, 8, 12])
    func serve(limit: Int) async throws {
        let folder = try ScratchFolder("reach-serve")
        let result = try await run(
            limit, "serve", "--socket", folder("socket"), "--state-directory", folder.path)
        #expect(result.status == .exited(1))
        let last = try #require(result.errors.split(separator: "\n").last)
        #expect(
            last.hasSuffix("Too many open files; raise the limit of open files (ulimit -n, LimitNOFILE=)"),
            "\(result.errors)")
        #expect(!result.errors.contains("install"), "\(result.errors)")
    }
}
