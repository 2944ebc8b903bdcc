// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import reach

/// The program with few descriptors, threads, or little address space.
///
/// The limit of threads does not apply to root (CAP_SYS_RESOURCE, setrlimit(2)), so it runs as another user
/// there.
@Suite(
    "The program: little of everything", .timeLimit(.minutes(10)),
    .enabled(if: !BuiltProgram.isInstrumented, "\(BuiltProgram.instrumentsNeed)"))
struct NoThreadTests {
    private static let commands: [[String]] = [
        ["get", "-m", "3", "-o", "/dev/null", "http://127.0.0.1:9/x"],
        ["get", "-m", "3", "--json", "http://127.0.0.1:9/x"],
        ["queue", "--state-directory", "/dev/null/none"],
        ["send", "http://127.0.0.1:9/", "-d", "x", "--state-directory", "/dev/null/none"],
        ["status", "--probe", "http://127.0.0.1:9/"],
        ["doctor", "http://localhost:9/"],
    ]

    /// Runs it with limits given as options of prlimit(1).
    private func run(_ limits: [String], _ command: [String], asNobody: Bool = false) async throws
        -> ProgramResult
    {
        let user =
            asNobody && getuid() == 0
            ? ["setpriv", "--reuid", "65531", "--regid", "65531", "--clear-groups"] : []
        let reactor = try await Origin.shared
        return try await reactor.run(
            ["timeout", "--kill-after", "1", "30", "env", "REACH_SOCKET=", "SWIFT_BACKTRACE=enable=no"] + user
                + ["prlimit"] + limits + ["--", BuiltProgram.reach] + command)
    }

    private func expectSentence(_ result: ProgramResult, _ what: String) {
        guard case .exited(let code) = result.status else {
            Issue.record("\(what): \(result.status)")
            return
        }
        #expect(code < 100, "\(what): \(code) \(result.errors)")
        #expect(!result.errors.isEmpty || !result.output.isEmpty, "\(what)")
    }

    @Test("FLD-061 with few descriptors every command ends with a sentence", arguments: [4, 5, 6, 7, 8, 9])
    func descriptors(limit: Int) async throws {
        for command in Self.commands {
            expectSentence(try await run(["--nofile=\(limit)"], command), "\(limit) \(command)")
        }
    }

    @Test("FLD-062 where no thread can be started every command ends with a sentence", arguments: [1, 2])
    func threads(limit: Int) async throws {
        // The user nobody may be unable to reach the program.
        let probe = try await run([], ["--version"], asNobody: true)
        guard probe.status == .exited(0) else { return }
        for command in Self.commands {
            let result = try await run(["--nproc=\(limit)"], command, asNobody: true)
            expectSentence(result, "\(limit) \(command)")
            #expect(!result.text.contains("no name server answers"), "\(result.text)")
        }
    }

    @Test(
        "FLD-090 with little address space get --json fetches a file or says why not",
        arguments: Array(stride(from: 76, through: 180, by: 4)))
    func checksum(mebibytes: Int) async throws {
        let url = try await Origin.shared.url("/bytes/300000")
        let folder = try ScratchFolder()
        let result = try await run(
            ["--as=\(mebibytes << 20)"], ["get", "-m", "20", "--json", "-o", folder("file"), url])
        if result.status == .exited(127), result.errors.contains("shared libraries") { return }
        expectSentence(result, "\(mebibytes) MiB")
        #expect(folder.names.contains("file") == (result.status == .exited(0)))
    }

    @Test("FLD-063 with little address space every command ends with a sentence", arguments: [72, 84, 96])
    func addressSpace(mebibytes: Int) async throws {
        for command in Self.commands {
            let result = try await run(["--as=\(mebibytes << 20)"], command)
            // The loader needs most of the space if the runtime is not linked statically.
            if result.status == .exited(127), result.errors.contains("shared libraries") { continue }
            expectSentence(result, "\(mebibytes) MiB \(command)")
        }
    }
}
