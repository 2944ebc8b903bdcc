// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Outbox
import TestSupport
import Testing

/// The order of system calls: a snapshot of the files cannot show what a loss of power would preserve.
@Suite struct SyncOrderTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder("reach-sync") }

    @Test(
        "A content is synced before it gets its name, the name before the entry is committed, and that before it is told",
        .enabled(if: NetworkLab.isRequired || access("/usr/bin/strace", X_OK) == 0, "strace is not installed")
    )
    func order() async throws {
        let origin = try await Origin.shared
        let trace = folder("trace")
        // Request 0 has a content that is large enough for a file.
        let result = try await origin.run([
            "strace", "-f", "-y", "-qq", "-o", trace, "-e",
            "trace=fsync,fdatasync,rename,renameat,renameat2,write",
            // The leak detector does not work in a traced program.
            "-E", "ASAN_OPTIONS=detect_leaks=0",
            "-e", "signal=none", BuiltProgram.path("outbox-drill"), "enqueue", folder("outbox"),
            "http://127.0.0.1:1",
            "0", "1", "1", "1",
        ])
        try #require(result.status == .exited(0), "\(result.errors)")
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        func first(after start: Int, _ parts: String...) throws -> Int {
            try #require(
                lines.indices.first { index in index > start && parts.allSatisfy { lines[index].contains($0) }
                },
                "no \(parts) behind line \(start) of:\n\(lines.joined(separator: "\n"))")
        }
        let content = try first(after: -1, "sync(", ".part>")
        let name = try first(after: content, "rename", ".part")
        let names = try first(after: name, "sync(", "outbox.bodies>")
        let commit = try first(after: names, "sync(", "outbox.sqlite-wal>")
        _ = try first(after: commit, "write(1", "took 0")
    }

    @Test(
        "OBX-331 A fetched file is synced before it gets its name, the folder after that, and both before the program is told and the entry leaves",
        .enabled(if: NetworkLab.isRequired || access("/usr/bin/strace", X_OK) == 0, "strace is not installed")
    )
    func fetched() async throws {
        let origin = try await Origin.shared
        let (trace, fetched) = (folder("trace"), folder("fetched"))
        #expect(mkdir(fetched, 0o700) == 0)
        let result = try await origin.run([
            "strace", "-f", "-y", "-qq", "-o", trace, "-e",
            "trace=fsync,fdatasync,rename,renameat,renameat2,write,fchmod",
            "-E", "ASAN_OPTIONS=detect_leaks=0", "-E", "no_proxy=*",
            "-e", "signal=none", BuiltProgram.path("outbox-drill"), "fetch", folder("outbox"),
            origin.url("/bytes/100000"), fetched + "/file",
        ])
        try #require(result.status == .exited(0), "\(result.errors)")
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        func first(after start: Int, _ parts: String...) throws -> Int {
            try #require(
                lines.indices.first { index in index > start && parts.allSatisfy { lines[index].contains($0) }
                },
                "no \(parts) behind line \(start) of:\n\(lines.joined(separator: "\n"))")
        }
        let rename = try first(after: -1, "renameat", ".reach-fetch-", "\"file\"")
        let mode = try first(after: -1, "fchmod(", ".reach-fetch-", "0644")
        let synced = try #require(
            lines[..<rename].lastIndex { $0.contains("sync(") && $0.contains(".reach-fetch-") })
        #expect(mode < synced)
        let named = try first(after: rename, "sync(", "<\(fetched)>")
        let noted = try first(after: named, "sync(", "outbox.sqlite-wal>")
        let reported = try first(after: noted, "write(1", "told ")
        let left = try first(after: reported, "sync(", "outbox.sqlite-wal>")
        _ = try first(after: left, "write(1", "sent ")
    }

    @Test(
        "FLD-055 The names of folders that are made for an outbox are on the disk before a request is told to be",
        .enabled(if: NetworkLab.isRequired || access("/usr/bin/strace", X_OK) == 0, "strace is not installed")
    )
    func folders() async throws {
        let origin = try await Origin.shared
        let trace = folder("trace")
        let result = try await origin.run([
            "strace", "-f", "-y", "-qq", "-o", trace, "-e", "trace=fsync,write",
            "-E", "ASAN_OPTIONS=detect_leaks=0", "-e", "signal=none", BuiltProgram.path("outbox-drill"),
            "enqueue", folder("a/b/outbox"), "http://127.0.0.1:1", "0", "1", "1", "1",
        ])
        try #require(result.status == .exited(0), "\(result.errors)")
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        let reported = try #require(lines.firstIndex { $0.contains("write(1") && $0.contains("took 0") })
        for path in [folder.path, folder("a"), folder("a/b"), folder("a/b/outbox")] {
            let synced = lines[..<reported].contains { $0.contains("sync(") && $0.contains("<\(path)>") }
            #expect(synced, "\(path) in:\n\(lines.joined(separator: "\n"))")
        }
    }

    @Test(
        "OBX-163 A log in which a killed process may have left commits is synced before anything follows from them",
        .enabled(if: NetworkLab.isRequired || access("/usr/bin/strace", X_OK) == 0, "strace is not installed")
    )
    func unsyncedLog() async throws {
        // An open outbox keeps its log.
        let outbox = try await RequestOutbox(at: folder("outbox"))
        try await outbox.enqueue(OutboxRequest("http://127.0.0.1:1", body: .data(Data("x".utf8))))
        let trace = folder("trace")
        let result = try await Origin.shared.run([
            "strace", "-f", "-y", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync,pwrite64,unlinkat",
            "-E", "ASAN_OPTIONS=detect_leaks=0", "-e", "signal=none", BuiltProgram.path("outbox-drill"),
            "enqueue", folder("outbox"), "http://127.0.0.1:1", "0", "1", "1", "1",
        ])
        await outbox.close()
        try #require(result.status == .exited(0), "\(result.errors)")
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        let log = lines.indices.filter { lines[$0].contains("outbox.sqlite-wal>") }
        let first = try #require(log.first, "\(lines.joined(separator: "\n"))")
        #expect(lines[first].contains("sync("), "\(lines.joined(separator: "\n"))")
    }
}
