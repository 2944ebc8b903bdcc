// SPDX-License-Identifier: Apache-2.0

import ReachTesting
import Testing

/// Steps of tasks that a test has recorded.
@Suite struct StepsTests {
    /// Tells when it is released.
    private final class Canary: Sendable {
        private let gone: AsyncStream<Void>.Continuation

        init(_ gone: AsyncStream<Void>.Continuation) { self.gone = gone }

        deinit { gone.yield() }
    }

    @Test("API-560 Steps that were not read are released with their stream, and tasks and manager with them")
    func unread() async throws {
        let (releases, gone) = AsyncStream<Void>.makeStream()
        try await record(Canary(gone))
        _ = try await releases.first(within: .seconds(60), "the manager's end") { _ in true }
    }

    /// Has a manager that holds the canary carry out a request, and reads one of its steps.
    private func record(_ canary: Canary) async throws {
        let manager = URLSessionManager { _ in withExtendedLifetime(canary) { Answer.status(204) } }
        let steps = manager.recordSteps()
        let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
        task.resume()
        _ = try await steps.first(within: .seconds(60), "a request") {
            if case .sent = $0.step { true } else { false }
        }
        #expect(await task.outcome().response?.statusCode == 204)
    }
}
