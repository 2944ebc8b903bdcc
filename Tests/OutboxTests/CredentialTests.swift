// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import Outbox

/// Secrets that are missing, or have become stale while their request waited.
@Suite struct CredentialTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    /// Caches a token until a server refuses it, as a source with an expensive lookup does.
    private final class CachedTokens: SecretSource {
        private let tokens: [String]
        private let used = Mutex(0)
        private let missing: Mutex<Int>
        let refusals = EventLog<String>()

        /// - Parameter missing: the number of failed lookups at first.
        init(_ tokens: [String], missing: Int = 0) {
            self.tokens = tokens
            self.missing = Mutex(missing)
        }

        func secret(named key: String) async throws -> String {
            let isMissing = missing.withLock { missing in
                missing -= 1
                return missing >= 0
            }
            if isMissing { throw LabError("not yet") }
            return tokens[min(used.withLock { $0 }, tokens.count - 1)]
        }

        func refused(named key: String) async {
            used.withLock { $0 += 1 }
            refusals.append(key)
        }
    }

    private static func basic(_ user: String) -> String { Data("\(user):p".utf8).base64EncodedString() }

    private func request() throws -> OutboxRequest {
        var request = try OutboxRequest(
            lab.origin.url("/basic-auth/user/p?key=\(lab.account)"), method: .get, body: nil)
        request.secretFields = [
            SecretField(name: "Authorization", prefix: "Basic ", source: "cache", key: "token")
        ]
        return request
    }

    @Test("A refused secret is looked up anew and the request sent again, with the same key in its place")
    func renewed() async throws {
        let source = CachedTokens(["old", "older", "user"].map(Self.basic))
        let outbox = try await lab.open { $0.secretSources["cache"] = source }
        let receipt = try await outbox.enqueue(request())
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipt.id)
        #expect(source.refusals.elements == ["token", "token"])
        let failures = lab.outbox.events.elements.compactMap { event -> OutboxFailure.Kind? in
            if case .failed(_, let failure, _) = event { failure.kind } else { nil }
        }
        #expect(failures == [.credentials, .credentials])
        #expect(try await lab.origin.count(lab.account) == 3)
        await outbox.close()
    }

    @Test("A secret that is refused again and again makes a dead letter with the reply, and the lane goes on")
    func bounded() async throws {
        let outbox = try await lab.open {
            // Other failures before do not count as refusals of a secret.
            $0.secretSources["cache"] = CachedTokens([Self.basic("nobody")], missing: 4)
            $0.retries.maximumRefusals = 3
        }
        let receipt = try await outbox.enqueue(request())
        let next = try await outbox.enqueue(
            OutboxRequest(to: lab.origin.url("/post?key=\(lab.account)-next")))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(next.id)
        let entry = try #require(try await outbox.entry(receipt.id))
        #expect(entry.state == .dead && entry.attempts == 7 && entry.failure?.kind == .credentials)
        #expect(try await outbox.reply(to: receipt.id)?.statusCode == 401)
        // Reviving means that the fault was corrected, so all attempts are available again.
        try await outbox.retry([receipt.id])
        try await lab.origin.wait(for: lab.account, [.count: 6])
        await outbox.close()
    }

    @Test("Without a secret that was filled in, a refusal is one at once")
    func withoutSecret() async throws {
        let outbox = try await lab.open()
        var request = try request()
        request.secretFields = []
        let receipt = try await outbox.enqueue(request)
        try await outbox.startDelivery(with: OutboxLab.manager())
        let failure = try await lab.wait { event -> OutboxFailure? in
            if case .died(receipt.id, let failure) = event { failure } else { nil }
        }
        #expect(failure.kind == .refused && failure.statusCode == 401)
        #expect(try await lab.origin.count(lab.account) == 1)
        await outbox.close()
    }

    @Test("A secret that is missing delays, and is found later")
    func missingSecret() async throws {
        let outbox = try await lab.open()
        let path = lab.outbox.folder("token")
        var request = try lab.request(0)
        request.secretFields = [SecretField(name: "Authorization", source: "file", key: path)]
        try await outbox.startDelivery(with: OutboxLab.manager())
        let receipt = try await outbox.enqueue(request)
        let failure = try await lab.wait { event -> OutboxFailure? in
            if case .failed(receipt.id, let failure, _) = event { failure } else { nil }
        }
        #expect(failure.kind == .secret && failure.message.contains(path))
        try Data("x".utf8).write(to: URL(filePath: path))
        try await lab.delivered(receipt.id)
        await outbox.close()
    }
}
