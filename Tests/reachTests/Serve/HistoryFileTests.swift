// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import ReachabilityCore
import Service
import ServiceCore
import Storage
import TestSupport
import Testing

/// Inputs of the program that are not the expected kind of file.
@Suite("What is no file", .timeLimit(.minutes(10)))
struct HistoryFileTests {
    private let origin: TestSupport.Origin
    private let folder: ScratchFolder
    private var path: String { folder(HistoryDatabase.fileName) }

    init() async throws {
        origin = try await Origin.shared
        folder = try ScratchFolder("reach-history")
    }

    private func reach(_ arguments: String...) async throws -> ProgramResult {
        try await origin.run(["timeout", "-s", "KILL", "60", BuiltProgram.reach] + arguments)
    }

    private func history() async throws -> ProgramResult {
        try await reach("history", "--state-directory", folder.path)
    }

    private func make() throws {
        _ = try HistoryDatabase(path).beginRun(at: WallTime(seconds: 0), boot: 0)
    }

    @Test(
        "FLD-068 a history that is a pipe or a link, or has one beside it, is refused and not waited for",
        arguments: [
            "", "-journal", "-wal", "-shm",
        ])
    func kinds(suffix: String) async throws {
        for isLink in [false, true] {
            if suffix != "" {
                try make()
                unlink(path + suffix)
            } else {
                _ = try HistoryDatabase(folder("other.sqlite"))
            }
            try #require(
                (isLink ? symlink(folder("other.sqlite"), path + suffix) : mkfifo(path + suffix, 0o600)) == 0)
            let end = try await history()
            #expect(end.status == .exited(74), "\(end)")
            #expect(end.errors.contains("\(path + suffix): it is no ordinary file"), "\(end.errors)")
            for name in ["", "-journal", "-wal", "-shm"] { unlink(path + name) }
        }
    }

    @Test("FLD-068 a lock of the history that is a pipe counts as free")
    func lock() async throws {
        try make()
        try #require(mkfifo(path + ".lock", 0o600) == 0)
        #expect(try await history().status == .exited(0))
    }

    @Test("FLD-068 a history of a newer version is refused, and not read as if it were known")
    func newer() async throws {
        try make()
        try Database(path).execute("PRAGMA user_version = 99")
        let end = try await history()
        #expect(end.status == .exited(74) && end.text == "", "\(end)")
        #expect(end.errors.contains("the file has version 99"), "\(end.errors)")
    }

    @Test("FLD-068 a recording comes through a pipe as well; a folder is none")
    func recording() async throws {
        try #require(mkfifo(folder("pipe"), 0o600) == 0)
        let text = "reach-recording 1\\n"
        let end = try await origin.run([
            "sh", "-c",
            "printf '\(text)' >'\(folder("pipe"))' & exec timeout -s KILL 60 '\(BuiltProgram.reach)' replay '\(folder("pipe"))'",
        ])
        #expect(end.status == .exited(64) && !end.errors.contains("Resource temporarily"), "\(end)")
        let none = try await reach("replay", folder.path)
        #expect(none.status == .exited(64) && none.errors.contains("Is a directory"), "\(none)")
    }

    @Test("FLD-068 a configuration in a pipe that nothing is written to is not taken for an empty one")
    func configuration() async throws {
        try #require(mkfifo(folder("pipe"), 0o600) == 0)
        let end = try await reach("serve", "--check", "--config", folder("pipe"))
        #expect(end.status == .exited(64) && end.errors.contains(folder("pipe")), "\(end)")
        #expect(end.errors.contains("it is a pipe, and no program has written to it within 5 s"))
    }

    @Test("FLD-059 the program names every library that it opens itself, for packagers (ELF .note.dlopen)")
    func notes() throws {
        let bytes = try Data(contentsOf: URL(filePath: BuiltProgram.reach))
        let names = ["libcurl.so.4", "libsqlite3.so.0", "libz.so.1", "libbrotlidec.so.1", "libidn2.so.0"]
        for name in names {
            #expect(bytes.firstRange(of: Data(#""soname":["\#(name)"]"#.utf8)) != nil, "\(name)")
        }
    }

    @Test(
        "FLD-051 root lists, adds to and removes from another user's outbox, and nothing of root's changes by it",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func strangersOutbox() async throws {
        try #require(chmod(folder.path, 0o755) == 0)
        let (state, precious) = (folder("state"), folder("root"))
        let bodies = state + "/outbox/outbox.bodies"
        try #require(mkdir(precious, 0o755) == 0)
        try Data("x".utf8).write(to: URL(filePath: precious + "/file"))
        try #require(chmod(precious + "/file", 0o600) == 0)
        func send() async throws -> ProgramResult {
            try await reach("send", "http://127.0.0.1:9/", "-d", "x", "--state-directory", state)
        }
        func check(_ note: String) {
            var status = stat()
            #expect(stat(precious, &status) == 0 && status.st_mode & 0o7777 == 0o755, "\(note)")
            #expect(access(precious + "/file", F_OK) == 0, "\(note)")
        }
        try #require(mkdir(state, 0o700) == 0 && chown(state, 65534, 65534) == 0)
        #expect(try await send().status == .exited(0))
        // A name from the database.
        try Database(state + "/outbox/outbox.sqlite").run("UPDATE contents SET file = '../../../root/file'")
        #expect(
            try await reach("queue", "remove", "1", "--state-directory", state).status == .exited(0))
        check("name")
        // A link to a folder of root, and damage, which moves the contents in it.
        try #require(rmdir(bodies) == 0 && symlink(precious, bodies) == 0)
        #expect(try await reach("queue", "--state-directory", state).status == .exited(74))
        check("link")
        for suffix in DatabaseFile.companions { unlink(state + "/outbox/outbox.sqlite" + suffix) }
        try Data(repeating: 0xA5, count: 8192).write(to: URL(filePath: state + "/outbox/outbox.sqlite"))
        #expect(try await reach("queue", "--state-directory", state).status == .exited(74))
        check("damage")
        #expect(try await send().status == .exited(74))
        // The database itself.
        try #require(unlink(bodies) == 0 && unlink(state + "/outbox/outbox.sqlite") == 0)
        try #require(symlink(precious + "/file", state + "/outbox/outbox.sqlite") == 0)
        #expect(try await send().status == .exited(74))
        #expect(try Data(contentsOf: URL(filePath: precious + "/file")) == Data("x".utf8))
    }

    @Test("FLD-110 --check refuses a group that is not there, with which the service would not start")
    func group() async throws {
        let end = try await reach("serve", "--check", "--outbox-group", "no-such-group")
        #expect(end.status == .exited(64) && end.text.isEmpty, "\(end)")
        #expect(end.errors.contains("there is no group 'no-such-group'"), "\(end.errors)")
        #expect(try await reach("serve", "--check", "--outbox-group", "54321").status == .exited(0))
    }

    @Test(
        "FLD-113 what a running service answers instead of a history is shown",
        arguments: [
            ("the history cannot be written at this time", 74), ("this service keeps no history", 66),
        ])
    func refused(reason: String, code: Int32) async throws {
        let answer = #"{"error":"io.reach.Reachability.Unavailable","parameters":{"reason":"\#(reason)"}}"#
        let end = try await ScriptedService.run(
            [BuiltProgram.reach, "history"], answers: "[\(answer)]", socket: folder("socket"), by: origin)
        #expect(end.status == .exited(code) && end.errors.contains(reason), "\(end)")
    }
}
