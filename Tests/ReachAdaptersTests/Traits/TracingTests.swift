// SPDX-License-Identifier: Apache-2.0

#if Tracing
    import InMemoryTracing
    import Instrumentation
    import ReachAdapters
    import ReachTesting
    import SessionManager
    import Synchronization
    import Testing
    import Tracing

    /// The spans of a manager's tasks, by swift-distributed-tracing.
    struct TracingTests {
        private let tracer = InMemoryTracer()

        /// The task's span and those of its exchanges, after the end of a task.
        private func spans(
            of request: SessionRequest, on manager: URLSessionManager
        ) async throws -> (task: FinishedInMemorySpan, exchanges: [FinishedInMemorySpan]) {
            let steps = manager.recordSteps()
            let task = try manager.dataTask(with: request)
            task.resume()
            _ = try await steps.first(within: .seconds(60), "an end") {
                if case .completed = $0.step { true } else { false }
            }
            #expect(tracer.activeSpans.isEmpty)
            let spans = tracer.finishedSpans
            return (
                try #require(spans.first { $0.operationName == "HTTP task" }),
                spans.filter { $0.operationName == "GET" }
            )
        }

        @Test(
            "API-403 tracing: a span for the task, one for each exchange, and the context in the header fields"
        )
        func context() async throws {
            let sent = Mutex<[String]>([])
            let manager = URLSessionManager(responseSerializer: HTTPResponseSerializer()) { request in
                sent.withLock { $0.append(request.value(forHeader: InMemoryTracer.spanIDKey) ?? "none") }
                return request.path == "/old" ? .redirect(to: "/new") : .status(204)
            }
            TransferTracing(tracer).attach(to: manager)
            let parent = tracer.startSpan("parent", context: .topLevel)
            let request = try SessionRequest("https://user:secret@api.example.com/old?token=secret")
            let (task, exchanges) = try await InstrumentationContext.withValue(parent.context) {
                parent.end()
                return try await spans(of: request, on: manager)
            }
            #expect(task.parentSpanID == parent.spanID && task.traceID == parent.traceID)
            #expect(sent.withLock { $0 } == [task.spanID, task.spanID])
            #expect(exchanges.count == 2 && exchanges.allSatisfy { $0.parentSpanID == task.spanID })
            #expect(task.status == nil && task.errors.isEmpty)
            let statuses = exchanges.map { $0.attributes.get("http.response.status_code") }
            #expect(statuses == [.int64(302), .int64(204)])
            for span in [task] + exchanges {
                #expect(span.attributes.get("server.address") == .string("api.example.com"))
                span.attributes.forEach { key, value in
                    #expect(!"\(key) \(value)".contains("secret"))
                }
            }
        }

        @Test("API-403 tracing: repeated tries and a lost path are events, a failure is the span's status")
        func events() async throws {
            let manager = URLSessionManager(responseSerializer: HTTPResponseSerializer()) { request in
                switch request.attempt {
                case 1: .status(503)
                case 2: .pathLost("eth0: no carrier")
                default: .failure(.badServerResponse)
                }
            }
            var policy = RetryPolicy()
            policy.retryLimit = 1
            policy.scale = 0
            manager.interceptor = Interceptor(retriers: [policy])
            // The interceptor of before stays.
            TransferTracing(tracer).attach(to: manager)
            let (task, exchanges) = try await spans(
                of: SessionRequest("https://api.example.com/"), on: manager)
            #expect(task.events.map(\.name) == ["retry", "parked", "unparked"])
            #expect(exchanges.count == 3)
            #expect(task.status?.code == .error && task.errors.count == 1)
        }
    }
#endif
