// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// The tasks that a manager has.
struct TaskListTests {
    @Test("a manager tells its tasks by kind and in the order of their making, until they have completed")
    func kinds() async throws {
        let lab = try await Lab()
        let manager = lab.manager
        #expect(manager.tasks.isEmpty)
        let request = try lab.request("/get")
        let folder = try ScratchFolder()
        let download = try manager.downloadTask(
            with: request, destination: .file(DownloadDestination(folder("content"))))
        let upload = try manager.uploadTask(with: lab.request("/post", .post), from: Data("body".utf8))
        let (first, second) = (try manager.dataTask(with: request), try manager.dataTask(with: request))
        second.taskDescription = "the second"
        #expect(manager.dataTasks.map(\.identifier) == [first.identifier, second.identifier])
        #expect(manager.uploadTasks.map(\.identifier) == [upload.identifier])
        #expect(manager.downloadTasks.map(\.identifier) == [download.identifier])
        let all = [first, second, upload, download].map(\.identifier)
        #expect(manager.tasks.map(\.identifier) == all)
        #expect(manager.tasks.map(\.taskDescription) == [nil, "the second", nil, nil])
        first.cancel()
        for task in [second, upload, download] { task.resume() }
        for task in [first, second, upload, download] { _ = await task.outcome() }
        #expect(manager.tasks.isEmpty)
        #expect(second.taskDescription == "the second")
    }

    /// A task that ends when it is ended, or soon after by itself.
    private func held(_ lab: Lab) throws -> SessionTask {
        var request = try lab.request("/hold/never")
        request.options.timeoutInterval = .seconds(5)
        let task = try lab.manager.dataTask(with: request)
        task.resume()
        return task
    }

    @Test("tasks that run under a former policy are the manager's still: it lists them, and ends them")
    func formerPolicy() async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        let old = try lab.manager.session
        let first = try held(lab)
        lab.manager.securityPolicy.minimumTLSVersion = .tls1_3
        let new = try lab.manager.session
        #expect(new !== old)
        let second = try held(lab)
        #expect(lab.manager.tasks.map(\.identifier) == [first, second].map(\.identifier))
        lab.manager.invalidate()
        #expect(await first.outcome().error?.code == .cancelled)
        #expect(await second.outcome().error?.code == .cancelled)
        var invalid: [Session] = []
        for await event in events {
            if case .invalidated(let session) = event { invalid.append(session) }
            if invalid.count == 2 { break }
        }
        #expect(invalid.contains { $0 === old } && invalid.contains { $0 === new })
        #expect(lab.manager.tasks.isEmpty)
    }

    @Test("tasks that were to end by themselves can be cancelled after all", arguments: [false, true])
    func impatience(_ resetsSession: Bool) async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        let session = try lab.manager.session
        let task = try held(lab)
        lab.manager.invalidate(cancellingTasks: false, resettingSession: resetsSession)
        #expect(lab.manager.tasks.map(\.identifier) == [task.identifier])
        lab.manager.invalidate()
        #expect(await task.outcome().error?.code == .cancelled)
        for await event in events {
            guard case .invalidated(let ended) = event, ended === session else { continue }
            break
        }
    }

    @Test("the delegate hears that its session has become invalid, once the last task has ended")
    func invalid() async throws {
        final class Delegate: SessionDelegate {
            let diary = Diary<String>()
            let session = Box<Session>()
            func task(_ task: SessionTask, didCollect metrics: [TransferMetrics]) async {
                diary.record("\(metrics.count) measured")
            }
            func task(_ task: SessionTask, didCompleteWith error: SessionError?) async {
                diary.record("completed")
            }
            func sessionDidBecomeInvalid(_ session: Session) async {
                diary.record("invalid")
                self.session.put(session)
            }
        }
        let lab = try await Lab()
        let delegate = Delegate()
        lab.manager.delegate = delegate
        let session = try lab.manager.session
        let name = "task-list-\(lab.manager.dataTasks.count)-\(UInt32.random(in: 0 ... .max))"
        let task = try lab.manager.dataTask(with: lab.request("/hold/\(name)"))
        task.resume()
        lab.manager.invalidate(cancellingTasks: false)
        #expect(delegate.session.count == 0)
        try await lab.origin.release(name)
        #expect(await task.outcome().error == nil)
        #expect(await delegate.session.value === session)
        #expect(delegate.diary.all == ["1 measured", "completed", "invalid"])
        #expect(delegate.session.count == 1)
    }

    @Test(
        "nothing comes of a session's tasks after its end, with blocks and without", arguments: [true, false])
    func lastEvent(hasBlocks: Bool) async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        let diary = Diary<String>()
        let session = try lab.manager.session
        var tasks: [SessionTask] = []
        for _ in 0..<20 {
            let block: CompletionBlock = { _, _, _ in diary.record("block") }
            tasks.append(
                try lab.manager.dataTask(
                    with: lab.request("/hold/never"), completion: hasBlocks ? block : nil))
        }
        for task in tasks { task.resume() }
        lab.manager.invalidate()
        var ended = 0
        for await event in events {
            if case .completed = event { ended += 1 }
            guard case .invalidated(let left) = event else { continue }
            #expect(left === session && session.isInvalid)
            break
        }
        #expect(ended == 20)
        #expect(diary.all.count == (hasBlocks ? 20 : 0))
    }

    @Test("fields that a request leaves out are not sent, and others are")
    func omittedFields() async throws {
        let lab = try await Lab()
        func names(_ omitted: [HTTPField.Name]) async throws -> Set<String> {
            var request = try lab.request("/headers")
            request.options.omittedFields = omitted
            let finished = try await lab.run(request)
            #expect(finished.error == nil)
            guard case .object(let fields)? = finished.json?["headers"] else { return [] }
            return Set(fields.map { $0.key.lowercased() })
        }
        let usual = try await names([])
        #expect(usual.isSuperset(of: ["accept", "accept-encoding", "host"]))
        // One after the other on the same handle: what was left out once comes back.
        #expect(try await names([.accept]) == usual.subtracting(["accept"]))
        #expect(try await names([.acceptEncoding]) == usual.subtracting(["accept-encoding"]))
        #expect(try await names([.userAgent, .accept]) == usual.subtracting(["user-agent", "accept"]))
        #expect(try await names([]) == usual)
    }
}
