// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct OfflineRetrierTests {
    private func decision(
        _ retrier: OfflineRetrier, _ code: SessionError.Code, post: Bool = false, retryCount: Int = 0,
        isRedirected: Bool = false
    ) async throws -> Bool {
        let request = try SessionRequest("http://device.test/", method: post ? .post : .get)
        let state = RequestState(
            identifier: 1, retryCount: retryCount,
            redirectedRequest: isRedirected ? try SessionRequest("http://device.test/other") : nil,
            date: Date(), instant: .now)
        let decision = await retrier.retry(request, state: state, after: SessionError(code, "failed"))
        if case .retry = decision { return true }
        return false
    }

    @Test("AF-237 it waits until the network is back, and no longer than its limit")
    func waits() async throws {
        let network = ScriptedNetwork(.unreachable)
        let patient = OfflineRetrier(provider: network, limit: .seconds(3600))
        let waiting = Task { try await decision(patient, .notConnectedToInternet) }
        while network.observerCount == 0 { await Task.yield() }
        network.become(.wifi)
        #expect(try await waiting.value)
        #expect(network.observerCount == 0)
        network.become(.unreachable)
        let impatient = OfflineRetrier(provider: network, limit: .milliseconds(20))
        #expect(try await !decision(impatient, .notConnectedToInternet))
        #expect(network.observerCount == 0)
    }

    @Test("only failures that the network explains, and only what may be sent twice")
    func limits() async throws {
        let retrier = OfflineRetrier(provider: ScriptedNetwork(.wired))
        #expect(try await decision(retrier, .cannotConnectToHost))
        #expect(try await decision(retrier, .cannotConnectToHost, post: true))
        #expect(try await decision(retrier, .networkConnectionLost))
        #expect(try await !decision(retrier, .networkConnectionLost, post: true))
        // The server that has led elsewhere has had it.
        #expect(try await !decision(retrier, .cannotConnectToHost, post: true, isRedirected: true))
        #expect(try await decision(retrier, .cannotConnectToHost, isRedirected: true))
        #expect(try await !decision(retrier, .certificateUntrusted))
        #expect(try await !decision(retrier, .cannotConnectToHost, retryCount: 3))
    }

    @Test("AF-237 a task that was tried fails with its own error when the network does not come back")
    func originalError() async throws {
        let lab = try await QueueLab(.unreachable) { $0.follows = .none }
        var options = TaskOptions()
        options.interceptor = Interceptor(retriers: [
            OfflineRetrier(provider: lab.network, limit: .milliseconds(20))
        ])
        let task = try lab.manager.dataTask(with: lab.request("/get", at: .refused), options: options)
        task.resume()
        #expect(await task.outcome().error?.code == .cannotConnectToHost)
    }
}
