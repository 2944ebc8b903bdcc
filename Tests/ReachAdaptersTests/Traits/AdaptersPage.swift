// SPDX-License-Identifier: Apache-2.0

#if Metrics && Logging && ServiceLifecycle && Tracing
    import Logging
    import Outbox
    import ReachAdapters
    import ServiceLifecycle
    import SessionManager

    /// The code of docs/adapters.md (`packaging/checks/examples`).
    func useAdapters(_ manager: URLSessionManager, _ outbox: RequestOutbox, _ log: Logger) async throws {
        manager.eventMonitors = [.metrics(), .logging(to: Logger(label: "http"))]
        TransferTracing().attach(to: manager)
        let services: [any Service] = [MonitoringService(), OutboxService(outbox, with: manager)]
        try await ServiceGroup(services: services, logger: log).run()
    }
#endif
