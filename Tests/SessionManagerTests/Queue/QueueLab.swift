// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPTypes
import ReachTesting
import ReachabilityCore
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A manager beside the origin whose network a test sets; the origin's host is none of this machine's.
struct QueueLab {
    let origin: TestSupport.Origin
    let manager: URLSessionManager
    let network: ScriptedNetwork
    private let log = EventLog<QueueCounts>()
    private let reading: Task<Void, Never>

    /// - Parameter reactor: a loop of its own; nil takes the one that all share.
    init(
        _ status: ReachabilityStatus = .wired, connections: Int = 6, on reactor: Reactor? = nil,
        _ change: (inout RequestQueue.Settings) -> Void = { _ in }
    ) async throws {
        origin = try await TestSupport.Origin.shared
        network = ScriptedNetwork(status)
        var configuration = SessionConfiguration()
        configuration.hostAddresses = OriginListener.allCases.map { [origin] in
            origin.resolveEntry($0, host: "device.test")
        }
        configuration.proxy = ""
        configuration.maximumConnectionsPerHost = connections
        var queue = RequestQueue.Settings()
        queue.follows = .provider(network)
        change(&queue)
        manager =
            if let reactor {
                URLSessionManager(
                    configuration: configuration, securityPolicy: .default, on: reactor, queue: queue)
            } else {
                URLSessionManager(configuration: configuration, queue: queue)
            }
        let events = manager.events
        log.append(QueueCounts())
        reading = Task { [log] in
            for await event in events { if case .queueChanged(let counts) = event { log.append(counts) } }
        }
    }

    var queue: RequestQueue { manager.queue }

    func request(
        _ path: String, _ method: HTTPRequest.Method = .get, at listener: OriginListener = .http,
        body: RequestBody? = nil
    ) throws -> SessionRequest {
        try SessionRequest(
            origin.url(path, at: listener, host: "device.test"), method: method, body: body)
    }

    func task(
        _ path: String, _ method: HTTPRequest.Method = .get, body: RequestBody? = nil,
        _ change: (inout TaskOptions) -> Void = { _ in }
    ) throws -> SessionTask {
        var options = TaskOptions()
        change(&options)
        let task = try manager.dataTask(with: request(path, method, body: body), options: options)
        task.resume()
        return task
    }

    /// Waits until the counts are like this; what they were at last.
    @discardableResult
    func counts(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ isWanted: @escaping @Sendable (QueueCounts) -> Bool
    ) async -> QueueCounts {
        let counts = await log.wait { $0.last.map(isWanted) ?? false }.last ?? QueueCounts()
        #expect(isWanted(counts), "\(counts)", sourceLocation: sourceLocation)
        return counts
    }

    /// Returns when a request to this machine, which nothing holds, has gone through: what was under way
    /// before has arrived.
    func barrier() async throws {
        let other = URLSessionManager()
        let task = try other.dataTask(with: SessionRequest(origin.url("/get")))
        task.resume()
        #expect(await task.outcome().error == nil)
    }
}
