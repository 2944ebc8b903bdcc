// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Outbox

/// Where files may be put, and what others can have put there.
@Suite struct DownloadTargetTests {
    private let lab: DownloadLab
    private let outside: ScratchFolder

    init() async throws {
        lab = try await DownloadLab()
        outside = try ScratchFolder("reach-outside")
    }

    private func refusal(_ path: String, _ outbox: RequestOutbox) async throws -> String {
        let request = OutboxRequest.download(try lab.url("/bytes/10"), to: path)
        let error = await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        #expect(error?.code == .badRequest, "\(path)")
        return error?.description ?? ""
    }

    @Test("OBX-347 Beside a file that is in its place no record of a killed process stays")
    func records() throws {
        let folder = try ScratchFolder("reach-fetched")
        let target = try TargetFolder(DownloadPath(folder("file"), below: [folder.path]), owner: nil)
        let part = DownloadPath.partPrefix + "1"
        func leave() throws {
            for name in [TargetFolder.record(of: part), TargetFolder.record(of: part) + ".new"] {
                try Data("{}".utf8).write(to: URL(filePath: folder(name)))
            }
        }
        try target.begin(part)
        try leave()
        try target.install(part, mode: 0o644)
        #expect(folder.names == ["file"])
        // The process was killed after the rename.
        try leave()
        try target.settle(part, mode: 0o644)
        #expect(folder.names == ["file"])
    }

    @Test(
        "OBX-320 Links, foreign files, missing and open folders are refused when a download is handed over, with a sentence"
    )
    func refused() async throws {
        let outbox = try await lab.open()
        let folder = lab.folder
        #expect(symlink(outside.path, folder("link")) == 0)
        #expect(symlink(outside("file"), folder("file-link")) == 0)
        #expect(mkdir(folder("dir"), 0o700) == 0 && mkdir(folder("open"), 0o700) == 0)
        #expect(chmod(folder("open"), 0o777) == 0)
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        for (path, words) in [
            (folder("link/file"), "\(folder("link")) is a link or no folder"),
            (folder("file-link"), "\(folder("file-link")) is a link or no file"),
            (folder("dir"), "\(folder("dir")) is a link or no file"),
            (folder("pipe"), "\(folder("pipe")) is a link or no file"),
            (folder("missing/file"), "the folder \(folder("missing")) is missing; make it first"),
            (folder("open/file"), "may be written by any user; chmod o-w \(folder("open"))"),
            (folder("../\(outside.path.split(separator: "/").last ?? "")/file"), ". or .. in it"),
            (outside("file"), "is in none of the folders"), ("file", "is no absolute path"),
        ] {
            let text = try await refusal(path, outbox)
            #expect(text.contains(words), "\(path): \(text)")
        }
        #expect(try await outbox.counts().waiting == 0)
        #expect(outside.names == [])
        var request = try lab.request("/bytes/10")
        for mode: UInt32 in [0o4755, 0o1_000, 0] {
            request.download?.mode = mode
            await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        }
        request = try lab.request("/bytes/10", sha256: "abc")
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        request = try lab.request("/bytes/10")
        request.download?.mirrors = [URL(string: "file:///etc/passwd")!]
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        request.download?.mirrors = Array(repeating: request.url, count: 17)
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        request = try lab.request("/bytes/10")
        request.body = .data(Data("x".utf8))
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        await outbox.close()
    }

    @Test(
        "OBX-321 Files and folders of other users are refused; root's file goes to the caller",
        .enabled(if: geteuid() == 0, "needs root"))
    func owners() async throws {
        let outbox = try await lab.open()
        let folder = lab.folder
        #expect(mkdir(folder("theirs"), 0o700) == 0 && chown(folder("theirs"), 4_711, 4_711) == 0)
        #expect(try await refusal(folder("theirs/file"), outbox).contains("belongs to user 4711"))
        close(open(folder("foreign"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        #expect(chown(folder("foreign"), 4_712, 4_712) == 0)
        #expect(try await refusal(folder("foreign"), outbox).contains("belongs to user 4712"))
        // A caller replaces no file of root's, and may use a folder of its own.
        close(open(folder("roots"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        var request = try lab.request("/bytes/10", to: "roots")
        request.download?.owner = FileOwner(user: 4_711, group: 4_712)
        let error = await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        #expect(error?.message.contains("belongs to user 0") == true)
        request = try lab.request("/bytes/10", to: "theirs/file")
        request.download?.owner = FileOwner(user: 4_711, group: 4_712)
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.lab.delivered(try await outbox.enqueue(request).id)
        var status = stat()
        #expect(stat(folder("theirs/file"), &status) == 0)
        #expect(status.st_uid == 4_711 && status.st_gid == 4_712 && status.st_mode & 0o777 == 0o644)
        await outbox.close()
    }

    @Test(
        "OBX-322 A link that is put in the place of the file or its folder later leads nowhere: the entry is given up, and nothing is written"
    )
    func swapped() async throws {
        let outbox = try await lab.open()
        let folder = lab.folder
        close(open(outside("victim"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        #expect(mkdir(folder("dir"), 0o700) == 0)
        let file = try await outbox.enqueue(lab.request("/bytes/10"))
        let nested = try await outbox.enqueue(lab.request("/bytes/10", to: "dir/file"))
        #expect(symlink(outside("victim"), folder("file")) == 0)
        #expect(rmdir(folder("dir")) == 0 && symlink(outside.path, folder("dir")) == 0)
        try await outbox.startDelivery(with: OutboxLab.manager())
        for id in [file.id, nested.id] { #expect(try await lab.died(id).kind == .unsendable) }
        #expect(outside.names == ["victim"] && lab.reports.elements.isEmpty)
        #expect(try Data(contentsOf: URL(filePath: outside("victim"))).isEmpty)
        #expect(try await lab.lab.origin.count(lab.account) == 0)
        await outbox.close()
    }

    @Test(
        "OBX-323 Another user's file, a link or a second name in the place of the part is not written to",
        arguments: ["link", "hard link"])
    func plantedPart(_ kind: String) async throws {
        let path = try DownloadPath(lab.folder("file"), below: [lab.folder.path])
        let target = try TargetFolder(path, owner: nil)
        close(open(outside("victim"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        let part = StoredDownload.newPart()
        func plant() -> Int32 {
            kind == "link"
                ? symlink(outside("victim"), lab.folder(part)) : link(outside("victim"), lab.folder(part))
        }
        #expect(plant() == 0)
        try target.begin(part)
        let new = try FileManager.default.attributesOfItem(atPath: lab.folder(part))
        #expect(new[.size] as? Int == 0 && new[.referenceCount] as? Int == 1)
        #expect(outside.names == ["victim"])
        #expect(unlink(lab.folder(part)) == 0 && plant() == 0)
        #expect(throws: TargetFolder.Fault.self) { try target.install(part, mode: 0o644) }
        #expect(!lab.folder.names.contains("file"))
        let victim = try FileManager.default.attributesOfItem(atPath: outside("victim"))
        #expect(victim[.posixPermissions] as? Int == 0o600)
    }

    @Test(
        "OBX-324 Without room an entry waits and says so, asks no server meanwhile, and is fetched once there is room",
        .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
    func fullDisk() async throws {
        let disk = try await SmallDisk(bytes: 4 << 20)
        let folder = disk.path + "/fetched"
        #expect(mkdir(folder, 0o700) == 0)
        let filler = disk.path + "/filler"
        let number = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(posix_fallocate(number, 0, 2 << 20) == 0)
        close(number)
        let outbox = try await lab.open { $0.limits.downloadFolders = [folder] }
        try await outbox.startDelivery(with: OutboxLab.manager())
        let bytes = OriginContent.bytes(0..<3_000_000)
        let receipt = try await outbox.enqueue(
            .download(
                try lab.url("/range/3000000"), to: folder + "/file", sha256: try DownloadLab.sum(bytes)))
        let reason = try await lab.lab.wait { event -> String? in
            if case .postponed(receipt.id, let reason, _) = event { reason } else { nil }
        }
        #expect(reason.hasPrefix("no room: needs 3 MB, 1.") && reason.hasSuffix(" MB free"), "\(reason)")
        #expect(try await outbox.entry(receipt.id)?.hold == reason)
        // It looks again and again, and says so once.
        let watch = try await FolderWatch(lab.lab.outbox.path)
        let look = try await outbox.entry(receipt.id)?.nextAttempt
        try await watch.wait { try await outbox.entry(receipt.id)?.nextAttempt == look ? nil : () }
        let reports = lab.lab.outbox.events.elements.count { if case .postponed = $0 { true } else { false } }
        #expect(reports == 1)
        let asked = try await lab.lab.origin.count(lab.account)
        #expect(unlink(filler) == 0)
        try await lab.lab.delivered(receipt.id)
        #expect(try await lab.lab.origin.count(lab.account) == asked + 1)
        #expect(try Array(Data(contentsOf: URL(filePath: folder + "/file"))) == bytes)
        await outbox.close()
    }

    @Test(
        "OBX-325 A content whose length is not announced fills the disk no further than it goes, and waits for room",
        .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
    func fullDiskUnannounced() async throws {
        let disk = try await SmallDisk(bytes: 1 << 20)
        let outbox = try await lab.open {
            $0.limits.downloadFolders = [disk.path + "/fetched"]
            $0.retries.slow = .seconds(3_600)
        }
        #expect(mkdir(disk.path + "/fetched", 0o700) == 0)
        try await outbox.startDelivery(with: OutboxLab.manager())
        let receipt = try await outbox.enqueue(
            .download(try lab.url("/chunked/3000000"), to: disk.path + "/fetched/file"))
        let reason = try await lab.lab.wait { event -> String? in
            if case .postponed(receipt.id, let reason, _) = event { reason } else { nil }
        }
        #expect(reason.hasPrefix("no room: the disk was full after "), "\(reason)")
        #expect(try await outbox.entry(receipt.id)?.attempts == 0)
        await outbox.close()
    }
}
