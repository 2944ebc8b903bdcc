// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Outbox

/// The short forms; by hand, `Tests/Outbox/kill PROGRAM --rounds 500` and `Tests/Outbox/wire PROGRAM`.
@Suite struct KillTests {
    private let folder: ScratchFolder
    private let scripts =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Outbox/"

    init() throws { folder = try ScratchFolder("reach-kill") }

    private func run(_ arguments: String...) async throws -> ProgramResult {
        let origin = try await Origin.shared
        return try await origin.run(
            [
                "/usr/bin/python3", "-B", scripts + "kill", BuiltProgram.path("outbox-drill"), "--folder",
                folder("work"),
            ]
                + arguments)
    }

    @Test("Nothing is lost, reordered or sent again by processes that are killed at random instants")
    func kills() async throws {
        let result = try await run("--rounds", "15", "--seed", "7")
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }

    @Test(
        "Nor by a disk that is full: what cannot be stored is refused, and what is there leaves",
        .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
    func fullDisk() async throws {
        let result = try await run("--rounds", "8", "--seed", "5", "--full")
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }

    @Test(
        "OBX-136 After an outage with a limit that was reached the newest arrive over a slow line, once and in order",
        .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"),
        arguments: [[], ["--joined"]])
    func outage(_ more: [String]) async throws {
        let origin = try await Origin.shared
        let result = try await origin.run(
            [
                "/usr/bin/python3", "-B", scripts + "week", BuiltProgram.path("outbox-drill"), "--folder",
                folder("."), "--count", "1500", "--limit", "100000",
            ] + more)
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }

    @Test(
        "OBX-250 Samples of 200 bytes in batches take 1/40 of the requests and 1/8 of the bytes, as the server counts them"
    )
    func wire() async throws {
        let origin = try await Origin.shared
        let result = try await origin.run([
            "/usr/bin/python3", "-B", scripts + "wire", BuiltProgram.path("outbox-drill"), "--count", "1500",
        ])
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }
}
