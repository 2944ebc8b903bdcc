// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Where downloads put what comes.
struct DownloadTests {
    private func content(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    @Test("AF-135 the file lies where the task's destination says, and an event tells so")
    func destination() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let events = lab.manager.events
        let box = Box<Finished>()
        let task = try lab.manager.downloadTask(
            with: lab.request("/bytes/100000"), destination: .file(DownloadDestination(folder("file")))
        ) { response, object, error in
            box.put(Finished(response: response, object: object, error: error))
        }
        task.resume()
        let end = await box.value
        #expect(end.error == nil)
        #expect(end.object as? String == folder("file"))
        #expect(try content(folder("file")) == OriginContent.bytes(0..<100_000))
        for await event in events {
            if case .downloadMoved(_, let path) = event, path == folder("file") { break }
        }
    }

    @Test("AF-136 a destination without its directory fails the task; it is made when asked for")
    func missingDirectory() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let path = folder("a/b/c")
        let request = try lab.request("/bytes/10")
        let events = lab.manager.events
        let box = Box<Finished>()
        let task = try lab.manager.downloadTask(
            with: request, destination: .file(DownloadDestination(path))
        ) {
            box.put(Finished(response: $0, object: $1, error: $2))
        }
        task.resume()
        let end = await box.value
        #expect(end.error?.code == .cannotMoveFile)
        #expect(end.object == nil)
        #expect(end.response?.statusCode == 200)
        // Before the content was received.
        #expect(end.error?.message.hasPrefix("cannot put a file at \(path)") == true)
        #expect(await task.outcome().filePath == nil)
        for await event in events {
            guard case .downloadMoveFailed(let failed, let error) = event else { continue }
            #expect(failed === task)
            #expect(error.code == .cannotMoveFile && error.message.contains(path))
            break
        }
        #expect(folder.names == [])
        _ = try await lab.manager.download(request, to: DownloadDestination(path, createsDirectories: true))
        #expect(try content(path).count == 10)
    }

    @Test("AF-138 what is there already stays, unless it is to be replaced")
    func existing() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let path = folder("file")
        try Data("old".utf8).write(to: URL(filePath: path))
        let request = try lab.request("/bytes/10")
        await #expect { try await lab.manager.download(request, to: DownloadDestination(path)) } throws: {
            ($0 as? SessionError)?.code == .cannotMoveFile
        }
        #expect(try content(path) == Array("old".utf8))
        _ = try await lab.manager.download(request, to: DownloadDestination(path, replacesExisting: true))
        #expect(try content(path).count == 10)
        #expect(folder.names == ["file"])
    }

    @Test(
        "AF-137 the delegate's destination comes before the task's own, unless it has none",
        arguments: [true, false])
    func delegate(_ answers: Bool) async throws {
        struct Delegate: SessionDelegate {
            let path: String?
            func task(
                _ task: SessionTask, didFinishDownloadingTo temporaryPath: String, response: SessionResponse
            ) async -> DownloadDestination? { path.map { DownloadDestination($0) } }
        }
        let lab = try await Lab()
        let folder = try ScratchFolder()
        lab.manager.delegate = Delegate(path: answers ? folder("delegate") : nil)
        let asked = Diary<String>()
        let task = try lab.manager.downloadTask(
            with: lab.request("/bytes/10"),
            destination: .chosen { temporary, _ in
                asked.record(temporary)
                return DownloadDestination(folder("task"))
            })
        task.resume()
        #expect(await task.outcome().filePath == folder(answers ? "delegate" : "task"))
        #expect(folder.names == [answers ? "delegate" : "task"])
        #expect(asked.all.count == (answers ? 0 : 1))
    }

    @Test("AF-165 the content of an error is no file: it comes with the error")
    func errorBody() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let request = try lab.request("/json-status/404")
        await #expect {
            try await lab.manager.download(request, to: DownloadDestination(folder("file")))
        } throws: {
            guard let error = $0 as? SessionError else { return false }
            return error.code == .badServerResponse && error.data == Data(#"{"e":404}"#.utf8)
        }
        #expect(folder.names.isEmpty)
    }

    @Test("AF-154 a delegate turns a data task into a download, or cancels it")
    func disposition() async throws {
        struct Delegate: SessionDelegate {
            let answer: ResponseDisposition
            let diary = Diary<String>()
            func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition
            { answer }
            func taskDidBecomeDownload(_ task: SessionTask) async { diary.record("became") }
        }
        let lab = try await Lab()
        lab.manager.delegate = Delegate(answer: .cancel)
        let cancelled = try lab.manager.dataTask(with: lab.request("/bytes/10"))
        cancelled.resume()
        #expect(await cancelled.outcome().error?.code == .cancelled)
        let delegate = Delegate(answer: .becomeDownload)
        lab.manager.delegate = delegate
        let (box, whole) = (Box<Finished>(), Box<TransferProgress.Snapshot>())
        var options = TaskOptions()
        options.downloadProgress = { if $0.fractionCompleted == 1 { whole.put($0) } }
        let task = try lab.manager.dataTask(with: lab.request("/bytes/200000"), options: options) {
            box.put(Finished(response: $0, object: $1, error: $2))
        }
        task.resume()
        let end = await box.value
        #expect(end.error == nil)
        let path = try #require(end.object as? String)
        #expect(await task.outcome().filePath == path)
        #expect(try content(path) == OriginContent.bytes(0..<200_000))
        try FileManager.default.removeItem(atPath: path)
        #expect(delegate.diary.all == ["became"])
        #expect(await whole.value.completedBytes == 200_000)
        #expect(box.count == 1)
    }

    @Test(
        "UPL-543 a pipe or a socket is not replaced by a file, and the content is not asked for in vain",
        arguments: ["pipe", "socket"], [true, false])
    func noFile(_ kind: String, isKnown: Bool) async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let path = folder(kind)
        if kind == "pipe" {
            #expect(mkfifo(path, 0o600) == 0)
        } else {
            #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        }
        let wanted = DownloadDestination(path, replacesExisting: true)
        let task = try lab.manager.downloadTask(
            with: lab.request("/bytes/100"), destination: isKnown ? .file(wanted) : .chosen { _, _ in wanted }
        )
        task.resume()
        let error = await task.outcome().error
        #expect(error?.code == .cannotMoveFile)
        #expect(error?.message == "cannot put a file at \(path): it is a device, a pipe or a socket")
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & S_IFMT == (kind == "pipe" ? S_IFIFO : S_IFSOCK))
        #expect(folder.names == [kind])
    }
}
