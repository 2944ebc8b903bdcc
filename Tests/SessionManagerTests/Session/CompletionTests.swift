// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionManager
import TestSupport
import Testing

/// What is agreed for tasks with completion blocks when they are made.
@Suite("Completion of tasks")
struct CompletionTests {
    @Test("what the manager is told holds for the next task with a block, and not for those that are made")
    func nextTask() async throws {
        let lab = try await Lab()
        let queues = Diary<String>()
        func named(_ name: String) -> DeliveryQueue {
            .custom { work in
                queues.record(name)
                work()
            }
        }
        let (before, after) = (Box<Bool>(), Box<Bool>())
        lab.manager.responseSerializer = DataResponseSerializer()
        lab.manager.completionQueue = named("first")
        let first = try lab.manager.dataTask(with: lab.request("/get")) { _, object, _ in
            before.put(object is Data)
        }
        lab.manager.responseSerializer = JSONResponseSerializer()
        lab.manager.completionQueue = named("second")
        let second = try lab.manager.dataTask(with: lab.request("/get")) { _, object, _ in
            after.put(object is Data)
        }
        second.resume()
        #expect(await after.value == false)
        first.resume()
        #expect(await before.value == true)
        #expect(queues.all == ["second", "first"])
    }

    @Test(
        "with a serializer that wants content files are received, dependents run, and nothing is tried twice")
    func decodable() async throws {
        struct Echo: Decodable { let method: String }
        let lab = try await Lab()
        let asked = Diary<Int>()
        lab.manager.responseSerializer = DecodableResponseSerializer<Echo>()
        lab.manager.interceptor = Interceptor(retriers: [
            Retrier { _, _, _ in
                asked.record(1)
                return .doNotRetry
            }
        ])
        let first = try lab.manager.dataTask(with: lab.request("/get"))
        var options = TaskOptions()
        options.dependencies = [first]
        let second = try lab.manager.downloadTask(with: lab.request("/bytes/10"), options: options)
        first.resume()
        second.resume()
        let outcome = await second.outcome()
        #expect(outcome.error == nil)
        let path = try #require(outcome.filePath)
        try FileManager.default.removeItem(atPath: path)
        // A refusal is one all the same.
        #expect(asked.all.isEmpty)
        let refused = try lab.manager.downloadTask(with: lab.request("/json-status/404"))
        refused.resume()
        #expect(await refused.outcome().error?.code == .badServerResponse)
    }

    @Test("a group does not wait for a task that could not be made")
    func refusedTask() async throws {
        let lab = try await Lab()
        let group = CompletionGroup()
        var options = TaskOptions()
        options.completionGroup = group
        lab.manager.invalidate()
        let request = try lab.request("/get")
        #expect(throws: SessionError.self) {
            try lab.manager.dataTask(with: request, options: options) { _, _, _ in }
        }
        await group.wait()
    }

    @Test("a group waits for a task without a block as well")
    func withoutBlock() async throws {
        let lab = try await Lab()
        let group = CompletionGroup()
        var options = TaskOptions()
        options.completionGroup = group
        let task = try lab.manager.dataTask(with: lab.request("/get"), options: options)
        task.resume()
        await group.wait()
        #expect(task.state == .completed)
    }

    @Test(
        "UPL-549 a group waits for the block of a call that could not be made",
        arguments: ["address", "invalidated"])
    func uncalled(_ kind: String) async throws {
        let origin = try await TestSupport.Origin.shared
        let api = try HTTPSessionManager(baseURL: origin.url("/"))
        let (work, called) = (Box<@Sendable () -> Void>(), Box<SessionError?>())
        var options = TaskOptions()
        let group = CompletionGroup()
        options.completionGroup = group
        options.completionQueue = .custom { work.put($0) }
        if kind == "invalidated" { api.invalidate() }
        api.get(kind == "address" ? "http://[bad" : "get", options: options) { _, _, error in
            called.put(error)
        }
        let waiter = Task {
            await group.wait()
            return called.count
        }
        let block = await work.value
        // Time for a group that does not wait to say so.
        for _ in 0..<1000 { await Task.yield() }
        block()
        #expect(await waiter.value == 1)
        #expect(await called.value?.code == (kind == "address" ? .badURL : .invalidated))
    }

    @Test("UPL-550 who waits for a group is released by cancellation, and others go on waiting")
    func cancelledWait() async throws {
        let lab = try await Lab()
        let group = CompletionGroup()
        var options = TaskOptions()
        options.completionGroup = group
        let task = try lab.manager.dataTask(with: lab.request("/get"), options: options)
        let (impatient, patient) = (Task { await group.wait() }, Task { await group.wait() })
        impatient.cancel()
        await impatient.value
        #expect(task.state == .suspended)
        task.resume()
        await patient.value
        #expect(task.state == .completed)
    }
}
