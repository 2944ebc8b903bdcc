// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Outbox

/// A week without a network: a sample a second is enqueued, and all leave when the network is back.
///
///     drill week FOLDER URL COUNT LIMIT BATCHED
///         LIMIT is in bytes of content, BATCHED `single` or `batch`; prints "dropped N", the number of the
///         oldest samples that gave way, and "filled" before the network is waited for
enum Week {
    static let lanes = 4

    static func run(_ arguments: [String]) async throws {
        let (url, count) = (arguments[2], Int(arguments[3]) ?? 1)
        var configuration = OutboxConfiguration()
        configuration.limits.maximumEntries = 1_000_000
        configuration.limits.maximumBytes = Int64(arguments[4]) ?? 0
        configuration.limits.policy = .dropOldest
        configuration.retries.longest = .seconds(5)
        for lane in 0..<lanes {
            var rule = BatchRule()
            rule.compression = .gzip
            configuration.batches["batch-\(lane)"] = rule
        }
        let outbox = try await RequestOutbox(at: arguments[1], configuration: configuration) { event in
            switch event {
            case .died(let id, let failure): say("died \(id) \(failure)")
            case .damaged, .storageFailed: say("failed \(event)")
            default: break
            }
        }
        // As a device does: the delivery has begun, and there is no network.
        try await outbox.startDelivery(with: URLSessionManager(responseSerializer: HTTPResponseSerializer()))
        let start = ContinuousClock.now
        var number = 0
        while number < count {
            let numbers = number..<min(number + 60, count)
            try await outbox.enqueue(try numbers.map { try sample($0, url, arguments[5]) })
            number = numbers.upperBound
        }
        Speed.report("enqueued", count, since: start)
        let waiting = try await outbox.counts().waiting
        say("dropped \(count - waiting)")
        let events = outbox.events
        say("filled")
        for await _ in events where try await outbox.counts().waiting == 0 { break }
        Speed.report("drained", waiting, since: start)
        await outbox.close()
        say("done")
    }

    /// 200 bytes of JSON: names and units that repeat, numbers that do not.
    static func sample(_ number: Int, _ url: String, _ kind: String) throws -> OutboxRequest {
        let second = number % 86_400
        let parts = [
            "\"meter\":\"site-7/floor-3/main\"", "\"number\":\(number)",
            "\"time\":\"2026-03-\(10 + number / 86_400)T\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))Z\"",
            "\"power\":{\"unit\":\"W\",\"value\":\(number * 7_919 % 3_600)}",
            "\"voltage\":{\"unit\":\"V\",\"value\":\(230 + number * 31 % 7)}",
            "\"energy\":{\"unit\":\"Wh\",\"value\":\(1_000_000 + number * 3)}",
        ]
        var text = "{" + parts.joined(separator: ",")
        text += String(repeating: " ", count: max(199 - text.utf8.count, 0)) + "}"
        let lane = number % lanes
        var request = try OutboxRequest(
            "\(url)/samples?lane=\(lane)", headerFields: [.contentType: "application/json"],
            body: .data(Data(text.utf8)))
        request.lane = "\(kind)-\(lane)"
        return request
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
