// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct ProgressTests {
    @Test(
        "AF-129 AF-130 progress of content: it grows, shows a part, and ends at the whole",
        arguments: [false, true])
    func content(_ isDownload: Bool) async throws {
        let lab = try await Lab()
        let diary = Diary<TransferProgress.Snapshot>()
        var options = TaskOptions()
        options.downloadProgress = { diary.record($0) }
        let request = try lab.request("/bytes/1048576")
        let folder = try ScratchFolder()
        if isDownload {
            _ = try await lab.manager.download(
                request, to: DownloadDestination(folder("file")), options: options)
        } else {
            _ = try await lab.manager.data(for: request, options: options)
        }
        try await expect(diary, total: 1 << 20)
    }

    @Test(
        "AF-131 progress of a body: it grows, shows a part, and ends at the whole", arguments: [false, true])
    func body(_ isFile: Bool) async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let bytes = Data(OriginContent.bytes(0..<(1 << 20)))
        try bytes.write(to: URL(filePath: folder("body")))
        let diary = Diary<TransferProgress.Snapshot>()
        var options = TaskOptions()
        options.uploadProgress = { diary.record($0) }
        let body: RequestBody = isFile ? .file(path: folder("body")) : .data(bytes)
        let (reply, _) = try await lab.manager.data(
            for: lab.request("/upload", .put, body: body), options: options)
        let json = try JSONDecoder().decode(JSONValue.self, from: reply)
        #expect(json["count"] == 1_048_576)
        #expect(json["chunked"] == false)
        try await expect(diary, total: 1 << 20)
    }

    @Test("progress is told on the queue of choice")
    func queue() async throws {
        let lab = try await Lab()
        let diary = Diary<String>()
        var options = TaskOptions()
        options.progressQueue = .custom { work in
            diary.record("queue")
            work()
        }
        options.downloadProgress = { diary.record($0.fractionCompleted == 1 ? "end" : "part") }
        _ = try await lab.manager.data(for: lab.request("/bytes/1048576"), options: options)
        while diary.all.last != "end" { await Task.yield() }
        #expect(diary.all.first == "queue" && diary.all.contains("part"))
    }

    /// Progress is delivered beside the result; the last value is sure to come.
    private func expect(_ diary: Diary<TransferProgress.Snapshot>, total: Int64) async throws {
        while diary.all.last?.fractionCompleted != 1 { await Task.yield() }
        let all = diary.all
        #expect(all.contains { $0.fractionCompleted > 0 && $0.fractionCompleted < 1 })
        #expect(all.last?.completedBytes == total && all.last?.totalBytes == total)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
    }
}
