// SPDX-License-Identifier: Apache-2.0

#if ServiceLifecycle
    public import Outbox
    public import Reachability
    public import ServiceLifecycle
    public import SessionManager

    /// Watches the network while a program's services run (swift-service-lifecycle).
    ///
    ///     let group = ServiceGroup(services: [MonitoringService(), OutboxService(outbox, with: manager)],
    ///     logger: log)
    ///     try await group.run()
    public struct MonitoringService: Service {
        private let manager: ReachabilityManager

        /// A service around a manager; the shared one unless given.
        public init(_ manager: ReachabilityManager = .shared) { self.manager = manager }

        /// Starts the monitoring, and stops it when the group shuts down or the task is cancelled.
        public func run() async throws {
            manager.startMonitoring()
            try? await gracefulShutdown()
            manager.stopMonitoring()
        }
    }

    /// Delivers what an outbox holds while a program's services run.
    ///
    /// When the group shuts down, nothing more leaves: what is on its way may end, within the time that the
    /// group gives, and what has not left waits on the disk for the next start.
    public struct OutboxService: Service {
        private let outbox: RequestOutbox
        private let manager: URLSessionManager
        private let probe: InternetProbe?

        /// A service around an outbox.
        ///
        /// - Parameters:
        ///   - manager: sends the requests.
        ///   - probe: looks for the internet, see `RequestOutbox.startDelivery(with:probe:)`.
        public init(_ outbox: RequestOutbox, with manager: URLSessionManager, probe: InternetProbe? = nil) {
            self.outbox = outbox
            self.manager = manager
            self.probe = probe
        }

        /// Delivers until the group shuts down or the task is cancelled.
        ///
        /// - Throws: `OutboxError` where the delivery cannot begin, such as when another process delivers.
        public func run() async throws {
            try await outbox.startDelivery(with: manager, probe: probe)
            try? await gracefulShutdown()
            await outbox.stopDelivery()
        }
    }
#endif
