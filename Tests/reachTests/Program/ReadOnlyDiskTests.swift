// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestSupport
import Testing

/// A device whose flash was mounted read-only, as ext4 is after an error.
@Suite(
    "A disk that is mounted read-only", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ReadOnlyDiskTests {
    @Test(
        "the service watches, keeps what it can when the disk can be written again, and its history is read without that",
        arguments: [SIGTERM, SIGKILL])
    func life(signal: Int32) async throws {
        let disk = try await SmallDisk(bytes: 16 << 20)
        let state = disk.mountPoint + "/state"
        #expect(mkdir(disk.path + "/state", 0o700) == 0)
        try await disk.setReadOnly(true)
        // The log comes in lines that can be waited for.
        let lab = try await ServeLab(
            wrapper: disk.entering + ["sh", "-c", "exec \"$@\" 2>&1", "sh"], state: state)
        func hasLogged(_ line: String) async -> Bool {
            await lab.service.output.comes { $0.contains { $0.contains(line) } }
        }
        // No process listens at that port.
        func send() async throws -> ProgramResult {
            try await lab.lab.near.reactor.run([
                "env", "REACH_SOCKET=\(lab.socket)", BuiltProgram.reach, "send", "http://10.0.0.1:9/",
            ])
        }
        let refused = try await send()
        #expect(refused.status != .exited(0))
        #expect(refused.errors.contains("\(state): Read-only file system; mount it"), "\(refused.errors)")
        #expect(await hasLogged("error: history: \(state): Read-only file system"))

        try await disk.setReadOnly(false)
        #expect(await hasLogged("notice: outbox: requests are delivered again"))
        let taken = try await send()
        #expect(taken.status == .exited(0), "\(taken.errors)")
        try await lab.lab.far.ip("link set p0 down")
        #expect(await hasLogged("notice: history: changes are kept again"))
        #expect(await lab.notices.comes({ $0.contains { $0.hasPrefix("STATUS=unreachable: v0") } }))
        // The answer comes from the writing thread, after the write.
        #expect(try await lab.ask("GetHistory").contains("unreachable"))

        lab.service.terminate(signal: signal)
        #expect(
            try await lab.service.status() == (signal == SIGTERM ? .exited(0) : .killed(signal: signal)))
        try await disk.setReadOnly(true)
        let reported = try await lab.lab.near.reactor.run(
            disk.entering + [BuiltProgram.reach, "history", "--json", "--state-directory", state])
        #expect(reported.status == .exited(0), "\(reported.errors)")
        // The first status came while the disk was read-only.
        let changes = try #require(reported.text.split(separator: #""changes":["#).last)
        #expect(
            changes.contains(#""status":"wired""#) && changes.contains(#""status":"unreachable""#),
            "\(changes)")
        try await lab.remove()
    }

    @Test(
        "a state directory that is mounted read-only: the network is watched, and the log says what is not kept",
        arguments: [true, false])
    func readOnlyState(exists: Bool) async throws {
        let disk = try await SmallDisk(bytes: 1 << 20)
        let state = disk.path + "/state"
        if exists { #expect(mkdir(state, 0o700) == 0) }
        try await disk.setReadOnly(true)
        let lab = try await ServeLab(state: state)
        #expect(try await lab.ask("GetStatus").contains(#""status": "wired""#))
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes({ $0.contains { $0.hasPrefix("STATUS=unreachable: v0") } }))
        let sent = try await lab.lab.near.reactor.run([
            "env", "REACH_SOCKET=\(lab.socket)", BuiltProgram.reach, "send", "http://10.0.0.1/",
        ])
        #expect(sent.status != .exited(0))
        #expect(sent.errors.contains("\(state): Read-only file system; mount it"), "\(sent.errors)")
        #expect(try await lab.stop() == .exited(0))
        let log = lab.service.standardError
        #expect(log.contains("error: history: \(state): Read-only file system"), "\(log)")
        #expect(log.contains("error: outbox: \(state): Read-only file system"), "\(log)")
    }
}
