// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Outbox
import Reachability
import SessionCore
import SessionManager

/// One try to open the service's outbox, where that is not open yet, and to deliver from it.
struct DeliveryStart: Sendable {
    struct Outcome: Sendable {
        let outbox: RequestOutbox
        let manager: URLSessionManager
        /// Why it is not delivered from; nil where it is.
        let problem: String?
    }

    /// The open outbox; nil where it is to be opened.
    let open: RequestOutbox?
    /// What it delivered with before; nil for a new one.
    let manager: URLSessionManager?
    let directory: StateDirectory
    let configuration: OutboxConfiguration
    /// What a probe says of the network; nil where none is asked.
    let internet: InternetState?
    let monitor: ReachabilityManager
    let service: LoopBound<OutboxService>

    /// - Throws: why it cannot be opened.
    func run() async throws -> Outcome {
        let outbox = try await outbox()
        let manager = manager ?? made()
        // First: nothing is to leave that has to wait.
        try await outbox.follow(internet)
        var problem: String?
        do { try await outbox.startDelivery(with: manager) } catch { problem = "\(error)" }
        // For processes that add without the service; on a full disk, the next start stores them.
        if open == nil { try? await outbox.storeLimits() }
        return Outcome(outbox: outbox, manager: manager, problem: problem)
    }

    private func outbox() async throws -> RequestOutbox {
        if let open { return open }
        try directory.prepare()
        let (folder, service) = (directory.path + "/" + OutboxService.folderName, service)
        return try await RequestOutbox(at: folder, configuration: configuration) { event in
            service.perform { $0.happened(event) }
        }
    }

    private func made() -> URLSessionManager {
        var queue = RequestQueue.Settings()
        queue.follows = .provider(monitor)
        let (manager, service) = (URLSessionManager(queue: queue), service)
        manager.eventMonitors = [
            EventMonitor(queue: .onLoop(service.reactor)) { _, step in service.here { $0.record(step) } }
        ]
        return manager
    }
}
