// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import ReachTesting
import Synchronization
import TestSupport
import Testing

/// An outbox that goes away with its test.
@Suite struct TemporaryOutboxTests {
    @Test("API-240 Requests are delivered to the test's answers, in order and again after refusals")
    func delivery() async throws {
        let bodies = Mutex<[String]>([])
        let network = ScriptedNetwork(.unreachable)
        let manager = URLSessionManager(network: network) { request in
            #expect(request.value(forHeader: "idempotency-key") != nil)
            let count = bodies.withLock { bodies in
                bodies.append(request.text)
                return bodies.count
            }
            return .status(count == 1 ? 503 : 201)
        }
        let store = try await TemporaryOutbox()
        let events = store.outbox.events
        try await store.outbox.startDelivery(with: manager)
        var last: OutboxID?
        for number in 1...3 {
            var request = try OutboxRequest(
                "https://api.example.com/samples", body: .data(Data("\(number)".utf8)))
            request.lane = "samples"
            last = try await store.outbox.enqueue(request).id
        }
        #expect(try await store.outbox.counts().waiting == 3)
        network.become(.wifi)
        _ = try await events.first(within: .seconds(60), "the last delivery") { [last] event in
            if case .delivered(let id, 201) = event { id == last } else { false }
        }
        #expect(bodies.withLock { $0 } == ["1", "1", "2", "3"])
        await store.close()
    }

    @Test("API-241 Its folder is private, and is gone when it is closed or released")
    func folder() async throws {
        var store: TemporaryOutbox? = try await TemporaryOutbox()
        let first = try #require(store?.folder)
        var status = stat()
        #expect(stat(first + "/..", &status) == 0 && status.st_mode & 0o777 == 0o700)
        await store?.close()
        #expect(!FileManager.default.fileExists(atPath: first))
        store = try await TemporaryOutbox()
        let parent = try #require(store?.folder) + "/.."
        let removal = try await FolderRemoval(of: parent)
        store = nil
        // Removed by a task of its own.
        await removal.wait()
        #expect(stat(parent, &status) != 0)
    }
}
