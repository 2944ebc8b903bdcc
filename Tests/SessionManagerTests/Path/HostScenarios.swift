// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A device that has no default route and needs none: its server is on the same network.
@Suite(
    "A queue that follows a host",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct HostScenarios {
    private static let server = "10.1.0.1"

    private func task(_ manager: URLSessionManager, _ path: String) throws -> SessionTask {
        let task = try manager.dataTask(with: SessionRequest("http://\(Self.server):8080\(path)"))
        task.resume()
        return task
    }

    @Test(
        "Without a default route the queue runs as long as its host is on a link, waits without, and goes on")
    func local() async throws {
        let paths = try await TwoPaths(isEverywhere: true)
        let near = paths.lab.near
        try await near.ip(batch: "route del default via 10.1.0.1\nroute del default via 10.2.0.1")
        let following = FollowingManager(.host(Self.server), in: near)
        let (manager, counts) = (following.manager, following.counts)
        #expect(await (try task(manager, "/quick?1")).outcome().error == nil)

        try await paths.cut(.linkDown)
        let waiting = try task(manager, "/quick?2")
        #expect(await counts.wait { $0.last?.waitingForNetwork == 1 }.last?.waitingForNetwork == 1)
        guard case .network(let sentence)? = waiting.waitingReason else {
            return #expect(Bool(false), "\(waiting.holdReasons)")
        }
        #expect(sentence.contains(Self.server) || sentence.contains("a0"), "\(sentence)")
        // Another host on the link that is left is no reason to go on.
        let other = FollowingManager(.host("10.2.0.1"), in: near).manager
        let elsewhere = try other.dataTask(with: SessionRequest("http://10.2.0.1:8080/quick?other"))
        elsewhere.resume()
        #expect(await elsewhere.outcome().error == nil)
        #expect(waiting.state == .running && waiting.waitingReason != nil)

        try await near.ip("link set a0 up")
        #expect(await waiting.outcome().error == nil)
        let requests = try await paths.requests(3)
        #expect(requests.map(\.server) == [Self.server, "10.2.0.1", Self.server])
        manager.invalidate()
        other.invalidate()
    }

    @Test("A connection that is tried in the instant of a loss is tried once more when it is heard of")
    func instant() async throws {
        let paths = try await TwoPaths(isEverywhere: true)
        let near = paths.lab.near
        try await near.ip(batch: "route del default via 10.1.0.1\nroute del default via 10.2.0.1")
        // Nothing holds it back: so it runs into what a queue that has not heard of the loss yet runs into.
        let manager = FollowingManager(.none, in: near).manager
        #expect(await (try task(manager, "/quick?1")).outcome().error == nil)
        while true {
            try await paths.cut(.linkDown)
            let begin = ContinuousClock.now
            let request = try task(manager, "/quick?2")
            try await near.ip("link set a0 up")
            // Nothing waits for longer than two seconds: where a busy machine takes that long for the
            // command, it proves nothing.
            let isInstant = ContinuousClock.now - begin < .seconds(1)
            let error = await request.outcome().error
            guard isInstant || error == nil else { continue }
            #expect(error == nil)
            break
        }
        _ = try await paths.requests(2)
        manager.invalidate()
    }

    @Test("A transfer to the host goes on when the way to it has turned to another link")
    func turned() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let near = paths.lab.near
        try await near.ip(
            batch: """
                route del default via 10.1.0.1
                route del default via 10.2.0.1
                route add 10.9.0.1/32 via 10.1.0.1 metric 10
                route add 10.9.0.1/32 via 10.2.0.1 metric 20
                """)
        let manager = FollowingManager(.host("10.9.0.1"), in: near).manager
        let log = EventLog<Int64>()
        var options = TaskOptions()
        options.downloadProgress = { log.append($0.completedBytes) }
        let download = try manager.downloadTask(
            with: SessionRequest(paths.base + "/blob?stall=262144"), options: options)
        download.resume()
        await log.wait { $0.contains(256 << 10) }
        try await paths.cut(.linkDown)
        let outcome = await download.outcome()
        #expect(outcome.error == nil)
        let path = try #require(outcome.filePath)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try await paths.difference(of: path) == "")
        let requests = try await paths.requests(2)
        #expect(requests.map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress])
        #expect(requests.last?.start == 256 << 10)
        manager.invalidate()
    }
}

/// A manager in a lab's network, and the counts of its queue as they change.
struct FollowingManager: Sendable {
    let manager: URLSessionManager
    let counts = EventLog<QueueCounts>()

    /// - Parameter source: What its queue goes by.
    init(_ source: NetworkSource, in namespace: NetworkNamespace) {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        var settings = RequestQueue.Settings()
        settings.follows = source
        manager = URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: namespace.reactor, queue: settings)
        let (events, counts) = (manager.events, counts)
        // The events end with the manager.
        Task { for await event in events { if case .queueChanged(let new) = event { counts.append(new) } } }
    }
}
