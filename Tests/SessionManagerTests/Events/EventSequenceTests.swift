// SPDX-License-Identifier: Apache-2.0

import SessionManager
import TestSupport
import Testing

/// An iteration over events holds nothing, and is not left waiting for what cannot come.
struct EventSequenceTests {
    @Test("the events end when the manager has gone", .timeLimit(.minutes(10)))
    func end() async throws {
        let count: Task<Int, Never>
        do {
            let lab = try await Lab()
            let events = lab.manager.events
            count = Task { await events.reduce(0) { count, _ in count + 1 } }
            #expect(try await lab.run(lab.request("/get")).error == nil)
        }
        #expect(await count.value > 0)
    }

    @Test(
        "they go on as long as a task runs, of a manager that the program holds no longer",
        .timeLimit(.minutes(10))
    )
    func runningTask() async throws {
        let origin = try await TestSupport.Origin.shared
        let ended = Box<Bool>()
        let events: Task<[String], Never>
        do {
            let lab = try await Lab()
            let sequence = lab.manager.events
            events = Task {
                await sequence.reduce(into: []) { words, event in
                    if case .completed = event { words.append("completed") }
                }
            }
            let task = try lab.manager.dataTask(with: lab.request("/hold/events")) { _, _, _ in
                ended.put(true)
            }
            task.resume()
        }
        try await origin.release("events")
        #expect(await ended.value)
        #expect(await events.value == ["completed"])
    }

    @Test(
        "UPL-516 readers that are cancelled at any instant leave the manager working",
        .timeLimit(.minutes(10)))
    func cancelledAtAnyInstant() async throws {
        let lab = try await Lab()
        let request = try lab.request("/get")
        for round in 0..<400 {
            let events = lab.manager.events
            let reader = Task { for await _ in events {} }
            async let one = lab.manager.data(for: request)
            async let other = lab.manager.data(for: request)
            for _ in 0..<(round * 7 % 200) { await Task.yield() }
            reader.cancel()
            #expect(try await one.1.statusCode == 200)
            #expect(try await other.1.statusCode == 200)
        }
    }

    @Test("who stops listening hears no more, and the manager goes on", .timeLimit(.minutes(10)))
    func cancelled() async throws {
        let lab = try await Lab()
        let events = lab.manager.events
        let first = Task {
            for await _ in events { return true }; return false
        }
        #expect(try await lab.run(lab.request("/get")).error == nil)
        #expect(await first.value)
        let others = lab.manager.events
        let waiting = Task { await others.reduce(0) { count, _ in count + 1 } }
        waiting.cancel()
        #expect(await waiting.value == 0)
        #expect(try await lab.run(lab.request("/get")).error == nil)
    }
}
