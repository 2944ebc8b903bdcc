// SPDX-License-Identifier: Apache-2.0

#if Metrics
    import FoundationEssentials
    import MetricsTestKit
    import ReachAdapters
    import ReachTesting
    import SessionManager
    import Testing

    /// What a manager's tasks leave in swift-metrics.
    struct MetricsTests {
        private let factory = TestMetrics()

        private func attach(to manager: URLSessionManager) {
            manager.eventMonitors = [
                .metrics(
                    prefix: "p", dimensions: [("service", "s")], factory: factory, queue: .custom { $0() })
            ]
        }

        /// Runs a task to its end; the metrics are complete when this returns.
        private func run(
            _ request: SessionRequest, on manager: URLSessionManager, cancelled: Bool = false
        ) async throws {
            let steps = manager.recordSteps()
            let task = try manager.dataTask(with: request)
            task.resume()
            if cancelled {
                _ = try await steps.first(within: .seconds(60), "a request") {
                    if case .sent = $0.step { true } else { false }
                }
                task.cancel()
            }
            _ = await task.outcome()
        }

        private func count(_ name: String, _ own: [(String, String)] = []) throws -> Int64 {
            try factory.expectCounter("p_\(name)", [("service", "s")] + own).totalValue
        }

        private func timings(_ name: String) throws -> Int {
            try factory.expectTimer("p_\(name)", [("service", "s")]).values.count
        }

        @Test("API-400 metrics: tasks by outcome, exchanges by status, bytes, durations")
        func outcomes() async throws {
            let manager = URLSessionManager(responseSerializer: HTTPResponseSerializer()) { request in
                switch request.path {
                case "/content": .data(Data(count: 1000))
                case "/missing": .status(404)
                case "/silence": .silence
                default: .failure(.cannotConnectToHost)
                }
            }
            attach(to: manager)
            let base = "https://api.example.com"
            let body = RequestBody.data(Data(count: 70))
            try await run(SessionRequest("\(base)/content", method: .post, body: body), on: manager)
            try await run(SessionRequest("\(base)/missing"), on: manager)
            try await run(SessionRequest("\(base)/nobody"), on: manager)
            try await run(SessionRequest("\(base)/silence"), on: manager, cancelled: true)
            // A refusal is an answer.
            #expect(try count("tasks", [("outcome", "succeeded")]) == 2)
            #expect(try count("tasks", [("outcome", "failed")]) == 1)
            #expect(try count("tasks", [("outcome", "cancelled")]) == 1)
            #expect(try count("exchanges", [("status", "2xx")]) == 1)
            #expect(try count("exchanges", [("status", "4xx")]) == 1)
            #expect(try count("exchanges", [("status", "5xx")]) == 0)
            #expect(try count("sent_bytes") == 70)
            #expect(try count("received_bytes") == 1000)
            #expect(try timings("exchange_duration") >= 3)
            #expect(try timings("first_byte") == 2)
        }

        @Test("API-400 metrics: repeated tries, and transfers that have lost their path")
        func repetitions() async throws {
            let manager = URLSessionManager(responseSerializer: HTTPResponseSerializer()) { request in
                switch (request.path, request.attempt) {
                case ("/busy", 1...2): .status(503)
                case ("/lost", 1): .pathLost("eth0: no carrier")
                default: .status(204)
                }
            }
            attach(to: manager)
            var policy = RetryPolicy()
            policy.scale = 0
            manager.interceptor = Interceptor(retriers: [policy])
            try await run(SessionRequest("https://api.example.com/busy"), on: manager)
            #expect(try count("retries") == 2)
            #expect(try count("parked") == 0)
            try await run(SessionRequest("https://api.example.com/lost"), on: manager)
            #expect(try count("parked") == 1)
            #expect(try count("tasks", [("outcome", "succeeded")]) == 2)
            #expect(try count("exchanges", [("status", "5xx")]) == 2)
        }

        @Test("API-400 metrics: only a new connection is a connect")
        func connects() async throws {
            let server = try OneAnswerServer()
            let manager = URLSessionManager(configuration: SessionConfiguration { $0.proxy = "" })
            manager.responseSerializer = HTTPResponseSerializer()
            attach(to: manager)
            try await run(SessionRequest("http://127.0.0.1:\(server.port)/"), on: manager)
            #expect(try count("tasks", [("outcome", "succeeded")]) == 1)
            #expect(try timings("connect") == 1)
            #expect(try factory.expectTimer("p_connect", [("service", "s")]).values.allSatisfy { $0 > 0 })

            let answered = URLSessionManager(responseSerializer: HTTPResponseSerializer()) { _ in
                .status(204)
            }
            attach(to: answered)
            try await run(SessionRequest("http://127.0.0.1/"), on: answered)
            #expect(try count("tasks", [("outcome", "succeeded")]) == 2)
            #expect(try timings("connect") == 1)
        }
    }
#endif
