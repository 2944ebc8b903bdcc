// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Many tasks of every fate at once.
///
/// `REACH_MIXED_TASKS` sets how many; a thousand otherwise.
struct MixedTaskTests {
    private enum Fate: Int, CaseIterable {
        case succeeds, notFound, refused, reset, stalls, cancelledAtOnce, cancelledLater, suspended,
            redirected, uploads
    }

    @Test("AF-158 tasks of every fate: each completes exactly once")
    func mixed() async throws {
        let count = getenv("REACH_MIXED_TASKS").flatMap { Int(String(cString: $0)) } ?? 1000
        let completions = try await run(count)
        #expect(completions == Array(repeating: 1, count: count))
    }

    private func run(_ count: Int) async throws -> [Int] {
        let lab = try await Lab { $0.maximumConnectionsPerHost = 32 }
        let ledger = Mutex(Array(repeating: 0, count: count))
        let group = CompletionGroup()
        for number in 0..<count {
            let fate = Fate.allCases[number % Fate.allCases.count]
            var options = TaskOptions()
            options.completionGroup = group
            let task = try lab.manager.dataTask(with: request(lab, fate), options: options) { _, _, _ in
                ledger.withLock { $0[number] += 1 }
            }
            start(task, fate)
            // Not all at once, so that tasks are cancelled and suspended at every point of their way.
            if number % 64 == 63 { await Task.yield() }
        }
        await group.wait()
        #expect(lab.manager.tasks.isEmpty)
        return ledger.withLock { $0 }
    }

    private func request(_ lab: Lab, _ fate: Fate) throws -> SessionRequest {
        var request: SessionRequest
        switch fate {
        case .succeeds, .cancelledAtOnce, .cancelledLater: request = try lab.request("/bytes/2000")
        case .suspended: request = try lab.request("/bytes/100000")
        case .notFound: request = try lab.request("/status/404")
        case .refused: request = try lab.request("/", at: .refused)
        case .reset: request = try lab.request("/", at: .reset)
        case .stalls: request = try lab.request("/", at: .silent)
        case .redirected: request = try lab.request("/redirect/2")
        case .uploads: request = try lab.request("/upload", .post, body: .data(Data(count: 5000)))
        }
        if fate == .stalls { request.options.timeoutInterval = .milliseconds(100) }
        return request
    }

    private func start(_ task: SessionTask, _ fate: Fate) {
        if fate == .cancelledAtOnce, task.identifier % 2 == 0 { task.cancel() }
        task.resume()
        switch fate {
        case .cancelledAtOnce: task.cancel()
        case .cancelledLater: Task.detached { task.cancel() }
        case .suspended:
            task.suspend()
            Task.detached {
                task.resume()
                task.suspend()
                task.resume()
            }
        default: break
        }
    }
}
