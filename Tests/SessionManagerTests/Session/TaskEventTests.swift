// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct TaskEventTests {
    private func word(_ event: SessionEvent) -> String? {
        switch event {
        case .resumed: "resumed"
        case .suspended: "suspended"
        case .completed: "completed"
        case .downloadMoved: "moved"
        case .downloadMoveFailed: "not moved"
        case .invalidated: "invalidated"
        // Of the queue, which other tests look at.
        case .held, .released, .queueChanged: nil
        }
    }

    @Test(
        "AF-132 AF-133 AF-134 events tell of real changes only, in order",
        arguments: [SessionTask.Kind.data, .upload, .download])
    func resumeAndSuspend(_ kind: SessionTask.Kind) async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        let task =
            switch kind {
            case .upload: try lab.manager.uploadTask(with: lab.request("/hold/never", .post), from: Data([1]))
            case .download: try lab.manager.downloadTask(with: lab.request("/hold/never"))
            default: try lab.manager.dataTask(with: lab.request("/hold/never"))
            }
        #expect(task.kind == kind)
        task.suspend()
        task.resume()
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        task.cancel()
        var words: [String] = []
        for await event in events {
            if let word = word(event) { words.append(word) }
            switch event {
            case .resumed(let other), .suspended(let other): #expect(other === task)
            default: break
            }
            if case .completed(let completed, let completion) = event {
                #expect(completed === task)
                #expect(completion.error?.code == .cancelled)
                break
            }
        }
        #expect(words == ["resumed", "suspended", "resumed", "completed"])
    }

    @Test("AF-141 the completion event follows the block and has serializer, object and content")
    func completion() async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        let diary = Diary<String>()
        try lab.manager.dataTask(with: lab.request("/get")) { _, _, _ in diary.record("block") }.resume()
        for await event in events {
            guard case .completed(_, let completion) = event else { continue }
            #expect(diary.all == ["block"])
            #expect(completion.serializer is JSONResponseSerializer)
            #expect((completion.object as? JSONValue)?["method"] == "GET")
            #expect(completion.outcome.data?.isEmpty == false)
            #expect(completion.outcome.metrics.count == 1)
            #expect(completion.error == nil)
            break
        }
    }

    /// What the completion event tells of a task, and what the block had got before.
    private func ended(_ lab: Lab, _ make: (@escaping CompletionBlock) throws -> SessionTask) async throws
        -> (TaskCompletion, Finished?)
    {
        let events = lab.manager.events
        let box = Box<Finished>()
        let task = try make { box.put(Finished(response: $0, object: $1, error: $2)) }
        task.resume()
        for await event in events {
            if case .completed(let other, let completion) = event, other === task {
                return (completion, box.first)
            }
        }
        throw LabError("no event of the end")
    }

    @Test("AF-141 the completion event of a failure has its error and content, that of a download its path")
    func otherCompletions() async throws {
        let lab = try await Lab()
        let (failure, reported) = try await ended(lab) {
            try lab.manager.dataTask(with: lab.request("/json-status/404"), completion: $0)
        }
        #expect(reported?.error?.code == .badServerResponse)
        #expect(failure.error?.code == .badServerResponse)
        #expect((failure.object as? JSONValue)?["e"] == 404)
        #expect(failure.outcome.error == nil)
        #expect(failure.outcome.data == Data(#"{"e":404}"#.utf8))
        #expect(failure.serializer is JSONResponseSerializer)

        let (refusal, reportedRefusal) = try await ended(lab) {
            try lab.manager.dataTask(with: lab.request("/", at: .refused), completion: $0)
        }
        #expect(reportedRefusal?.error?.code == .cannotConnectToHost)
        #expect(refusal.error?.code == .cannotConnectToHost && refusal.object == nil)
        #expect(refusal.outcome.response == nil)

        let folder = try ScratchFolder()
        let (download, reportedDownload) = try await ended(lab) {
            try lab.manager.downloadTask(
                with: lab.request("/bytes/10"), destination: .file(DownloadDestination(folder("file"))),
                completion: $0)
        }
        #expect(reportedDownload?.object as? String == folder("file"))
        #expect(download.outcome.filePath == folder("file"))
        #expect(download.object as? String == folder("file"))
        #expect(download.outcome.data == nil && download.error == nil)
        #expect(download.outcome.metrics.count == 1)
    }

    @Test("AF-142 a session that is invalidated cancels its tasks and tells when the last has ended")
    func invalidate() async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        let session = try lab.manager.session
        let task = try lab.manager.dataTask(with: lab.request("/hold/never"))
        task.resume()
        lab.manager.invalidate()
        #expect(await task.outcome().error?.code == .cancelled)
        for await event in events {
            guard case .invalidated(let ended) = event else { continue }
            #expect(ended === session)
            break
        }
        #expect { try lab.manager.dataTask(with: lab.request("/get")) } throws: {
            ($0 as? SessionError)?.code == .invalidated
        }
    }

    @Test("AF-144 without a reset the session stays the same; with one the next task gets a new one")
    func reset() async throws {
        let lab = try await Lab()
        let first = try lab.manager.session
        lab.manager.invalidate(resettingSession: true)
        let second = try lab.manager.session
        #expect(first !== second)
        #expect(first.isInvalid)
        let (_, response) = try await lab.manager.data(for: lab.request("/get"))
        #expect(response.statusCode == 200)
        lab.manager.invalidate()
        #expect(try lab.manager.session === second)
    }

    @Test("a session that may end its tasks is invalid when they have ended")
    func finish() async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        let task = try lab.manager.dataTask(with: lab.request("/hold/finish-tasks?key=finish-tasks"))
        task.resume()
        try await lab.origin.wait(for: "finish-tasks", [.count: 1])
        lab.manager.invalidate(cancellingTasks: false)
        try await lab.origin.release("finish-tasks")
        #expect(await task.outcome().error == nil)
        for await event in events { if case .invalidated = event { break } }
    }
}
