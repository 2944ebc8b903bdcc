// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport

/// A manager of the client in a lab whose lines die, and the requests that its tests make.
struct LineClient {
    let paths: TwoPaths
    let manager: URLSessionManager
    /// The counts of its queue as they change.
    let counts = EventLog<QueueCounts>()

    /// - Parameters:
    ///   - addresses: those of hosts, which are not looked up.
    ///   - policy: how it judges the server's certificate.
    ///   - source: what its queue goes by.
    ///   - betterPath: what running transfers do when there is a better path.
    init(
        _ paths: TwoPaths, addresses: [String] = [], policy: SecurityPolicy = .default,
        follows source: NetworkSource? = nil, betterPath: BetterPathPolicy = .stay
    ) {
        self.paths = paths
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        configuration.hostAddresses = addresses
        configuration.betterPath = betterPath
        var settings = RequestQueue.Settings()
        if let source { settings.follows = source }
        manager = URLSessionManager(
            configuration: configuration, securityPolicy: policy, on: paths.lab.near.reactor, queue: settings)
        let (events, counts) = (manager.events, counts)
        // The events end with the manager.
        Task { for await event in events { if case .queueChanged(let new) = event { counts.append(new) } } }
    }

    /// A monitor in the client's namespace, which is started.
    static func monitor(
        _ paths: TwoPaths, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
    ) -> ReachabilityManager {
        var configuration = ReachabilityConfiguration()
        configure(&configuration)
        var environment = MonitorEnvironment.kernel
        let reactor = paths.lab.near.reactor
        environment.reactor = { () throws(ReachabilityError) -> Reactor in reactor }
        let monitor = ReachabilityManager(.general, configuration, .own, environment)
        monitor.startMonitoring()
        return monitor
    }

    func request(
        _ path: String, _ method: HTTPRequest.Method = .get, host: String? = nil
    ) throws -> SessionRequest {
        var request = try SessionRequest((host.map { "http://\($0):8080" } ?? paths.base) + path)
        request.method = method
        if method != .get { request.body = .data(Data("x".utf8)) }
        return request
    }

    /// Starts a request.
    func start(_ request: SessionRequest) throws -> SessionTask {
        let task = try manager.dataTask(with: request) { _, _, _ in }
        task.resume()
        return task
    }

    func fetch(_ path: String, _ method: HTTPRequest.Method = .get) async throws -> TaskOutcome {
        try await fetch(request(path, method))
    }

    func fetch(_ request: SessionRequest) async throws -> TaskOutcome { await (try start(request)).outcome() }

    /// Starts a download.
    func download(_ request: SessionRequest) throws -> SessionTask {
        let task = try manager.downloadTask(with: request)
        task.resume()
        return task
    }

    /// Starts a download of `/blob`, which stands still after 64 KiB until ``TwoPaths/release()``.
    func stalledDownload(
        _ restrict: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> SessionTask {
        var request = try request("/blob?stall=65536")
        restrict(&request.options)
        let task = try download(request)
        try await paths.waitForStalls()
        return task
    }

    /// Waits for a download, which has to be identical; returns its error.
    func end(of download: SessionTask) async throws -> SessionError? {
        let outcome = await download.outcome()
        guard outcome.error == nil, let file = outcome.filePath else { return outcome.error }
        defer { try? FileManager.default.removeItem(atPath: file) }
        let difference = try await paths.difference(of: file)
        guard difference.isEmpty else { throw LabError("the download is another: \(difference)") }
        return nil
    }
}

extension [TwoPaths.Event] {
    /// The clients of the requests for a path and query, in order.
    func peers(of path: String, query: String? = nil) -> [String] {
        filter { $0.event == "request" && $0.path == path && (query == nil || $0.query == query) }
            .compactMap(\.peer)
    }
}
