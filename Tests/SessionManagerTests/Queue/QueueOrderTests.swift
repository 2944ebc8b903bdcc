// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import ReachTesting
import Reachability
import ReachabilityCore
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Lanes, dependencies, conditions, time and settings of a queue.
struct QueueOrderTests {
    @Test("the tasks of a lane follow each other")
    func lane() async throws {
        let lab = try await QueueLab()
        let tasks = try (0..<4).map { number in
            try lab.task("/delay/0.01?key=lane&n=\(number)") { $0.lane = "telemetry" }
        }
        for task in tasks { #expect(await task.outcome().error == nil) }
        let statistics = try await lab.origin.statistics("lane")
        #expect(statistics.peak == 1)
        #expect(statistics.requests == (0..<4).map { "GET /delay/0.01?key=lane&n=\($0)" })
    }

    @Test("a task starts after those it depends on, of another manager too")
    func dependencies() async throws {
        let lab = try await QueueLab()
        let other = try await QueueLab()
        let first = try lab.task("/hold/dependencies?key=dependencies-1")
        let second = try other.task("/hold/dependencies?key=dependencies-2")
        let last = try lab.task("/get?key=dependencies-3") { $0.dependencies = [first, second] }
        await lab.counts { $0.waitingForOthers == 1 }
        #expect(last.waitingReason == .dependency)
        try await lab.origin.release("dependencies")
        #expect(await last.outcome().error == nil)
        #expect(first.state == .completed && second.state == .completed)
    }

    @Test("a task fails with one it depends on, unless it does not mind", arguments: [true, false])
    func failedDependency(minds: Bool) async throws {
        let lab = try await QueueLab()
        let first = try lab.task("/status/500?key=failed-dependency-\(minds)")
        let last = try lab.task("/get?key=failed-dependency-last-\(minds)") {
            $0.dependencies = [first]
            $0.ignoresFailedDependencies = !minds
        }
        let error = await last.outcome().error
        #expect(error?.code == (minds ? .dependencyFailed : nil))
        #expect((error?.underlying as? SessionError)?.code == (minds ? .badServerResponse : nil))
    }

    @Test("a condition waits for its network, and is asked again when the medium changes")
    func conditions() async throws {
        let lab = try await QueueLab(.wifi)
        let wired = try lab.task("/get?key=condition-wired") { $0.networkCondition = .wiredOnly }
        await lab.counts { $0.waitingForNetwork == 1 }
        #expect(wired.waitingReason == .condition(.wiredOnly))
        lab.network.become(.wired, medium: .cellular, isExpensive: true)
        var cheap = try lab.request("/get?key=condition-cheap")
        cheap.options.allowsExpensiveNetwork = false
        let saving = try lab.manager.dataTask(with: cheap)
        saving.resume()
        await lab.counts { $0.waitingForNetwork == 2 }
        #expect(wired.waitingReason == .condition(.wiredOnly))
        #expect(saving.waitingReason == .condition(.notExpensive))
        #expect(await (try lab.task("/get?key=condition-any")).outcome().error == nil)
        lab.network.become(.wired, medium: .ethernet)
        #expect(await wired.outcome().error == nil)
        #expect(await saving.outcome().error == nil)
    }

    @Test("UPL-236 a request that saves data waits while the path is constrained, by itself or by condition")
    func constrained() async throws {
        let lab = try await QueueLab(.wired)
        lab.network.become(.wired, medium: .ethernet, isConstrained: true)
        var request = try lab.request("/get?key=constrained")
        request.options.allowsConstrainedNetwork = false
        let saving = try lab.manager.dataTask(with: request)
        saving.resume()
        let patient = try lab.task("/get?key=constrained-condition") { $0.networkCondition = .notConstrained }
        await lab.counts { $0.waitingForNetwork == 2 }
        #expect(saving.waitingReason == .condition(.notConstrained))
        #expect(patient.waitingReason == .condition(.notConstrained))
        #expect(await (try lab.task("/get?key=constrained-any")).outcome().error == nil)
        lab.network.become(.wired, medium: .ethernet)
        #expect(await saving.outcome().error == nil)
        #expect(await patient.outcome().error == nil)
    }

    @Test("UPL-431 What the queue forbids holds all of it, and goes on when it is allowed")
    func queueWide() async throws {
        let lab = try await QueueLab(.wired) { $0.allowsExpensiveNetwork = false }
        lab.network.become(.wired, medium: .cellular, isExpensive: true)
        let first = try lab.task("/get?key=queue-wide-first")
        await lab.counts { $0.waitingForNetwork == 1 }
        #expect(first.waitingReason == .condition(.notExpensive))
        lab.queue.allowsExpensiveNetwork = true
        #expect(await first.outcome().error == nil)
        lab.network.become(.wired, medium: .ethernet, isConstrained: true)
        lab.queue.allowsConstrainedNetwork = false
        let second = try lab.task("/get?key=queue-wide-second")
        await lab.counts { $0.waitingForNetwork == 1 }
        #expect(second.waitingReason == .condition(.notConstrained))
        lab.network.become(.wired, medium: .ethernet)
        #expect(await second.outcome().error == nil)
    }

    @Test("UPL-432 What a queue forbids is written down, and settings from before allow everything")
    func codable() throws {
        var settings = RequestQueue.Settings()
        (settings.allowsExpensiveNetwork, settings.allowsConstrainedNetwork) = (false, false)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(settings)
        let read = try JSONDecoder().decode(RequestQueue.Settings.self, from: data)
        #expect(!read.allowsExpensiveNetwork && !read.allowsConstrainedNetwork)
        let new = "\"allowsConstrainedNetwork\":false,\"allowsExpensiveNetwork\":false,"
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(new))
        let before = try JSONDecoder().decode(
            RequestQueue.Settings.self, from: Data(text.replacing(new, with: "").utf8))
        #expect(before.allowsExpensiveNetwork && before.allowsConstrainedNetwork)
    }

    @Test("a running task whose network no longer fits is parked")
    func conditionEnds() async throws {
        let lab = try await QueueLab(.wired)
        let task = try lab.task("/hold/condition-ends?key=condition-ends") {
            $0.networkCondition = .wiredOnly
        }
        try await lab.origin.wait(for: "condition-ends", [.count: 1])
        lab.network.become(.wifi)
        await lab.counts { $0.parked == 1 }
        #expect(task.waitingReason == .condition(.wiredOnly))
        lab.network.become(.wired)
        try await lab.origin.release("condition-ends")
        #expect(await task.outcome().error == nil)
    }

    @Test("this machine needs no network")
    func loopback() async throws {
        let lab = try await QueueLab(.unreachable)
        let task = try lab.manager.dataTask(with: SessionRequest(lab.origin.url("/get?key=loopback")))
        task.resume()
        #expect(await task.outcome().error == nil)
    }

    @Test(
        "which hosts are this machine, by their names",
        arguments: [
            "localhost": true, "LocalHost": true, "localhost.": true, "a.localhost": true,
            "user:p@localhost": true, "127.0.0.1": true, "127.9.8.7": true, "127.1": true, "[::1]": true,
            "user@[::1]": true, "localhost.example": false, "mylocalhost": false,
            "localhost@h.example": false, "127.example": false, "192.0.2.1": false, "[2001:db8::1]": false,
            "h.example/@localhost": false, "h.example?localhost": false,
        ])
    func thisMachine(_ host: String, _ isThis: Bool) async throws {
        let manager = try await QueueLab(.unreachable).manager
        let url = host.contains { "/?".contains($0) } ? "http://\(host)" : "http://\(host):1/"
        var options = TaskOptions()
        options.waitsForNetwork = false
        let task = try manager.dataTask(with: SessionRequest(url), options: options)
        task.resume()
        let error = try #require(await task.outcome().error)
        #expect((error.code != .notConnectedToInternet) == isThis, "\(url): \(error)")
    }

    @Test("no limit of time runs for a task that is held")
    func heldTime() async throws {
        // One's own: all of its timers are these tasks'.
        let reactor = try Reactor(name: "held-time")
        let count = 10
        let lab = try await QueueLab(.wired, connections: count, on: reactor)
        func timers() async throws -> Int { try await reactor.result { reactor.holdings.timers } }
        var request = try lab.request("/hold/held-time?key=held-time")
        request.options.timeouts = RequestTimeouts(
            connect: .seconds(3600), firstByte: .seconds(3600), total: .seconds(3600))
        let tasks = try (0..<2 * count).map { _ in try lab.manager.dataTask(with: request) }
        for task in tasks.prefix(count) { task.resume() }
        try await lab.origin.wait(for: "held-time", [.count: count])
        // One for each, besides those that all share.
        #expect(try await timers() >= count)
        tasks[0].suspend()
        await lab.counts { $0.waitingForUser == 1 }
        lab.network.become(.unreachable)
        await lab.counts { $0.parked >= count - 1 }
        for task in tasks.suffix(count) { task.resume() }
        await lab.counts { $0.waitingForNetwork >= 2 * count - 1 }
        #expect(try await timers() < count)
        tasks[0].resume()
        lab.network.become(.wired)
        try await lab.origin.wait(for: "held-time", [.count: 2 * count])
        #expect(try await timers() >= count)
        try await lab.origin.release("held-time")
        for task in tasks { #expect(await task.outcome().error == nil) }
    }

    @Test("events tell of each wait with its reason, and of its end")
    func events() async throws {
        let lab = try await QueueLab(.unreachable)
        let events = lab.manager.events
        let task = try lab.task("/get?key=queue-events")
        var words: [String] = []
        for await event in events {
            switch event {
            case .held(let held, let reason):
                #expect(held === task)
                words.append("\(reason)")
                if words.count == 1 { lab.network.become(.wired) }
            case .released: words.append("released")
            case .completed: words.append("completed")
            default: break
            }
            if words.last == "completed" { break }
        }
        #expect(
            words == [
                "waiting for network (eth0: no carrier)", "waiting until the network is steady", "released",
                "completed",
            ])
    }

    @Test("another provider may be set at any time, also none")
    func otherProvider() async throws {
        let lab = try await QueueLab(.unreachable)
        let task = try lab.task("/get?key=other-provider")
        await lab.counts { $0.waitingForNetwork == 1 }
        lab.queue.follows = .none
        #expect(await task.outcome().error == nil)
        #expect(lab.network.observerCount == 0)
    }

    @Test("a reachability manager that stops knows nothing, and lets requests try")
    func stopped() async throws {
        let kernel = FakeKernel(FakeNetwork(), reactor: try .shared)
        let network = kernel.manager()
        network.startMonitoring()
        let lab = try await QueueLab { $0.follows = .provider(network) }
        let task = try lab.task("/get?key=stopped")
        await lab.counts { $0.waitingForNetwork == 1 }
        guard case .network(let sentence)? = task.waitingReason else {
            return #expect(Bool(false), "\(task.holdReasons)")
        }
        #expect(sentence == network.path.reason.sentence)
        network.stopMonitoring()
        #expect(await task.outcome().error == nil)
    }

    @Test("settings come back as they were, and a copy has them")
    func settings() throws {
        var settings = RequestQueue.Settings()
        settings.follows = .host("gateway.local")
        settings.maximumActiveRequests = 3
        settings.maximumRequestsPerHost = 2
        settings.offlineLimit = .seconds(5)
        settings.rescue = .always(interface: "wlan0")
        settings.ramp = .none
        settings.waitsForClock = false
        let manager = try HTTPSessionManager(baseURL: "http://device.test", queue: settings)
        let data = try JSONEncoder().encode(manager.settings)
        let read = try JSONDecoder().decode(HTTPSessionManager.Settings.self, from: data)
        let copies = [try HTTPSessionManager(settings: read), try manager.copy()]
        for copy in copies {
            #expect(copy.queue.maximumActiveRequests == 3)
            #expect(copy.queue.maximumRequestsPerHost == 2)
            #expect(copy.queue.offlineLimit == .seconds(5))
            #expect(copy.queue.rescue == .always(interface: "wlan0"))
            #expect(copy.queue.ramp == .none)
            #expect(!copy.queue.waitsForClock)
            guard case .host("gateway.local") = copy.queue.follows else {
                #expect(Bool(false), "\(copy.queue.follows)")
                continue
            }
        }
        manager.queue.follows = .provider(ScriptedNetwork())
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(manager.settings) }
    }
}
