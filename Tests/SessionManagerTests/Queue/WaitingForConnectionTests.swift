// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Tasks that have begun and wait until their host has room for a connection.
struct WaitingForConnectionTests {
    @Test("FLD-044 a task that waits for a connection says so, and that is no time of its own")
    func waits() async throws {
        let lab = try await Lab { $0.maximumConnectionsPerHost = 1 }
        let log = EventLog<String>()
        let events = lab.manager.events
        var held = try lab.request("/hold/fld044?key=fld044")
        // However slow the machine is.
        held.options.timeoutInterval = .seconds(600)
        let holding = try lab.manager.dataTask(with: held)
        holding.resume()
        try await lab.origin.wait(for: "fld044", [.count: 1])
        var request = try lab.request("/get")
        request.options.timeouts.total = .seconds(6)
        let waiting = try lab.manager.dataTask(with: request)
        let reading = Task {
            for await event in events {
                switch event {
                case .held(let task, let reason) where task === waiting: log.append("held \(reason)")
                case .released(let task) where task === waiting: log.append("released")
                default: break
                }
            }
        }
        waiting.resume()
        _ = await log.wait { $0.count == 1 }
        #expect(waiting.holdReasons == [.turn] && waiting.waitingReason == .turn)
        #expect(waiting.state == .running && holding.holdReasons.isEmpty)
        // Longer than its limit, by the clock of another server.
        _ = try await lab.manager.data(for: lab.request("/delay/7", at: .direct))
        #expect(waiting.error == nil)
        try await lab.origin.release("fld044")
        #expect(await waiting.outcome().error == nil)
        #expect(await holding.outcome().error == nil)
        #expect(waiting.holdReasons.isEmpty)
        _ = await log.wait { $0.count == 2 }
        #expect(log.elements == ["held waiting for its turn", "released"])
        reading.cancel()
    }

    @Test("FLD-044 one that is suspended, cancelled or has its turn waits no more")
    func leaves() async throws {
        let lab = try await Lab { $0.maximumConnectionsPerHost = 1 }
        var held = try lab.request("/hold/fld044-leaves?key=fld044-leaves")
        // However slow the machine is.
        held.options.timeoutInterval = .seconds(600)
        let holding = try lab.manager.dataTask(with: held)
        holding.resume()
        try await lab.origin.wait(for: "fld044-leaves", [.count: 1])
        let log = EventLog<Int>()
        let events = lab.manager.events
        let tasks = try (0..<3).map { _ in try lab.manager.dataTask(with: lab.request("/get")) }
        let reading = Task {
            for await event in events {
                if case .held(let task, .turn) = event { log.append(task.identifier) }
            }
        }
        for task in tasks { task.resume() }
        _ = await log.wait { $0.count == 3 }
        tasks[0].cancel()
        #expect(await tasks[0].outcome().error?.code == .cancelled)
        #expect(tasks[0].holdReasons.isEmpty)
        tasks[1].suspend()
        try await lab.origin.release("fld044-leaves")
        #expect(await tasks[2].outcome().error == nil)
        #expect(!tasks[1].holdReasons.contains(.turn))
        tasks[1].resume()
        #expect(await tasks[1].outcome().error == nil)
        _ = await holding.outcome()
        reading.cancel()
    }
}
