// SPDX-License-Identifier: Apache-2.0

#if ServiceLifecycle
    import Logging
    import ReachAdapters
    import ReachTesting
    import Reachability
    import ServiceLifecycle
    import SessionManager
    import Testing

    /// Monitoring and delivery as services of a `ServiceGroup`.
    struct ServiceLifecycleTests {
        private let manager = URLSessionManager { _ in .status(204) }

        /// Waits until the network is monitored.
        private func monitored(_ network: ReachabilityManager) async throws {
            let (reports, continuation) = AsyncStream<Bool>.makeStream()
            let observation = network.observeReachability { _ in continuation.yield(network.isMonitoring) }
            defer { observation.cancel() }
            _ = try await reports.first(within: .seconds(60), "monitoring") { $0 }
        }

        @Test("API-402 services: monitoring and delivery begin with the group and end with it")
        func group() async throws {
            let store = try await TemporaryOutbox()
            let network = ReachabilityManager()
            let events = store.outbox.events
            try await store.outbox.enqueue(OutboxRequest("https://api.example.com/samples"))
            let group = ServiceGroup(
                services: [MonitoringService(network), OutboxService(store.outbox, with: manager)],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let running = Task { try await group.run() }
            try await monitored(network)
            _ = try await events.first(within: .seconds(60), "a delivery") {
                if case .delivered(_, 204) = $0 { true } else { false }
            }
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(!network.isMonitoring)
            _ = try await events.first(within: .seconds(60), "the end of the delivery") {
                if case .delivering(false) = $0 { true } else { false }
            }
            // Another delivery may begin.
            try await store.outbox.startDelivery(with: manager)
            await store.close()
        }

        @Test("API-402 services: they end with their tasks, too")
        func cancelled() async throws {
            let store = try await TemporaryOutbox()
            let network = ReachabilityManager()
            let events = store.outbox.events
            let running = Task { [manager] in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await MonitoringService(network).run() }
                    group.addTask { try await OutboxService(store.outbox, with: manager).run() }
                    try await group.waitForAll()
                }
            }
            try await monitored(network)
            _ = try await events.first(within: .seconds(60), "the begin of the delivery") {
                if case .delivering(true) = $0 { true } else { false }
            }
            running.cancel()
            try? await running.value
            #expect(!network.isMonitoring)
            _ = try await events.first(within: .seconds(60), "the end of the delivery") {
                if case .delivering(false) = $0 { true } else { false }
            }
            await store.close()
        }
    }
#endif
