// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Downloads that write down what a later process can go on from.
struct ResumeFileTests {
    private func content(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    private func options(_ folder: ScratchFolder) -> TaskOptions {
        var options = TaskOptions()
        options.resumeFile = folder("resume")
        return options
    }

    private func run(_ task: SessionTask) async -> TaskOutcome {
        task.resume()
        return await task.outcome()
    }

    @Test("FLD-042 a download that is killed is resumed by the next run, which asks for the rest alone")
    func killed() async throws {
        let origin = try await TestSupport.Origin.shared
        let folder = try ScratchFolder()
        let key = "fld042-killed"
        let url = origin.faultURL("/fault/stall?n=400000&after=150000&times=1&key=\(key)")
        let drill = BuiltProgram.path("download-drill")
        let first = try await origin.run([drill, url, folder("file"), "150000"])
        #expect(first.status == .killed(signal: SIGKILL), "\(first.text) \(first.errors)")
        #expect(folder.names == ["file.resume", "file.resume.part"])
        #expect(try content(folder("file.resume.part")) == OriginContent.bytes(0..<150_000))

        let second = try await origin.run([drill, url, folder("file")])
        #expect(second.status == .exited(0), "\(second.text) \(second.errors)")
        #expect(second.text == "from bytes=150000-\nsize 400000\n")
        #expect(try content(folder("file")) == OriginContent.bytes(0..<400_000))
        #expect(folder.names == ["file"])
        #expect(try await origin.count(key) == 2)
    }

    @Test("FLD-042 the record is there while the content comes, for this user alone, and goes with the end")
    func recorded() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let request = try lab.request(
            "/fault/cut?n=400000&after=150000&times=1&kind=close&key=fld042-recorded", at: .direct)
        let first = try lab.manager.downloadTask(with: request, options: options(folder))
        let cut = await run(first)
        #expect(cut.error?.code == .networkConnectionLost)
        #expect(cut.resumeRecord?.receivedBytes == 150_000)
        #expect(folder.names == ["resume", "resume.part"])
        // Ranges count the bytes as they are on the server.
        #expect(first.currentRequest.headerFields[.acceptEncoding] == "identity")
        let rights = try FileManager.default.attributesOfItem(atPath: folder("resume"))[.posixPermissions]
        #expect(rights as? Int == 0o600)
        let record = try ResumeRecord(encoded: Data(contentsOf: URL(filePath: folder("resume"))))
        #expect(record.url == request.url && record.totalBytes == 400_000)

        let again = try lab.manager.downloadTask(
            with: request, options: options(folder),
            destination: .file(DownloadDestination(folder("file"))))
        #expect(await run(again).error == nil)
        #expect(again.currentRequest.headerFields[.range] == "bytes=150000-")
        #expect(try content(folder("file")) == OriginContent.bytes(0..<400_000))
        #expect(folder.names == ["file"])
    }

    @Test(
        "FLD-042 it begins anew where the content has changed, where the record is another download's or another user's, and after another boot before the first count",
        arguments: ["changed", "url", "link", "garbage", "boot", "short"])
    func anew(_ kind: String) async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let key = "fld042-anew-\(kind)"
        let path = "/fault/cut?n=400000&after=150000&times=1&kind=close&key=\(key)"
        let former = try lab.request(path, at: .direct)
        #expect(await run(try lab.manager.downloadTask(with: former, options: options(folder))).error != nil)
        let file = URL(filePath: folder("resume"))
        var text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        var request = former
        switch kind {
        case "changed": request = try lab.request("\(path)&v=2", at: .direct)
        case "url": request = try lab.request("\(path)&other=1", at: .direct)
        case "link": #expect(link(folder("resume"), folder("other")) == 0)
        case "garbage": text = "{"
        case "short": #expect(truncate(folder("resume.part"), 0) == 0)
        default:
            let boot = String(
                decoding: try Data(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id")),
                as: UTF8.self)
            let parts = text.split(separator: boot.prefix(36))
            #expect(parts.count == 2)
            text = parts.joined(separator: "00000000-0000-0000-0000-000000000000")
        }
        if kind == "changed" {
            // As if the same URL had other content by now.
            text = text.split(separator: path).joined(separator: "\(path)&v=2")
        }
        try Data(text.utf8).write(to: file)
        let again = try lab.manager.downloadTask(with: request, options: options(folder))
        let end = await run(again)
        #expect(end.error == nil)
        let version = kind == "changed" ? 2 : 1
        #expect(try content(folder("resume.part")) == OriginContent.bytes(0..<400_000, version: version))
        #expect(!folder.names.contains("resume"))
        #expect(end.response?.statusCode == 200)
    }

    @Test("FLD-042 what a retrier tries again is resumed as well, and a refusal leaves what has come")
    func retried() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let request = try lab.request(
            "/fault/cut?n=400000&after=150000&times=1&kind=close&key=fld042-retried", at: .direct)
        var options = options(folder)
        var policy = RetryPolicy()
        policy.scale = 0.001
        options.interceptor = policy
        let task = try lab.manager.downloadTask(with: request, options: options)
        #expect(await run(task).error == nil)
        #expect(task.currentRequest.headerFields[.range] == "bytes=150000-")
        #expect(try content(folder("resume.part")) == OriginContent.bytes(0..<400_000))
        #expect(folder.names == ["resume.part"])
    }

    @Test(
        "FLD-042 a folder that cannot be written to is an error before the first byte, not a download that cannot be resumed"
    )
    func unwritable() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        var options = options(folder)
        options.resumeFile = folder("missing/resume")
        options.partialFile = folder("part")
        let end = await run(try lab.manager.downloadTask(with: lab.request("/range/5000"), options: options))
        #expect(end.error?.code == .cannotCreateFile)
        #expect(end.error?.message.contains("missing/resume") == true)
        #expect(folder.names.isEmpty)
    }

    @Test(
        "UPL-540 a second download of a part that is being written fails, and leaves part and record alone",
        arguments: [true, false])
    func twice(hasRecord: Bool) async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let request = try lab.request(
            "/fault/stall?n=400000&after=150000&times=1&key=upl540-\(hasRecord)", at: .direct)
        let log = EventLog<Int64>()
        var options = options(folder)
        options.downloadProgress = { log.append($0.completedBytes) }
        let first = try lab.manager.downloadTask(with: request, options: options)
        first.resume()
        await log.wait { $0.last == 150_000 }

        var other = self.options(folder)
        if !hasRecord {
            other.resumeFile = nil
            other.partialFile = folder("resume.part")
        }
        let refused = await run(try lab.manager.downloadTask(with: request, options: other))
        #expect(refused.error?.code == .cannotCreateFile)
        #expect(refused.error?.message.contains("another task or process is writing") == true)
        #expect(refused.error?.advice.contains("wait until it has ended") == true)
        #expect(try content(folder("resume.part")) == OriginContent.bytes(0..<150_000))
        #expect(folder.names == ["resume", "resume.part"])

        first.cancel()
        #expect(await first.outcome().error?.code == .cancelled)
        let again = try lab.manager.downloadTask(
            with: request, options: self.options(folder),
            destination: .file(DownloadDestination(folder("file"))))
        #expect(await run(again).error == nil)
        #expect(try content(folder("file")) == OriginContent.bytes(0..<400_000))
        #expect(folder.names == ["file"])
    }

    @Test("UPL-541 a part that another program has replaced is not moved to the destination")
    func replaced() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let path = folder("file")
        let task = try lab.manager.downloadTask(
            with: lab.request("/bytes/5000"), options: options(folder),
            destination: .chosen { part, _ in
                // Another inode, while this one is open.
                rename(part, "\(part).old")
                _ = FileManager.default.createFile(atPath: part, contents: Data("other".utf8))
                return DownloadDestination(path)
            })
        let end = await run(task)
        #expect(end.error?.code == .cannotMoveFile)
        #expect(end.error?.message.contains("is not the file that was received") == true)
        #expect(!folder.names.contains("file"))
    }
}
