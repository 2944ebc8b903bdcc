// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// What a delegate and monitors hear of bytes.
struct ByteReportTests {
    private enum Call: Equatable {
        case sent(Int64, of: Int64?), received(Data), wrote(Int64, of: Int64?), resumed(Int64, of: Int64?)
        case gotHead, became, finished, completed
        /// The completion block.
        case called
    }

    /// Notes what it is told.
    private struct Delegate: SessionDelegate {
        var hearsOfBytes = true
        var disposition = ResponseDisposition.allow
        /// Awaited with each part of the content.
        var dawdle: @Sendable (SessionTask, Data) async -> Void = { _, _ in }
        /// Whether it is as slow with the end of a body as the server with its answer.
        var waitsForHead = false
        let calls = Diary<Call>()

        func task(
            _ task: SessionTask, didSendBodyBytes count: Int64, progress: TransferProgress.Snapshot
        ) async {
            #expect(count > 0)
            while waitsForHead, progress.fractionCompleted == 1, task.response == nil { await Task.yield() }
            await dally()
            calls.record(.sent(progress.completedBytes, of: progress.totalBytes))
        }
        func task(_ task: SessionTask, didReceiveContent content: Data) async {
            await dally()
            calls.record(.received(content))
            await dawdle(task, content)
        }
        func task(
            _ task: SessionTask, didWriteFileBytes count: Int64, progress: TransferProgress.Snapshot
        ) async {
            #expect(count > 0)
            await dally()
            calls.record(.wrote(progress.completedBytes, of: progress.totalBytes))
        }
        func task(_ task: SessionTask, didResumeAt offset: Int64, expectedTotal: Int64?) async {
            await dally()
            calls.record(.resumed(offset, of: expectedTotal))
        }
        func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition {
            calls.record(.gotHead)
            return disposition
        }
        func taskDidBecomeDownload(_ task: SessionTask) async {
            await dally()
            calls.record(.became)
        }
        func task(
            _ task: SessionTask, didFinishDownloadingTo temporaryPath: String, response: SessionResponse
        ) async -> DownloadDestination? {
            calls.record(.finished)
            return nil
        }
        func task(_ task: SessionTask, didCompleteWith error: SessionError?) async {
            calls.record(.completed)
        }

        /// What does not wait for it has continued by then.
        private func dally() async { for _ in 0..<100 { await Task.yield() } }

        /// The content in one.
        var content: [UInt8] {
            calls.all.flatMap { call -> [UInt8] in
                if case .received(let data) = call { return Array(data) }
                return []
            }
        }
    }

    /// Runs a task until its completion block is called, which comes after all that the delegate is told.
    private func run(_ lab: Lab, _ request: SessionRequest) async throws -> Finished {
        lab.manager.responseSerializer = DataResponseSerializer()
        return try await lab.run(request)
    }

    @Test(
        "the parts of the content are the content, after the head and before the end",
        arguments: [10, 700_000])
    func received(_ count: Int) async throws {
        let lab = try await Lab()
        let delegate = Delegate()
        lab.manager.delegate = delegate
        let end = try await run(lab, lab.request("/bytes/\(count)"))
        let isWhole = delegate.content == OriginContent.bytes(0..<count)
        #expect(isWhole)
        #expect((end.object as? Data)?.count == count)
        #expect(delegate.calls.all.first == .gotHead)
        #expect(delegate.calls.all.last == .completed)
    }

    @Test("the parts are decoded; of a redirect that is followed and of no content nothing is told")
    func decoded() async throws {
        let lab = try await Lab()
        let delegate = Delegate()
        lab.manager.delegate = delegate
        let end = try await run(lab, lab.request("/gzip"))
        #expect((end.object as? Data).map { Array($0) } == delegate.content)
        let other = Delegate()
        lab.manager.delegate = other
        _ = try await run(lab, lab.request("/redirect-to?url=\(lab.origin.url("/status/204"))"))
        #expect(other.calls.all == [.gotHead, .completed])
    }

    @Test("a transfer does not go on while the delegate is far behind")
    func slow() async throws {
        let lab = try await Lab()
        let reported = Mutex<(heard: Int64, ahead: Int64)>((0, 0))
        let other = URLSessionManager(configuration: lab.manager.configuration)
        let request = try lab.request("/bytes/10")
        let delegate = Delegate(dawdle: { task, content in
            // The loop has time for much more.
            if reported.withLock({ $0.heard }) == 0 {
                for _ in 0..<20 { _ = try? await other.data(for: request) }
            }
            reported.withLock {
                $0.heard += Int64(content.count)
                $0.ahead = max($0.ahead, task.downloadProgress.completedBytes - $0.heard)
            }
        })
        lab.manager.delegate = delegate
        _ = try await run(lab, lab.request("/bytes/3000000"))
        let isWhole = delegate.content == OriginContent.bytes(0..<3_000_000)
        #expect(isWhole)
        // So much may wait, and what comes at once.
        #expect(reported.withLock { $0.ahead } <= (256 + 128) << 10)
    }

    @Test("a body is told of up to its last byte, before the head of the response")
    func sent() async throws {
        let lab = try await Lab()
        let delegate = Delegate(waitsForHead: true)
        lab.manager.delegate = delegate
        _ = try await run(lab, lab.request("/upload", .put, body: .data(Data(count: 500_000))))
        let calls = delegate.calls.all
        let head = try #require(calls.firstIndex(of: .gotHead))
        #expect(calls.prefix(head).last == .sent(500_000, of: 500_000))
    }

    @Test("a file is told of up to its last byte, before it is finished; what becomes a download after that")
    func written() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let delegate = Delegate()
        lab.manager.delegate = delegate
        _ = try await lab.manager.download(
            lab.request("/bytes/300000"), to: DownloadDestination(folder("file")))
        let finish = try #require(delegate.calls.all.firstIndex(of: .finished))
        #expect(delegate.calls.all[finish - 1] == .wrote(300_000, of: 300_000))
        #expect(delegate.content.isEmpty)

        let other = Delegate(disposition: .becomeDownload)
        lab.manager.delegate = other
        let task = try lab.manager.dataTask(with: lab.request("/bytes/300000"))
        task.resume()
        let path = try #require(await task.outcome().filePath)
        try FileManager.default.removeItem(atPath: path)
        #expect(other.calls.all.prefix(2) == [.gotHead, .became])
        #expect(other.calls.all.contains(.wrote(300_000, of: 300_000)))
    }

    @Test("of a download that goes on, the file counts and not the rest")
    func resumed() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        try Data(OriginContent.bytes(0..<1000)).write(to: URL(filePath: folder("part")))
        let record = try ResumeRecord(
            url: lab.request("/range/5000").url, eTag: "\"range-5000-1\"", receivedBytes: 1000,
            totalBytes: 5000, partialFile: folder("part"))
        let delegate = Delegate()
        lab.manager.delegate = delegate
        let task = try lab.manager.downloadTask(
            resuming: record, destination: .file(DownloadDestination(folder("file"))))
        task.resume()
        #expect(await task.outcome().error == nil)
        let calls = delegate.calls.all.filter { $0 != .completed }
        #expect(calls == [.gotHead, .resumed(1000, of: 5000), .wrote(5000, of: 5000), .finished])
    }

    @Test(
        "a delegate that does not ask for bytes is told of a download's turns one after the other all the same"
    )
    func turns() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let delegate = Delegate(hearsOfBytes: false, disposition: .becomeDownload)
        lab.manager.delegate = delegate
        let task = try lab.manager.dataTask(with: lab.request("/bytes/10")) { _, _, _ in
            delegate.calls.record(.called)
        }
        task.resume()
        let path = try #require(await task.outcome().filePath)
        try FileManager.default.removeItem(atPath: path)
        while delegate.calls.all.last != .called { await Task.yield() }
        #expect(delegate.calls.all == [.gotHead, .became, .finished, .completed, .called])

        try Data(OriginContent.bytes(0..<1000)).write(to: URL(filePath: folder("part")))
        let record = try ResumeRecord(
            url: lab.request("/range/5000").url, eTag: "\"range-5000-1\"", receivedBytes: 1000,
            totalBytes: 5000, partialFile: folder("part"))
        let other = Delegate(hearsOfBytes: false)
        lab.manager.delegate = other
        let resumed = try lab.manager.downloadTask(
            resuming: record, destination: .file(DownloadDestination(folder("file")))
        ) { _, _, _ in other.calls.record(.called) }
        resumed.resume()
        #expect(await resumed.outcome().error == nil)
        while other.calls.all.last != .called { await Task.yield() }
        #expect(other.calls.all == [.gotHead, .resumed(1000, of: 5000), .finished, .completed, .called])
    }

    @Test("a delegate that does not ask for it is told nothing of bytes")
    func silent() async throws {
        let lab = try await Lab()
        let delegate = Delegate(hearsOfBytes: false)
        lab.manager.delegate = delegate
        _ = try await run(lab, lab.request("/upload", .put, body: .data(Data(count: 1000))))
        #expect(delegate.calls.all == [.gotHead, .completed])
    }

    @Test("a monitor gets a step for each part, where it wants that")
    func monitors() async throws {
        let lab = try await Lab()
        let (all, few) = (Diary<String>(), Diary<String>())
        lab.manager.eventMonitors = [
            EventMonitor(queue: .custom { $0() }, hearsOfBytes: true) { _, step in all.record("\(step)") },
            EventMonitor(queue: .custom { $0() }) { _, step in few.record("\(step)") },
        ]
        _ = try await run(lab, lab.request("/upload", .put, body: .data(Data(count: 300_000))))
        #expect(all.all.contains("sent body: 300000 of 300000 bytes"))
        #expect(all.all.contains { $0.hasPrefix("received content: ") })
        let isOfBytes: (String) -> Bool = { $0.hasPrefix("sent body") || $0.hasPrefix("received content") }
        #expect(all.all.filter { !isOfBytes($0) } == few.all)
        #expect(!few.all.contains(where: isOfBytes))
    }
}
