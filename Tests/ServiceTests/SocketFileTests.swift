// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ReachabilityCore
import Service
import SessionCore
import TestSupport
import Testing

/// The socket's file and the status file, while their files or directory are removed.
@Suite("Places that are removed", .timeLimit(.minutes(10)))
struct SocketFileTests {
    @Test("FLD-019 a socket whose directory is removed, or which is removed alone, is made again")
    func socket() async throws {
        let lab = try await ServiceLab()
        var old = try lab.client()
        #expect(try old.call("GetStatus")["parameters"]?["status"] == "wired")
        let run = lab.folder + "/run"
        for (round, path) in [run, lab.socket, run].enumerated() {
            try #require(unlink(lab.socket) == 0)
            if path == run {
                unlink(lab.socket + ".lock")
                try #require(rmdir(run) == 0)
            }
            await lab.log.wait {
                $0.count { $0.hasSuffix("the socket \(lab.socket) is there again") } > round
            }
            var new = try lab.client()
            #expect(try new.call("GetStatus")["parameters"]?["status"] == "wired")
        }
        #expect(lab.log.elements.contains { $0.hasSuffix("\(lab.socket) is gone; it is made again") })
        // Existing connections remain.
        #expect(try old.call("GetStatus")["parameters"]?["status"] == "wired")
        await lab.stop { #expect(access(lab.socket, F_OK) != 0) }
    }

    @Test(
        "FLD-019 another's socket at the same path is left alone, and reported, with a lock and without",
        arguments: [true, false])
    func another(hasLock: Bool) async throws {
        let lab = try await ServiceLab()
        let run = lab.folder + "/run"
        try #require(rename(run, lab.folder + "/moved") == 0)
        let other = try UnixListener(path: lab.socket)
        if !hasLock { try #require(unlink(lab.socket + ".lock") == 0) }
        await lab.log.wait { $0.contains { $0.contains("another service answers at \(lab.socket)") } }
        await lab.stop { #expect(access(lab.socket, F_OK) == 0) }
        withExtendedLifetime(other) {}
    }

    @Test("FLD-019 status.json is written again where its directory is removed and made again")
    func statusFile() async throws {
        let folder = try ScratchFolder("reach-place")
        let (run, files) = (folder("run"), try Reactor(name: "place-files"))
        try #require(mkdir(run, 0o755) == 0)
        let lab = try await ServiceLab(parts: { [StatusFile(directory: run, files: files)] })
        try await lab.settle()
        try await files.result {}
        try #require(unlink(run + "/status.json") == 0)
        try #require(rmdir(run) == 0)
        await lab.log.wait { $0.contains { $0.contains("status.json cannot be made") } }
        try #require(mkdir(run, 0o755) == 0)
        await lab.log.wait { $0.contains { $0.contains("status.json can be written again") } }
        #expect(access(run + "/status.json", F_OK) == 0)
        await lab.stop()
    }

    @Test("OBX-080 the record of the state directory is made again with the socket")
    func record() async throws {
        let lab = try await ServiceLab(hasOutbox: true)
        let (run, record) = (lab.folder + "/run", lab.socket + ".state")
        #expect(StateDirectoryRecord.directory(socket: lab.socket) == lab.folder)
        for path in [record, lab.socket, lab.socket + ".lock"] { try #require(unlink(path) == 0) }
        try #require(rmdir(run) == 0)
        await lab.log.wait { $0.contains { $0.hasSuffix("the socket \(lab.socket) is there again") } }
        #expect(StateDirectoryRecord.directory(socket: lab.socket) == lab.folder)
        await lab.stop()
    }
}
