// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Outbox
import Reachability
import SessionCore
import SessionManager

/// An attempt to open the service's outbox, if necessary, and to start its delivery.
struct DeliveryStart: Sendable {
    struct Outcome: Sendable {
        let outbox: RequestOutbox
        let manager: URLSessionManager
        /// Why the delivery did not start; nil if it did.
        let problem: String?
    }

    /// The open outbox; nil if it has to be opened.
    let open: RequestOutbox?
    /// The manager of the last delivery; nil for a new one.
    let manager: URLSessionManager?
    let directory: StateDirectory
    let configuration: OutboxConfiguration
    /// What the probe has found; nil without a probe.
    let internet: InternetFindings?
    let probe: InternetProbe?
    let monitor: ReachabilityManager
    let service: LoopBound<OutboxService>

    /// - Throws: why it cannot be opened.
    func run() async throws -> Outcome {
        let outbox = try await outbox()
        let manager = manager ?? made()
        // Before the start, so that requests which have to wait are not sent.
        try await outbox.follow(findings: internet)
        manager.queue.internetProbe = probe
        var problem: String?
        do { try await outbox.startDelivery(with: manager) } catch { problem = "\(error)" }
        // For processes that store requests without the service; with a full disk the next start does it.
        if open == nil { try? await outbox.storeLimits() }
        return Outcome(outbox: outbox, manager: manager, problem: problem)
    }

    private func outbox() async throws -> RequestOutbox {
        if let open { return open }
        try directory.prepare()
        let (folder, service) = (directory.path + "/" + OutboxService.folderName, service)
        var configuration = configuration
        FetchFolders.prepare(configuration.limits.downloadFolders, in: directory.path)
        configuration.limits.downloadFolders = FetchFolders.paths(
            configuration.limits.downloadFolders, in: directory.path)
        configuration.downloadHandler = { file in
            await withCheckedContinuation { continuation in
                service.perform { $0.fetched(file) { continuation.resume(returning: $0) } }
            }
        }
        return try await RequestOutbox(at: folder, configuration: configuration) { event in
            service.perform { $0.happened(event) }
        }
    }

    private func made() -> URLSessionManager {
        var queue = RequestQueue.Settings()
        queue.follows = .provider(monitor)
        let (manager, service) = (URLSessionManager(sockets: nil, queue: queue), service)
        manager.eventMonitors = [
            EventMonitor(queue: .onLoop(service.reactor)) { _, step in service.here { $0.record(step) } }
        ]
        return manager
    }
}
