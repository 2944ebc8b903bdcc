// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Many transfers at once to an origin of which nothing is known yet.
struct FirstConnectionTests {
    /// The outcomes of so many transfers at once, and how many connections carried them.
    private func outcomes(
        _ lab: Lab, _ listener: OriginListener, _ count: Int = 24, path: String = "/get"
    ) async throws -> (all: [TaskOutcome], connections: Int) {
        let tasks = try (0..<count).map { _ in
            try lab.manager.dataTask(with: lab.request(path, at: listener))
        }
        // All in one turn of the loop, however busy the machine is.
        await withTaskExecutorPreference(try lab.manager.transferExecutor) {
            for task in tasks { task.resume() }
        }
        var all: [TaskOutcome] = []
        for task in tasks { all.append(await task.outcome()) }
        return (all, Set(all.compactMap { $0.metrics.last?.local?.port }).count)
    }

    private func lab(limit: Int) async throws -> Lab {
        let lab = try await Lab { $0.maximumConnectionsPerHost = limit }
        lab.trustOrigin()
        return lab
    }

    // Kept by libcurl alone, too, where few begin at once (CURLOPT_PIPEWAIT); UPL-498 shows what it does not
    // keep.
    @Test("UPL-493 over HTTP/2 all share the first connection, whatever the limit", arguments: [2, 6, 1000])
    func multiplexed(_ limit: Int) async throws {
        let (all, connections) = try await outcomes(lab(limit: limit), .h2)
        #expect(all.allSatisfy { $0.response?.statusCode == 200 && $0.response?.version == .http2 })
        #expect(connections == 1)
    }

    @Test("UPL-498 what the streams of a connection do not take opens one connection at a time")
    func many() async throws {
        let (all, connections) = try await outcomes(lab(limit: 1000), .h2, 300)
        #expect(all.allSatisfy { $0.response?.statusCode == 200 && $0.response?.version == .http2 })
        // libcurl by itself opens 200.
        #expect((1...6).contains(connections))
    }

    @Test("UPL-494 over HTTP/1.1 the others get connections of their own, up to the limit")
    func plain() async throws {
        let lab = try await lab(limit: 6)
        // The answers take so long that the first connection is busy when the others begin.
        let (all, connections) = try await outcomes(lab, .https, path: "/delay/0.05")
        #expect(all.allSatisfy { $0.response?.statusCode == 200 && $0.response?.version == .http1_1 })
        #expect((2...6).contains(connections))
    }

    @Test("UPL-495 where the first one fails, the others do not fail one after the other")
    func failed() async throws {
        let lab = try await Lab { $0.maximumConnectionsPerHost = 6 }
        let (all, _) = try await outcomes(lab, .https)
        #expect(all.allSatisfy { $0.error?.code == .certificateHasUnknownRoot })
    }

    @Test("UPL-496 one that is suspended before it is connected holds up no other", .timeLimit(.minutes(2)))
    func suspended() async throws {
        let lab = try await lab(limit: 6)
        let first = try lab.manager.dataTask(with: lab.request("/get", at: .h2))
        let second = try lab.manager.dataTask(with: lab.request("/get", at: .h2))
        // On the loop, which begins the first one meanwhile, and cannot end its handshake.
        await withTaskExecutorPreference(try lab.manager.transferExecutor) {
            first.resume()
            await Task.yield()
            first.suspend()
            second.resume()
        }
        #expect(await second.outcome().response?.statusCode == 200)
        first.cancel()
    }
}
