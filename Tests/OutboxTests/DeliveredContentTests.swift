// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

@testable import Outbox

/// The form in which a server receives a request.
@Suite struct DeliveredContentTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    @Test("Key, header fields, secrets and large contents arrive; secrets are stored nowhere")
    func contents() async throws {
        let outbox = try await lab.open()
        let secret = lab.outbox.folder("token")
        try Data("s3cr3t-\(lab.account)\n".utf8).write(to: URL(filePath: secret))
        let large = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        // The answer of a dead letter shows the request.
        var request = try OutboxRequest(
            to: lab.origin.url("/post?key=\(lab.account)"), body: .data(Data("small".utf8)))
        request.headerFields[HTTPField.Name("X-Test") ?? .accept] = "a, b"
        request.secretFields = [
            SecretField(name: "Authorization", prefix: "Bearer ", source: "file", key: secret)
        ]
        let raw = try #require(try await echo(request, outbox))
        #expect(
            raw.contains("Bearer s3cr3t-\(lab.account)") && raw.contains("a, b")
                && raw.contains("idempotency-key"))
        let upload = try await outbox.enqueue(
            OutboxRequest(to: lab.origin.url("/upload?key=\(lab.account)-l"), body: .data(large)))
        try await lab.delivered(upload.id)
        #expect(try await lab.origin.statistics("\(lab.account)-l").received == 100_000)
        await outbox.close()
        for name in ["outbox.sqlite", "outbox.sqlite-wal"] {
            let bytes = (try? Data(contentsOf: URL(filePath: lab.outbox.path + "/" + name))) ?? Data()
            #expect(bytes.firstRange(of: Data("s3cr3t".utf8)) == nil)
        }
    }

    @Test(
        "Of a long answer the beginning is kept and held in memory, and its status counts",
        arguments: [200, 422])
    func longAnswer(status: Int) async throws {
        let outbox = try await lab.open { $0.limits.maximumReplySize = 64 << 10 }
        let manager = OutboxLab.manager()
        let sizes = EventLog<Int>()
        let events = manager.events
        let reader = Task {
            for await event in events {
                if case .completed(_, let completion) = event {
                    sizes.append(completion.outcome.data?.count ?? 0)
                }
            }
        }
        defer { reader.cancel() }
        try await outbox.startDelivery(with: manager)
        let receipt = try await outbox.enqueue(
            OutboxRequest(to: lab.origin.url("/bytes/5000000?status=\(status)&key=\(lab.account)")))
        let settlement = try await outbox.settlement(of: receipt.id)
        switch settlement {
        case .left(let result): #expect(result.outcome == .delivered && result.statusCode == status)
        case .dead: #expect(status == 422)
        case .unknown: Issue.record("it is not known")
        }
        #expect(await sizes.wait(forCount: 1) == [64 << 10])
        if status == 422 {
            let reply = try #require(try await outbox.reply(to: receipt.id))
            #expect(reply.statusCode == 422 && reply.body.elementsEqual(OriginContent.bytes(0..<(64 << 10))))
        }
        await outbox.close()
    }

    /// The request as the server received it, by a manager that records the answer.
    private func echo(_ request: OutboxRequest, _ outbox: RequestOutbox) async throws -> String? {
        let manager = OutboxLab.manager()
        let answers = EventLog<String>()
        let events = manager.events
        let reader = Task {
            for await event in events {
                if case .completed(_, let completion) = event {
                    answers.append(
                        String(decoding: completion.outcome.data ?? Data(), as: UTF8.self).lowercased())
                }
            }
        }
        defer { reader.cancel() }
        try await outbox.startDelivery(with: manager)
        try await outbox.enqueue(request)
        return await answers.wait(forCount: 1, within: .seconds(60)).first?.replacing(
            "bearer ", with: "Bearer ")
    }
}
