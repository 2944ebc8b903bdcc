// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import ReachTesting
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// What a store of hosts leaves behind for the next process, and its clock.
struct StrictTransportFileTests: AnsweredHosts {
    @Test("API-471 The file outlasts the store, and curl reads it and writes what is read here")
    func file() async throws {
        let folder = try ScratchFolder()
        let store = try HSTSStore(file: folder("hsts"))
        let (manager, _) = answered(store) { _ in
            .status(204, headers: ["Strict-Transport-Security": "max-age=31536000; includeSubDomains"])
        }
        manager.responseSerializer = HTTPResponseSerializer()
        _ = try await get(manager, "https://a.example/")
        try await store.flush()
        #expect(folder.names == ["hsts"])
        var status = stat()
        #expect(stat(folder("hsts"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        let again = try HSTSStore(file: folder("hsts"), preloaded: [".b.example"])
        #expect(again.hosts == [".a.example", ".b.example"])
        #expect(again.secured(try #require(URL(string: "http://x.a.example/"))).scheme == "https")
        // Nothing listens there: what counts is the port that curl connects to.
        let origin = try await TestSupport.Origin.shared
        let curl = try await origin.run([
            "curl", "-sv", "--hsts", folder("hsts"), "--noproxy", "*", "--connect-to", "::127.0.0.1:1",
            "http://sub.a.example/",
        ])
        #expect(curl.errors.contains("Switched from HTTP to HTTPS due to HSTS"), "\(curl.errors)")
        #expect(try HSTSStore(file: folder("hsts")).hosts == [".a.example"])
        store.forget("a.example")
        try await store.flush()
        #expect(try HSTSStore(file: folder("hsts")).hosts == [])
    }

    @Test("forgetting all hosts leaves the preloaded ones, in memory and in the file")
    func forgettingAll() async throws {
        let folder = try ScratchFolder()
        let lines = ["a.example \"unlimited\"", ".b.example \"unlimited\""]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: folder("hsts")))
        let store = try HSTSStore(file: folder("hsts"), preloaded: ["c.example"])
        #expect(store.hosts == [".b.example", "a.example", "c.example"])
        store.forgetAll()
        #expect(store.hosts == ["c.example"])
        try await store.flush()
        #expect(try HSTSStore(file: folder("hsts")).hosts == [])
    }

    @Test(
        "API-471 A file that cannot be read is an error which says so; one that cannot be written keeps the rest"
    )
    func unusableFiles() async throws {
        let folder = try ScratchFolder()
        func failure(_ path: String) -> SessionError? {
            do {
                _ = try HSTSStore(file: path)
                return nil
            } catch {
                return error
            }
        }
        #expect(failure(folder.path)?.code == .cannotOpenFile)
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        #expect(failure(folder("pipe"))?.code == .cannotOpenFile)
        try Data(count: 2 << 20).write(to: URL(filePath: folder("big")))
        #expect(failure(folder("big"))?.message.contains("2097152 bytes") == true)
        #expect(symlink("loop", folder("loop")) == 0)
        #expect(failure(folder("loop"))?.code == .cannotOpenFile)
        #expect(throws: SessionError.self) { _ = try HSTSStore(file: nil, preloaded: ["192.0.2.1"]) }

        let store = try HSTSStore(file: folder("missing/hsts"))
        let (manager, sent) = answered(store)
        _ = try await get(manager, "https://a.example/")
        await #expect { try await store.flush() } throws: { error in
            let error = error as? SessionError
            return error?.code == .cannotCreateFile && error?.advice.contains("directory") == true
        }
        _ = try await get(manager, "http://a.example/")
        #expect(sent.all.last == "https://a.example/")
        #expect(mkdir(folder("missing"), 0o700) == 0)
        try await store.flush()
        #expect(try HSTSStore(file: folder("missing/hsts")).hosts == ["a.example"])
    }

    @Test("API-471 The end is by the wall clock")
    func clock() async throws {
        let folder = try ScratchFolder()
        let now = Mutex<Int64>(1_000)
        let store = try HSTSStore(file: folder("hsts")) { now.withLock { $0 } }
        let (manager, sent) = answered(store) { _ in
            .status(204, headers: ["Strict-Transport-Security": "max-age=100"])
        }
        _ = try await get(manager, "https://a.example/")
        try await store.flush()
        now.withLock { $0 = 1_099 }
        #expect(try HSTSStore(file: folder("hsts"), clock: { 1_099 }).hosts == ["a.example"])
        #expect(store.hosts == ["a.example"])
        now.withLock { $0 = 1_100 }
        _ = try await get(manager, "http://a.example/")
        #expect(sent.all.last == "http://a.example/" && store.hosts == [])
        #expect(try HSTSStore(file: folder("hsts"), clock: { 1_100 }).hosts == [])
    }
}
