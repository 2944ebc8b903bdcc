// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport

/// Carries out a plan and looks for what is wrong with it.
final class SoakRun {
    /// How one transfer ended.
    struct Result: Sendable {
        var error: SessionError?
        var status: Int?
        /// What was received; a prefix where it failed.
        var content: [UInt8]?
    }

    struct Running {
        let transfer: SoakTransfer
        let result: Task<Result, Never>
    }

    struct Weak { weak var task: SessionTask? }

    let plan: SoakPlan
    let network: SoakNetwork
    private let monitor: ReachabilityManager
    var managers: [SoakTransfer.Manager: URLSessionManager] = [:]
    var running: [Running] = []
    var tasks: [Weak] = []
    /// The keys of those whose block was called.
    let completed = EventLog<Int>()
    private let ended = EventLog<Int>()
    /// What the client tells.
    let steps = EventLog<(key: Int, step: String)>()
    /// What is wrong.
    var faults: [String] = []
    /// How many ended with an unknown outcome.
    var unknown = 0
    var failed = 0

    init(_ plan: SoakPlan) async throws {
        self.plan = plan
        network = try await SoakNetwork()
        let reactor = network.lab.near.reactor
        monitor = network.monitor()
        for kind in SoakTransfer.Manager.allCases { managers[kind] = manager(kind, reactor) }
    }

    private func manager(_ kind: SoakTransfer.Manager, _ reactor: Reactor) -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        if kind == .queued { configuration.betterPath = .move }
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(network.folder("server.pem")))
        var settings = RequestQueue.Settings()
        settings.follows = kind == .alone ? .none : .provider(monitor)
        if kind == .queued {
            settings.maximumActiveRequests = 4
            settings.maximumRequestsPerHost = 3
        }
        let manager = URLSessionManager(
            configuration: configuration, securityPolicy: policy, on: reactor, queue: settings)
        var retries = RetryPolicy()
        // As often as it takes: a busy machine is long without a network.
        retries.retryLimit = .max
        retries.scale = 0.02
        retries.base = 1.3
        retries.maximumDelay = .milliseconds(500)
        manager.interceptor = retries
        manager.eventMonitors = [
            EventMonitor { [steps] task, step in
                guard let key = SoakTransfer.key(in: task.originalRequest.url) else { return }
                steps.append((key, Self.text(step)))
            }
        ]
        return manager
    }

    private static func text(_ step: TaskStep) -> String {
        switch step {
        case .measured(let metrics): "measured: \(metrics)"
        case .retrying(_, let error, _): "retrying: \(error), \(error.transport.map { "\($0)" } ?? "")"
        case .completed(let error): "completed: \(error?.transport.map { "\($0)" } ?? "")"
        default: "\(step)"
        }
    }

    /// From the first step to the last check.
    func callAsFunction() async throws {
        let before = try await holdings()
        for step in plan.steps {
            switch step {
            case .start(let transfer): try start(transfer)
            case .begin(let fault): try await network.begin(fault)
            case .end(let fault): try await network.end(fault)
            case .lines(let count):
                let seen = network.lines.elements.count
                // Where the server has nothing to tell, nothing is to be waited for.
                await network.lines.wait(within: .milliseconds(250)) { $0.count >= seen + count }
            }
        }
        try await network.mend()
        let results = await results()
        try await network.stop()
        try await network.close()
        judge(results)
        judgeLanes(results)
        try await leave(before)
    }

    // MARK: Transfers

    private func start(_ transfer: SoakTransfer) throws {
        guard let manager = managers[transfer.manager] else { return }
        let request = try request(transfer)
        var options = TaskOptions()
        options.lane = transfer.lane
        if transfer.kind == .idempotentPost { options.isIdempotent = true }
        if transfer.kind == .download, transfer.namesFile {
            options.partialFile = network.folder("\(transfer.key).part")
        }
        let key = transfer.key
        let block: CompletionBlock = { [completed] _, _, _ in completed.append(key) }
        let task: SessionTask
        switch transfer.kind {
        case .stream:
            return running.append(Running(transfer: transfer, result: stream(manager, request, options, key)))
        case .download:
            let folder = network.folder
            task = try manager.downloadTask(
                with: request, options: options, destination: .file(folder("\(key)"))
            ) {
                block($0, $1, $2)
            }
        case .data: task = try manager.dataTask(with: request, options: options, completion: block)
        default:
            task = try manager.uploadTask(withStreamedRequest: request, options: options, completion: block)
        }
        tasks.append(Weak(task: task))
        task.resume()
        let isDownload = transfer.kind == .download
        running.append(
            Running(
                transfer: transfer,
                result: Task { [ended] in
                    let outcome = await task.outcome()
                    ended.append(key)
                    var result = Result(error: outcome.error, status: outcome.response?.statusCode)
                    result.content =
                        isDownload
                        ? outcome.filePath.flatMap { try? Array(Data(contentsOf: URL(filePath: $0))) }
                        : outcome.data.map { Array($0) }
                    if let path = outcome.filePath { try? FileManager.default.removeItem(atPath: path) }
                    return result
                }))
    }

    private func request(_ transfer: SoakTransfer) throws -> SessionRequest {
        var request = try SessionRequest(network.url(transfer))
        let content = Data(transfer.content)
        let pieces = { @Sendable in
            AsyncStream { continuation in
                for start in stride(from: 0, to: content.count, by: 10_000) {
                    continuation.yield(content[start..<min(start + 10_000, content.count)])
                }
                continuation.finish()
            }
        }
        switch transfer.kind {
        case .download, .data, .stream: break
        case .put: (request.method, request.body) = (.put, .data(content))
        case .streamedPut: (request.method, request.body) = (.put, .stream(StreamedBody(rewindingBy: pieces)))
        case .post, .idempotentPost: (request.method, request.body) = (.post, .data(content))
        case .livePost: (request.method, request.body) = (.post, .stream(StreamedBody(pieces())))
        }
        // For the policy; the pairing goes by the option.
        if transfer.kind == .idempotentPost, let name = HTTPField.Name("Idempotency-Key") {
            request.headerFields[name] = "\(transfer.key)"
        }
        return request
    }

    private func stream(
        _ manager: URLSessionManager, _ request: SessionRequest, _ options: TaskOptions, _ key: Int
    ) -> Task<Result, Never> {
        Task { [ended, completed] in
            defer { ended.append(key) }
            completed.append(key)
            var result = Result()
            do throws(SessionError) {
                let (response, content) = try await manager.stream(for: request, options: options)
                result.status = response.statusCode
                result.content = []
                for try await chunk in content { result.content? += chunk }
            } catch {
                result.error = error
            }
            return result
        }
    }

    /// How all have ended; nil for those that have not within two minutes.
    private func results() async -> [(SoakTransfer, Result?)] {
        let count = running.count
        await ended.wait(forCount: count, within: .seconds(120))
        let done = Set(ended.elements)
        var results: [(SoakTransfer, Result?)] = []
        for one in running {
            results.append((one.transfer, done.contains(one.transfer.key) ? await one.result.value : nil))
        }
        return results
    }
}
