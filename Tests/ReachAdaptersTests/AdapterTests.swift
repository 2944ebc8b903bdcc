// SPDX-License-Identifier: Apache-2.0

#if Metrics && Logging && ServiceLifecycle && Tracing
    import FoundationEssentials
    import InMemoryTracing
    import Instrumentation
    import Logging
    import MetricsTestKit
    import Outbox
    import ReachAdapters
    import Reachability
    import ServiceLifecycle
    import SessionCore
    import SessionManager
    import Synchronization
    import TestSupport
    import Testing
    import Tracing

    /// Adapters to what Swift's services measure, log, run and trace with.
    struct AdapterTests {
        private func manager() async throws -> (URLSessionManager, TestSupport.Origin) {
            let origin = try await TestSupport.Origin.shared
            return (URLSessionManager(configuration: SessionConfiguration { $0.proxy = "" }), origin)
        }

        @Test("API-400 metrics: tasks by outcome, exchanges by status, bytes, durations")
        func metrics() async throws {
            let (manager, origin) = try await manager()
            let factory = TestMetrics()
            let recorded = EventLog<String>()
            manager.eventMonitors = [
                .metrics(
                    prefix: "p", dimensions: [("service", "s")], factory: factory, queue: .custom { $0() }),
                EventMonitor { _, step in recorded.append("\(step)") },
            ]
            let task = try manager.dataTask(with: SessionRequest(origin.url("/bytes/1000")))
            task.resume()
            #expect(await task.outcome().error == nil)
            await recorded.wait { $0.contains("completed") }
            let service = ("service", "s")
            #expect(
                try factory.expectCounter("p_tasks", [service, ("outcome", "succeeded")]).totalValue == 1)
            #expect(try factory.expectCounter("p_exchanges", [service, ("status", "2xx")]).totalValue == 1)
            #expect(try factory.expectCounter("p_received_bytes", [service]).totalValue == 1000)
            #expect(try factory.expectTimer("p_exchange_duration", [service]).values.count == 1)
            #expect(try factory.expectTimer("p_connect", [service]).values.count == 1)
        }

        @Test("API-401 logging: a line for each step, failures at their own level, nothing secret")
        func logging() async throws {
            let (manager, origin) = try await manager()
            let lines = EventLog<String>()
            var logger = Logger(label: "http") { _ in LineHandler(lines: lines) }
            logger.logLevel = .debug
            manager.eventMonitors = [.logging(to: logger)]
            let request = try SessionRequest(origin.url("/get?token=secret"))
            let task = try manager.dataTask(with: request)
            task.resume()
            _ = await task.outcome()
            let seen = await lines.wait { $0.contains { $0.hasPrefix("debug completed") } }
            #expect(seen.contains { $0.hasPrefix("debug sent: GET") })
            #expect(
                seen.allSatisfy {
                    $0.hasSuffix(" task=\(task.identifier) method=GET host=\(request.url.host()!)")
                })
            #expect(!seen.contains { $0.contains("secret") })
            let broken = try manager.dataTask(with: SessionRequest("http://127.0.0.1:1/"))
            broken.resume()
            _ = await broken.outcome()
            await lines.wait { $0.contains { $0.hasPrefix("warning failed: ") } }
        }

        @Test("API-402 services: monitoring and delivery begin with the group and end with it")
        func services() async throws {
            let folder = try ScratchFolder()
            let (manager, origin) = try await manager()
            let outbox = try await RequestOutbox(at: folder("outbox"))
            let network = ReachabilityManager()
            let key = "api-402"
            try await outbox.enqueue(OutboxRequest(origin.url("/post?key=\(key)")))
            let group = ServiceGroup(
                services: [MonitoringService(network), OutboxService(outbox, with: manager)],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let delivered = EventLog<Bool>()
            let observation = outbox.observe { if case .delivered = $0 { delivered.append(true) } }
            let running = Task { try await group.run() }
            await delivered.wait { !$0.isEmpty }
            #expect(network.isMonitoring)
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(!network.isMonitoring)
            #expect(try await origin.count(key) == 1)
            observation.cancel()
            // Another delivery may begin.
            try await outbox.startDelivery(with: manager)
            await outbox.close()
        }

        @Test(
            "API-403 tracing: a span for the task, one for each exchange, and the context in the header fields"
        )
        func tracing() async throws {
            let (manager, origin) = try await manager()
            let tracer = InMemoryTracer()
            TransferTracing(tracer).attach(to: manager)
            let steps = EventLog<String>()
            manager.eventMonitors.append(
                EventMonitor { _, step in
                    if case .sent(let request) = step {
                        steps.append(request.value(forHeader: InMemoryTracer.spanIDKey) ?? "none")
                    }
                })
            let parent = tracer.startSpan("parent", context: .topLevel)
            let request = try SessionRequest(origin.url("/redirect/1"))
            try await InstrumentationContext.withValue(parent.context) {
                let (_, response) = try await manager.data(for: request)
                #expect(response.statusCode == 200)
            }
            parent.end()
            let sent = await steps.wait { $0.count == 2 }
            let spans = tracer.finishedSpans
            let task = try #require(spans.first { $0.operationName == "HTTP task" })
            #expect(task.parentSpanID == parent.spanID && sent == [task.spanID, task.spanID])
            let exchanges = spans.filter { $0.operationName == "GET" }
            #expect(exchanges.count == 2 && exchanges.allSatisfy { $0.parentSpanID == task.spanID })
            #expect(tracer.activeSpans.isEmpty)
        }
    }

    /// Writes level, message and metadata as one line.
    private struct LineHandler: LogHandler {
        let lines: EventLog<String>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let words = ["task", "method", "host"].map { "\($0)=\(event.metadata?[$0] ?? "")" }
            lines.append("\(event.level) \(event.message) \(words.joined(separator: " "))")
        }
    }
#endif
