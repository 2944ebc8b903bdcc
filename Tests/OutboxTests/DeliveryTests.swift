// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import ReachabilityCore
import SessionCore
import Storage
import TestSupport
import Testing

@testable import Outbox

@Suite struct DeliveryTests {
    let lab: OutboxLab
    let origin: TestSupport.Origin
    let account = OutboxLab.account()

    init() async throws {
        lab = try OutboxLab()
        origin = try await Origin.shared
    }

    private func request(_ number: Int, lane: String = "default", priority: Int = 0, path: String = "/post?")
        throws
        -> OutboxRequest
    {
        try OutboxRequest(
            to: origin.url("\(path)key=\(account)&n=\(number)"), lane: lane, priority: priority,
            body: .data(Data("\(number)".utf8)))
    }

    @Test("Requests of a lane arrive in order, and are out then")
    func order() async throws {
        let outbox = try await lab.open()
        let receipts = try await outbox.enqueue((0..<20).map { try request($0) })
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[19].id)
        #expect(OutboxLab.numbers(try await origin.statistics(account)) == Array(0..<20))
        #expect(try await origin.statistics(account).peak == 1)
        #expect(try await outbox.counts() == OutboxCounts())
        #expect(try await outbox.result(of: receipts[3].id)?.statusCode == 200)
        await outbox.close()
    }

    @Test("What fails is sent again with the same key, and only then what comes behind it in its lane")
    func retrying() async throws {
        let outbox = try await lab.open()
        let receipts = try await outbox.enqueue([
            try request(0, path: "/retry-after?times=3&status=503&after=0&"), try request(1),
        ])
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[1].id)
        #expect(OutboxLab.numbers(try await origin.statistics(account)) == [0, 0, 0, 0, 1])
        let failures = lab.events.elements.compactMap { event -> OutboxFailure? in
            if case .failed(receipts[0].id, let failure, _) = event { failure } else { nil }
        }
        #expect(failures.map(\.statusCode) == [503, 503, 503])
        await outbox.close()
    }

    @Test(
        "A refusal becomes a dead letter with the reply, and the lane goes on; it can be tried again and removed"
    )
    func deadLetters() async throws {
        let outbox = try await lab.open()
        let receipts = try await outbox.enqueue([
            try request(0, path: "/body?status=422&type=text/plain&text=too%20salty&"), try request(1),
        ])
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[1].id)
        let dead = try #require(try await outbox.entries(state: .dead).first)
        #expect(dead.id == receipts[0].id && dead.attempts == 1 && dead.failure?.statusCode == 422)
        let reply = try #require(try await outbox.reply(to: dead.id))
        #expect(reply.statusCode == 422 && String(decoding: reply.body, as: UTF8.self) == "too salty")
        #expect(reply.header.contains("text/plain"))
        guard case .dead = try await outbox.settlement(of: dead.id) else {
            Issue.record("a dead letter is settled")
            return
        }
        #expect(try await outbox.counts().dead == 1)
        #expect(try await outbox.retry() == [dead.id])
        try await origin.wait(for: account, [.count: 3])
        try await lab.wait { event -> Bool? in
            if case .died = event { lab.died > 1 ? true : nil } else { nil }
        }
        #expect(try await outbox.remove([dead.id]) == [dead.id])
        #expect(try await outbox.counts() == OutboxCounts())
        await outbox.close()
    }

    @Test("A lane that is stuck holds up no other; urgent lanes go first")
    func lanes() async throws {
        let outbox = try await lab.open {
            $0.maximumDeliveries = 2
            $0.retries.first = .seconds(3_600)
            $0.retries.longest = .seconds(3_600)
        }
        let gate = "\(account)-gate"
        let stuck = try await outbox.enqueue(request(0, lane: "stuck", path: "/status/500?"))
        let held = try await outbox.enqueue(
            OutboxRequest(to: origin.url("/hold/\(gate)?key=\(account)-held"), lane: "held", priority: 9))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.wait { event -> Bool? in if case .failed(stuck.id, _, _) = event { true } else { nil } }
        try await origin.wait(for: "\(account)-held", [.count: 1])
        // One place is left for these.
        let receipts = try await outbox.enqueue([
            try request(1, lane: "a", priority: 1), try request(2, lane: "b", priority: 3),
            try request(3, lane: "c", priority: 2), try request(4, lane: "stuck", priority: 8),
        ])
        for receipt in receipts[..<3] { try await lab.delivered(receipt.id) }
        #expect(OutboxLab.numbers(try await origin.statistics(account)) == [0, 2, 3, 1])
        try await origin.release(gate)
        try await lab.delivered(held.id)
        #expect(try await outbox.counts().waiting == 2)
        try await outbox.flush()
        try await origin.wait(for: account, [.count: 5])
        await outbox.close()
    }

    @Test("Key, header fields, secrets and large contents arrive; secrets are stored nowhere")
    func contents() async throws {
        let outbox = try await lab.open()
        let secret = lab.folder("token")
        try Data("s3cr3t-\(account)\n".utf8).write(to: URL(filePath: secret))
        let large = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        // An answer that becomes a dead letter shows what was sent.
        var request = try OutboxRequest(
            to: origin.url("/post?key=\(account)"), body: .data(Data("small".utf8)))
        request.headerFields[HTTPField.Name("X-Test") ?? .accept] = "a, b"
        request.secretFields = [
            SecretField(name: "Authorization", prefix: "Bearer ", source: "file", key: secret)
        ]
        let raw = try #require(try await echo(request, outbox))
        #expect(
            raw.contains("Bearer s3cr3t-\(account)") && raw.contains("a, b")
                && raw.contains("idempotency-key"))
        let upload = try await outbox.enqueue(
            OutboxRequest(to: origin.url("/upload?key=\(account)-l"), body: .data(large)))
        try await lab.delivered(upload.id)
        #expect(try await origin.statistics("\(account)-l").received == 100_000)
        await outbox.close()
        for name in ["outbox.sqlite", "outbox.sqlite-wal"] {
            let bytes = (try? Data(contentsOf: URL(filePath: lab.path + "/" + name))) ?? Data()
            #expect(bytes.firstRange(of: Data("s3cr3t".utf8)) == nil)
        }
    }

    /// What the server saw, by a manager that writes the answer down.
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

    @Test("A secret that is missing delays, and is found later")
    func missingSecret() async throws {
        let outbox = try await lab.open()
        let path = lab.folder("token")
        var request = try request(0)
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

    @Test("What becomes due while others are being chosen is not forgotten")
    func dueMeanwhile() async throws {
        let outbox = try await lab.open()
        try await outbox.pause()
        let receipt = try await outbox.enqueue(request(0))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await outbox.on { (engine) throws(OutboxError) in
            let now = WallClock.now
            try engine.file.write { (database) throws(StorageError) in
                try OutboxTables(database).postpone(
                    receipt.id, lane: "default", OutboxFailure(.network, "x"), next: now + 1)
                _ = try database.run("UPDATE totals SET paused = 0")
            }
            _ = engine.machine.pauseChanged(false)
            while WallClock.now <= now + 1 {}
            engine.pump(now: now)
        }
        try await lab.delivered(receipt.id)
        await outbox.close()
    }

    @Test("What has expired is dropped and not sent")
    func expiry() async throws {
        let outbox = try await lab.open()
        var old = try request(0)
        old.expires = Date(timeIntervalSinceNow: -1)
        let receipt = try await outbox.enqueue(old)
        let next = try await outbox.enqueue(request(1))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(next.id)
        #expect(OutboxLab.numbers(try await origin.statistics(account)) == [1])
        #expect(try await outbox.result(of: receipt.id)?.outcome == .expired)
        await outbox.close()
    }

    @Test("What is on its way does not expire: its answer counts")
    func expiryOnTheWay() async throws {
        let outbox = try await lab.open()
        let gate = "\(account)-gate"
        let held = try await outbox.enqueue(
            OutboxRequest(to: origin.url("/hold/\(gate)?key=\(account)-held"), lane: "held"))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await origin.wait(for: "\(account)-held", [.count: 1])
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                _ = try database.run(
                    "UPDATE entries SET expires = 1 WHERE id = ?", [.integer(held.id.rawValue)])
            }
        }
        let next = try await outbox.enqueue(request(1))
        try await lab.delivered(next.id)
        try await origin.release(gate)
        try await lab.delivered(held.id)
        await outbox.close()
    }

    @Test("What the server asks for counts: Retry-After, and no more of its answer than is wanted")
    func serversWishes() async throws {
        let outbox = try await lab.open { $0.limits.maximumReplySize = 4 }
        let before = Date()
        let later = try await outbox.enqueue(
            request(0, lane: "later", path: "/retry-after?times=1&status=503&after=1000&"))
        let refused = try await outbox.enqueue(
            request(1, path: "/body?status=422&type=text/plain&text=too%20salty&"))
        try await outbox.startDelivery(with: OutboxLab.manager())
        let next = try await lab.wait { event -> Date? in
            if case .failed(later.id, _, let next) = event { next } else { nil }
        }
        #expect(next.timeIntervalSince(before) >= 1_000)
        try await lab.wait { event -> Bool? in if case .died(refused.id, _) = event { true } else { nil } }
        #expect(try await outbox.reply(to: refused.id)?.body == Data("too ".utf8))
        await outbox.close()
    }

    @Test("A request that wants another network than there is waits, and holds up no other")
    func networkCondition() async throws {
        let outbox = try await lab.open { $0.maximumDeliveries = 1 }
        var session = SessionConfiguration()
        session.proxy = ""
        var queue = RequestQueue.Settings()
        queue.follows = .provider(ExpensivePath())
        let manager = URLSessionManager(
            configuration: session, responseSerializer: HTTPResponseSerializer(), queue: queue)
        let reasons = EventLog<HoldReason>()
        let events = manager.events
        let reader = Task {
            for await event in events { if case .held(_, let reason) = event { reasons.append(reason) } }
        }
        defer { reader.cancel() }
        // This machine itself is no network, so another one is asked for, and nothing is sent.
        var cheap = try OutboxRequest(to: "http://192.0.2.1/", lane: "cheap")
        cheap.networkCondition = .notExpensive
        let waiting = try await outbox.enqueue(cheap)
        try await outbox.startDelivery(with: manager)
        #expect(await reasons.wait(forCount: 1, within: .seconds(60)) == [.condition(.notExpensive)])
        let other = try await outbox.enqueue(request(1))
        try await lab.delivered(other.id)
        #expect(try await outbox.entry(waiting.id)?.attempts == 0)
        await outbox.close()
    }

    @Test("A pause holds everything, whichever process it comes from, and survives a restart")
    func pause() async throws {
        let (deliverer, other) = (try await lab.open(), try await lab.open())
        try await deliverer.startDelivery(with: OutboxLab.manager())
        try await other.pause()
        try await lab.wait { event -> Bool? in if case .paused(true) = event { true } else { nil } }
        let receipt = try await deliverer.enqueue(request(0))
        #expect(try await other.counts().isPaused)
        #expect(try await origin.count(account) == 0)
        try await other.resume()
        try await lab.delivered(receipt.id)
        await deliverer.close()
    }

    @Test("One delivers, others enqueue and wait; when it stops, another may")
    func processes() async throws {
        let (deliverer, other) = (try await lab.open(), try await lab.open())
        try await deliverer.startDelivery(with: OutboxLab.manager())
        let error = await #expect(throws: OutboxError.self) {
            try await other.startDelivery(with: OutboxLab.manager())
        }
        #expect(error?.code == .deliveredElsewhere && error?.message.contains("\(getpid())") == true)
        let receipt = try await other.enqueue(request(0))
        guard case .left(let result) = try await other.settlement(of: receipt.id) else {
            Issue.record("it was not delivered")
            return
        }
        #expect(result.outcome == .delivered && result.statusCode == 200)
        await deliverer.stopDelivery()
        try await other.startDelivery(with: OutboxLab.manager())
        let second = try await deliverer.enqueue(request(1))
        try await lab.delivered(second.id)
        await other.close()
        #expect(try await deliverer.settlement(of: OutboxID(rawValue: 999)) == .unknown)
    }

    @Test("Stopping takes back what is on its way, and it is sent again")
    func stopping() async throws {
        let outbox = try await lab.open()
        let gate = "\(account)-gate"
        let receipt = try await outbox.enqueue(
            OutboxRequest(to: origin.url("/hold/\(gate)?key=\(account)"), body: .data(Data())))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await origin.wait(for: account, [.count: 1])
        await outbox.stopDelivery()
        let entry = try #require(try await outbox.entry(receipt.id))
        #expect(entry.attempts == 0 && entry.state == .waiting)
        try await origin.release(gate)
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipt.id)
        #expect(try await origin.count(account) == 2)
        await outbox.close()
    }
}

extension OutboxLab {
    /// How many dead letters were told.
    var died: Int { events.elements.count { if case .died = $0 { true } else { false } } }
}

/// A network over which not everything may go.
private struct ExpensivePath: ReachabilityProvider {
    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        (.wired, ReachabilityPath(status: .wired, interface: "wwan0", medium: .cellular, isExpensive: true))
    }

    func observeReachability(_ observer: @escaping @Sendable (ReachabilityUpdate) -> Void)
        -> ReachabilityObservation
    {
        let (status, path) = currentReachability()
        observer(ReachabilityUpdate(event: .initial, status: status, previous: nil, path: path))
        return ReachabilityObservation {}
    }
}
