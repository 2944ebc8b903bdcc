// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Tasks that are made and never resumed.
@Suite(.timeLimit(.minutes(10)))
struct UnusedTaskTests {
    private struct Remains {
        weak var task: SessionTask?
        weak var manager: URLSessionManager?
    }

    @Test("FLD-045 a task that was never resumed goes with its last reference, and its manager with it")
    func gone() async throws {
        let group = CompletionGroup()
        let remains = try { () throws -> Remains in
            var options = TaskOptions()
            options.completionGroup = group
            let manager = URLSessionManager()
            let kept = try manager.dataTask(with: SessionRequest("http://127.0.0.1:9/"), options: options) {
                _, _, _ in
            }
            _ = try manager.dataTask(with: SessionRequest("http://127.0.0.1:9/"))
            #expect(manager.tasks.count == 1 && manager.tasks.first === kept)
            return Remains(task: kept, manager: manager)
        }()
        #expect(remains.task == nil)
        #expect(remains.manager == nil)
        // Nothing waits for a block that is never called.
        await group.wait()
    }

    @Test(
        "FLD-045 a session that takes no more tasks is over when the last one that was not resumed has gone")
    func invalidated() async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        try { () throws in
            let unused = try lab.manager.dataTask(with: lab.request("/get"))
            lab.manager.invalidate(cancellingTasks: false)
            #expect(lab.manager.tasks.count == 1)
            withExtendedLifetime(unused) {}
        }()
        let session = try lab.manager.session
        for await event in events { if case .invalidated(let ended) = event, ended === session { break } }
        #expect(lab.manager.tasks.isEmpty)
    }

    @Test("FLD-045 one that was resumed lasts until it has ended, with or without a reference")
    func resumed() async throws {
        let lab = try await Lab()
        let end = Box<SessionResponse?>()
        try { () throws in
            try lab.manager.dataTask(with: lab.request("/get")) { response, _, _ in end.put(response) }
                .resume()
        }()
        #expect(await end.value?.statusCode == 200)
    }
}
