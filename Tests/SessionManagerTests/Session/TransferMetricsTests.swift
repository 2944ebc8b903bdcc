// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// What is reported of an exchange after its end.
struct TransferMetricsTests {
    @Test(
        "the steps of an exchange follow one another, and end within the time that it took",
        arguments: [OriginListener.https, .h2], [true, false])
    func steps(_ listener: OriginListener, sendsBody: Bool) async throws {
        let lab = try await Lab()
        lab.trustOrigin()
        let wait = Duration.milliseconds(200)
        let began = ContinuousClock.now
        let body = sendsBody ? Data(repeating: 7, count: 12_345) : nil
        let request = try lab.request(
            "/delay/0.2", sendsBody ? .post : .get, at: listener, body: body.map { .data($0) })
        let task = try lab.manager.dataTask(with: request)
        task.resume()
        let outcome = await task.outcome()
        let elapsed = ContinuousClock.now - began
        let metrics = try #require(outcome.metrics.first, "\(outcome.error.map { "\($0)" } ?? "")")
        #expect(metrics.nameLookup > .zero)
        #expect(metrics.nameLookup < metrics.connect)
        #expect(metrics.connect < metrics.secureConnection)
        #expect(metrics.secureConnection <= metrics.requestStart)
        // The server has answered that much after it could have been asked. When the request began is noted
        // by the client beside the sending: on a busy machine a little later than the server has it.
        #expect(metrics.secureConnection + wait <= metrics.firstByte)
        #expect(metrics.requestStart + wait / 2 <= metrics.firstByte)
        #expect(metrics.firstByte <= metrics.total)
        #expect(metrics.total <= elapsed)
        #expect(metrics.bytesSent == Int64(body?.count ?? 0))
        #expect(metrics.bytesReceived == outcome.data.map { Int64($0.count) })
        #expect(metrics.headerBytesReceived > 0)
        #expect(!metrics.isReusedConnection)
        #expect(metrics.version == outcome.response?.version)
        #expect(metrics.remote?.address == "127.0.0.1")
        #expect(metrics.remote?.port == request.url.port)
        #expect(metrics.local?.address == "127.0.0.1")
    }

    @Test(
        "a name that has to be looked up takes its time, on a connection that is made for it and on no other")
    func nameLookup() async throws {
        let lab = try await Lab { $0.hostAddresses = [] }
        let request = try SessionRequest(lab.origin.url("/get", host: "localhost"))
        var all: [TransferMetrics] = []
        for _ in 0..<2 {
            let task = try lab.manager.dataTask(with: request)
            task.resume()
            let outcome = await task.outcome()
            all.append(try #require(outcome.metrics.first, "\(String(describing: outcome.error))"))
        }
        #expect(all[0].nameLookup > .zero && all[0].nameLookup < all[0].connect)
        #expect(all[0].connect < all[0].total)
        #expect(all.map(\.isReusedConnection) == [false, true])
    }

    @Test("FLD-047 an exchange that ends without a result is measured as well: parked, cancelled or too late")
    func withoutResult() async throws {
        let lab = try await QueueLab()
        let received = EventLog<Int64>()
        var options = TaskOptions()
        options.downloadProgress = { received.append($0.completedBytes) }
        let task = try lab.manager.downloadTask(
            with: lab.request("/fault/stall?n=400000&after=100000&times=1&key=fld047", at: .direct),
            options: options)
        task.resume()
        _ = await received.wait { $0.last == 100_000 }
        lab.network.become(.unreachable)
        await lab.counts { $0.parked == 1 }
        lab.network.become(.wired)
        let outcome = await task.outcome()
        #expect(outcome.error == nil)
        #expect(outcome.metrics.map(\.bytesReceived) == [100_000, 300_000])
        if let path = outcome.filePath { try FileManager.default.removeItem(atPath: path) }

        let cancelled = try lab.task("/hold/fld047-cancelled?key=fld047-cancelled")
        try await lab.origin.wait(for: "fld047-cancelled", [.count: 1])
        cancelled.cancel()
        #expect(await cancelled.outcome().metrics.count == 1)
    }

    @Test("a time that is set is there to be read, to the nanosecond")
    func setting() {
        let fields: [WritableKeyPath<TransferMetrics, Duration>] = [
            \.nameLookup, \.connect, \.secureConnection, \.requestStart, \.firstByte, \.total,
        ]
        var metrics = TransferMetrics()
        #expect(fields.allSatisfy { metrics[keyPath: $0] == .zero })
        for (number, field) in fields.enumerated() {
            metrics[keyPath: field] = .seconds(number) + .nanoseconds(number + 1)
        }
        for (number, field) in fields.enumerated() {
            #expect(metrics[keyPath: field] == .seconds(number) + .nanoseconds(number + 1))
        }
        var other = metrics
        #expect(other == metrics)
        other.firstByte += .nanoseconds(1)
        #expect(other != metrics)
    }
}
