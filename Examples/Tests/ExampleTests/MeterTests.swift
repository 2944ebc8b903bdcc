// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Synchronization
import Testing

@testable import meter

/// Samples that survive a server that is busy and a network that is not there.
@Suite struct MeterTests {
    @Test func samplesArriveInOrder() async throws {
        let arrived = Mutex<[String]>([])
        let network = ScriptedNetwork(.unreachable)
        let manager = URLSessionManager(network: network) { request in
            arrived.withLock { $0.append(request.text) }
            return .status(arrived.withLock { $0.count } == 1 ? 503 : 201)
        }
        let store = try await TemporaryOutbox()
        try await store.outbox.startDelivery(with: manager)
        let meter = Meter(store.outbox, sendingTo: "https://api.example.com/samples")
        for sample in ["1", "2", "3"] { try await meter.store(sample) }
        #expect(arrived.withLock { $0 } == [])  // they wait on the disk

        network.become(.wifi)
        let lines = Mutex<[String]>([])
        await meter.finish { line in lines.withLock { $0.append(line) } }
        #expect(arrived.withLock { $0 } == ["1", "1", "2", "3"])  // 503 has it sent again, before the next
        #expect(lines.withLock { $0 }.filter { $0 == "delivered with status 201" }.count == 3)
        await store.close()
    }
}
