// SPDX-License-Identifier: Apache-2.0

#if Logging
    import Logging
    import ReachAdapters
    import ReachTesting
    import SessionManager
    import Synchronization
    import Testing

    /// What a manager's tasks write to swift-log.
    struct LoggingTests {
        private let lines = LogLines()

        /// A manager whose log has this level; `/nobody` fails, `/silence` is for cancelling.
        private func manager(_ level: Logger.Level) -> URLSessionManager {
            let manager = URLSessionManager { request in
                switch request.path {
                case "/nobody": .failure(.cannotConnectToHost)
                case "/silence": .silence
                default: .text("content")
                }
            }
            manager.responseSerializer = HTTPResponseSerializer()
            var logger = Logger(label: "http") { _ in LineHandler(lines: lines) }
            logger.logLevel = level
            manager.eventMonitors = [.logging(to: logger, queue: .custom { $0() })]
            return manager
        }

        @Test("API-401 logging: a line for each step, failures at their own level, nothing secret")
        func steps() async throws {
            let manager = manager(.debug)
            var request = try SessionRequest("https://user:password@api.example.com/get?token=secret")
            try request.setValue("secret", forHeader: "Authorization")
            let task = try manager.dataTask(with: request)
            task.resume()
            _ = await task.outcome()
            let seen = lines.all
            #expect(seen.contains { $0.hasPrefix("debug sent: GET") })
            #expect(seen.last?.hasPrefix("debug completed") == true, "\(seen)")
            let metadata = " task=\(task.identifier) method=GET host=api.example.com"
            #expect(seen.allSatisfy { $0.hasSuffix(metadata) }, "\(seen)")
            for secret in ["secret", "password", "content"] {
                #expect(!seen.contains { $0.contains(secret) }, "\(secret) in \(seen)")
            }
            let broken = try manager.dataTask(with: SessionRequest("https://api.example.com/nobody"))
            broken.resume()
            _ = await broken.outcome()
            #expect(lines.all.last?.hasPrefix("warning failed: ") == true, "\(lines.all)")
        }

        @Test("API-401 logging: below the level of the log there is nothing, a cancellation is no failure")
        func levels() async throws {
            let manager = manager(.info)
            let steps = manager.recordSteps()
            let cancelled = try manager.dataTask(with: SessionRequest("https://api.example.com/silence"))
            cancelled.resume()
            _ = try await steps.first(within: .seconds(60), "a request") {
                if case .sent = $0.step { true } else { false }
            }
            cancelled.cancel()
            #expect(await cancelled.outcome().error?.isCancellation == true)
            #expect(lines.all == [])
            let broken = try manager.dataTask(with: SessionRequest("https://api.example.com/nobody"))
            broken.resume()
            _ = await broken.outcome()
            #expect(lines.all.count == 1 && lines.all[0].hasPrefix("warning failed: "), "\(lines.all)")
        }
    }

    private final class LogLines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// Writes level, message and metadata as one line.
    private struct LineHandler: LogHandler {
        let lines: LogLines
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
