// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Foreign files in the folder of an outbox.
@Suite struct FolderTests {
    let lab: OutboxLab
    init() throws { lab = try OutboxLab() }

    @Test("FLD-051 names of contents that no outbox has given lead to no file")
    func names() async throws {
        let outbox = try await lab.open()
        let receipt = try await outbox.enqueue(
            OutboxRequest(to: "http://127.0.0.1:1/", body: .data(Data(count: 100_000))))
        await outbox.close()
        let precious = lab.folder("precious")
        try Data("x".utf8).write(to: URL(filePath: precious))
        try Database(lab.path + "/outbox.sqlite").run("UPDATE contents SET file = '../../precious'")
        let paths = OutboxPaths(folder: lab.path)
        #expect(paths.body("../../precious") == paths.bodies + "/unnamed")
        let next = try await lab.open()
        #expect(try await next.remove([receipt.id]) == [receipt.id])
        await next.close()
        #expect(access(precious, F_OK) == 0)
    }

    @Test("FLD-051 a link in the place of the contents is refused, and nothing behind it is changed")
    func linkedContents() async throws {
        await (try lab.open()).close()
        let other = lab.folder("other")
        try #require(mkdir(other, 0o755) == 0 && chmod(other, 0o755) == 0)
        try Data("x".utf8).write(to: URL(filePath: other + "/file"))
        try #require(rmdir(lab.path + "/outbox.bodies") == 0)
        try #require(symlink(other, lab.path + "/outbox.bodies") == 0)
        let error = await #expect(throws: OutboxError.self) { _ = try await lab.open() }
        #expect(error?.description.contains("outbox.bodies is no folder") == true, "\(error as Any)")
        var status = stat()
        #expect(stat(other, &status) == 0 && status.st_mode & 0o777 == 0o755)
        #expect(access(other + "/file", F_OK) == 0)
    }

    @Test(
        "FLD-051 files that are links or pipes are refused and not waited for",
        arguments: [
            "outbox.sqlite", "outbox.sqlite-wal", "outbox.gate", "outbox.reserve",
        ])
    func kinds(name: String) async throws {
        for isLink in [true, false] {
            let lab = try OutboxLab()
            try #require(mkdir(lab.path, 0o700) == 0)
            let path = lab.path + "/" + name
            let precious = lab.folder("precious")
            try Data("precious".utf8).write(to: URL(filePath: precious))
            try #require((isLink ? symlink(precious, path) : mkfifo(path, 0o600)) == 0)
            await #expect(throws: OutboxError.self) {
                let outbox = try await lab.open()
                try await outbox.enqueue(OutboxRequest(to: "http://127.0.0.1:1/"))
            }
            #expect(try Data(contentsOf: URL(filePath: precious)) == Data("precious".utf8))
        }
    }

    @Test("FLD-118 a path with a NUL, which the kernel would cut there, is refused")
    func cutPath() async throws {
        let error = await #expect(throws: OutboxError.self) {
            _ = try await RequestOutbox(at: lab.path + "\0more")
        }
        #expect(error?.description.contains("has a NUL character in it") == true, "\(error as Any)")
        #expect(access(lab.path, F_OK) != 0)
    }

    @Test("FLD-051 a world-writable folder is refused")
    func open() async throws {
        try #require(mkdir(lab.path, 0o700) == 0 && chmod(lab.path, 0o777) == 0)
        let error = await #expect(throws: OutboxError.self) { _ = try await lab.open() }
        #expect(error?.description.contains("may be written by every user") == true)
    }

    @Test(
        "FLD-051 root works in another user's folder with that user's rights, and does not deliver from it",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func owner() async throws {
        try #require(chmod(lab.folder.path, 0o755) == 0)
        try #require(mkdir(lab.path, 0o700) == 0 && chown(lab.path, 65534, 65534) == 0)
        let outbox = try await lab.open()
        try await outbox.enqueue(
            OutboxRequest(to: "http://127.0.0.1:1/", body: .data(Data(count: 100_000))))
        for name in ["", "/outbox.sqlite", "/outbox.gate", "/outbox.reserve", "/outbox.bodies"] {
            var status = stat()
            #expect(lstat(lab.path + name, &status) == 0 && status.st_uid == 65534, "\(name)")
        }
        // That thread can neither read nor change a file of root.
        let secret = lab.folder("secret")
        try Data("x".utf8).write(to: URL(filePath: secret))
        try #require(chmod(secret, 0o600) == 0)
        let (read, mode) = try await outbox.on { _ in
            let number = Glibc.open(secret, O_RDONLY)
            if number >= 0 { close(number) }
            return (number >= 0, chmod(secret, 0o666))
        }
        #expect(!read && mode != 0)
        // The calling thread has its own rights again.
        #expect(access(secret, R_OK) == 0 && (try? Data(contentsOf: URL(filePath: secret))) != nil)
        let error = await #expect(throws: OutboxError.self) {
            try await outbox.startDelivery(with: OutboxLab.manager())
        }
        #expect(error?.description.contains("belongs to user 65534") == true)
        await outbox.close()
    }

    private func loss(_ count: Int) async throws {
        _ = await lab.events.wait { $0.count { Self.isLoss($0) } == count }
        #expect(lab.events.elements.count { Self.isLoss($0) } == count)
    }

    /// Removes the folder as rm(1) does, again where the outbox writes into it meanwhile.
    private func removeFolder() {
        while access(lab.path, F_OK) == 0 { try? FileManager.default.removeItem(atPath: lab.path) }
    }

    private static func isLoss(_ event: OutboxEvent) -> Bool {
        if case .storageFailed(let reason) = event { reason.contains("was taken away") } else { false }
    }

    @Test("OBX-086 a folder that is removed in use is made again for the next request, and the loss is told")
    func removed() async throws {
        let outbox = try await lab.open()
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        for size in [10, 100_000] {
            try await outbox.enqueue(OutboxRequest(to: "http://127.0.0.1:1/"))
            let known = lab.events.elements.count
            removeFolder()
            let request = try OutboxRequest(to: "http://127.0.0.1:1/", body: .data(Data(count: size)))
            let receipt = try await outbox.enqueue(request)
            // A log without its database, seen while the rest is being removed, is reported as damage.
            await lab.events.wait { events in
                events.dropFirst(known).contains {
                    if case .damaged = $0 { true } else { Self.isLoss($0) }
                }
            }
            #expect(try await outbox.entries().map(\.id) == [receipt.id])
            // What others lock is in place again.
            try await outbox.on { (engine) throws(OutboxError) in try engine.renewLock() }
            for name in ["outbox.lock", "outbox.gate", "outbox.bodies", "outbox.reserve"] {
                #expect(access(lab.path + "/" + name, F_OK) == 0, "\(name)")
            }
            let other = try await lab.open()
            let error = await #expect(throws: OutboxError.self) {
                try await other.startDelivery(with: OutboxLab.manager())
            }
            #expect(error?.code == .deliveredElsewhere)
            await other.close()
            try await outbox.pause()
        }
        await outbox.close()
    }

    @Test("OBX-087 a database that another process has removed and begun again is told as a loss")
    func begunAgain() async throws {
        let outbox = try await lab.open()
        try await outbox.enqueue(OutboxRequest(to: "http://127.0.0.1:1/"))
        let new = lab.folder("new")
        await (try await RequestOutbox(at: new)).close()
        for suffix in DatabaseFile.companions { unlink(lab.path + "/outbox.sqlite" + suffix) }
        try #require(rename(new + "/outbox.sqlite", lab.path + "/outbox.sqlite") == 0)
        #expect(try await outbox.counts() == OutboxCounts())
        try await loss(1)
        await outbox.close()
    }

    @Test("OBX-087 a database that is moved away in use is told as a loss")
    func movedAway() async throws {
        let outbox = try await lab.open()
        try await outbox.enqueue(OutboxRequest(to: "http://127.0.0.1:1/"))
        for suffix in DatabaseFile.companions { unlink(lab.path + "/outbox.sqlite" + suffix) }
        try #require(rename(lab.path + "/outbox.sqlite", lab.folder("aside")) == 0)
        #expect(try await outbox.counts() == OutboxCounts())
        try await loss(1)
        await outbox.close()
    }

    @Test("OBX-087 a database that is removed in use is told, once")
    func removedDatabase() async throws {
        let outbox = try await lab.open()
        try await outbox.enqueue(OutboxRequest(to: "http://127.0.0.1:1/"))
        for suffix in [""] + DatabaseFile.companions { unlink(lab.path + "/outbox.sqlite" + suffix) }
        #expect(try await outbox.counts() == OutboxCounts())
        try await outbox.enqueue(OutboxRequest(to: "http://127.0.0.1:1/"))
        try await loss(1)
        await outbox.close()
    }
}
