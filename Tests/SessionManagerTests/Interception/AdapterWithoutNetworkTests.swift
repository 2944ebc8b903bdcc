// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Adapters that fail because the network is lost while they work.
struct AdapterWithoutNetworkTests {
    @Test(
        "a request whose adapter failed with the network is adapted again when there is one, and waits meanwhile"
    )
    func adaptedAgain() async throws {
        let lab = try await QueueLab()
        let (asked, lost) = (EventLog<Int>(), Box<Void>())
        let key = "adapter-without-network"
        let task = try lab.task("/get?key=\(key)") { options in
            options.interceptor = Interceptor(adapters: [
                Adapter { request, state in
                    asked.append(state.retryCount)
                    if asked.elements.count == 1 {
                        await lost.value
                        throw SessionError(.cannotConnectToHost, "the server of tokens cannot be reached")
                    }
                    var request = request
                    try request.setValue("Bearer of-the-second", forHeader: "Authorization")
                    return request
                }
            ])
        }
        await asked.wait(forCount: 1)
        lab.network.become(.unreachable)
        // A request that is held tells that the queue knows of it.
        let held = try lab.task("/get")
        await lab.counts { $0.waitingForNetwork == 1 }
        lost.put(())
        await lab.counts { $0.parked == 1 && $0.waitingForNetwork == 2 }
        #expect(task.error == nil && task.currentRequest.headerFields[.authorization] == nil)
        #expect(try await lab.origin.count(key) == 0)
        lab.network.become(.wired)
        let outcome = await task.outcome()
        #expect(outcome.response?.statusCode == 200, "\(outcome.error.map { "\($0)" } ?? "")")
        let headers = try JSONValue(parsing: outcome.data ?? Data())["headers"]
        #expect(headers?["Authorization"] == "Bearer of-the-second")
        // The network's fault is no other try.
        #expect(asked.elements == [0, 0])
        #expect(try await lab.origin.count(key) == 1)
        #expect(await held.outcome().error == nil)
    }
}
