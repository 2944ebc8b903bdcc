// SPDX-License-Identifier: Apache-2.0

import ReachTesting
import Testing

@testable import own_queue

/// A queue of the program's own that follows a network.
@Suite struct GatedQueueTests {
    @Test func jobsWaitForANetwork() async throws {
        let network = ScriptedNetwork(.unreachable)
        let gated = GatedQueue()
        let observation = gated.follow(network)
        let (jobs, done) = AsyncStream<String>.makeStream()
        gated.queue.async { done.yield("ran while \(network.currentReachability().status)") }

        network.become(.wifi)
        #expect(try await jobs.first(within: .seconds(30)) { _ in true } == "ran while wifi")
        observation.cancel()
        #expect(network.observerCount == 0)
    }
}
