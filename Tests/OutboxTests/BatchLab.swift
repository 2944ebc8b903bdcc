// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Synchronization
import TestSupport

@testable import Outbox

/// An outbox whose lane `samples` joins requests, and a server for it that lives in the test.
final class BatchLab: Sendable {
    let outbox: OutboxLab
    /// What has arrived, in order.
    let sent = EventLog<SentRequest>()

    init() throws { outbox = try OutboxLab() }

    /// - Parameter age: an hour by default: only full batches leave.
    func open(
        count: Int = 100, age: Duration = .seconds(3_600), form: BatchForm = .jsonArray,
        _ change: (inout BatchRule) -> Void = { _ in }, all: (inout OutboxConfiguration) -> Void = { _ in }
    ) async throws -> RequestOutbox {
        var rule = BatchRule(form)
        (rule.maximumCount, rule.maximumAge) = (count, age)
        change(&rule)
        return try await outbox.open {
            $0.batches["samples"] = rule
            all(&$0)
        }
    }

    /// A server; `answer` gets each request and how many came before.
    func manager(
        _ answer: @escaping @Sendable (SentRequest, Int) async throws -> Answer = { _, _ in
            .status(200)
        }
    ) -> URLSessionManager {
        let sent = sent
        let count = Mutex(0)
        return URLSessionManager(responseSerializer: HTTPResponseSerializer()) { request in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            sent.append(request)
            return try await answer(request, number)
        }
    }

    static func sample(
        _ number: Int, lane: String = "samples", path: String = "samples",
        _ change: (inout OutboxRequest) -> Void = { _ in }
    ) throws -> OutboxRequest {
        var request = try OutboxRequest(
            to: "https://api.example.com/\(path)", lane: lane, body: .data(Data("\(number)".utf8)))
        change(&request)
        return request
    }

    static func samples(_ numbers: some Sequence<Int>) throws -> [OutboxRequest] {
        try numbers.map { try sample($0) }
    }

    /// The bodies that have arrived.
    var bodies: [String] { sent.elements.map(\.text) }
    /// Their keys.
    var keys: [String] { sent.elements.compactMap { $0.value(forHeader: "Idempotency-Key") } }
}

extension SentRequest {
    /// The numbers of a JSON array.
    var numbers: [Int] {
        text.dropFirst().dropLast().split(separator: ",").compactMap { Int($0) }
    }
}
