// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The short forms; `Tests/Outbox/kill PROGRAM --power --rounds 500` is the long one.
///
/// The recorder is compiled first, and would be in front of a sanitizer's functions.
@Suite(
    .enabled(
        if: access("/usr/bin/cc", X_OK) == 0 && !BuiltProgram.isInstrumented, "no C compiler, or a sanitizer")
)
struct PowerLossTests {
    private let folder: ScratchFolder
    private let scripts =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Outbox/"

    init() throws { folder = try ScratchFolder("reach-power") }

    private func run(_ script: String, _ arguments: String...) async throws -> ProgramResult {
        let command = ["/usr/bin/python3", "-B", scripts + script]
        return try await Origin.shared.run(command + arguments)
    }

    @Test(
        "OBX-160 Nothing acknowledged is lost, reordered or sent again by losses of power: unsynced writes are gone or torn"
    )
    func power() async throws {
        let result = try await run(
            "kill", BuiltProgram.path("outbox-drill"), "--folder", folder("work"), "--rounds", "15", "--seed",
            "3",
            "--power")
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }

    @Test(
        "OBX-161 The same finds faults where syncs count for nothing: of files, of the names in folders",
        arguments: ["files", "folders"])
    func ignoredSyncs(what: String) async throws {
        let result = try await run(
            "kill", BuiltProgram.path("outbox-drill"), "--folder", folder("work"), "--rounds", "60", "--seed",
            "3",
            "--power", "--ignore", what)
        #expect(result.status == .exited(1), "\(result.text) \(result.errors)")
        #expect(result.errors.contains("FAIL "), "\(result.text) \(result.errors)")
    }

    @Test(
        "OBX-162 Of small programs a loss of power leaves each state that the disk may have, and no other one"
    )
    func recorder() async throws {
        let result = try await run("powerloss/check")
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }

    @Test("OBX-164 A file that was reported as fetched is whole after losses of power, and is there")
    func fetch() async throws {
        let result = try await run(
            "fetch", BuiltProgram.path("outbox-drill"), "--folder", folder("work"), "--rounds", "6", "--seed",
            "3",
            "--power")
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }
}
