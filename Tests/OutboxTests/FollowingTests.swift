// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Entries that are followed to their end.
@Suite struct FollowingTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    private func words(_ changes: [OutboxChange]) -> [String] {
        changes.map { change in
            switch change {
            case .present(let entry): "present \(entry.id) \(entry.state)"
            case .ready: "ready"
            case .changed(let entry):
                "changed \(entry.id) \(entry.hold ?? entry.failure?.message ?? "\(entry.state)")"
            case .progress(let id, let sent, let total): "progress \(id) \(sent)/\(total)"
            case .died(let entry, let reply): "dead \(entry.id) \(reply?.statusCode ?? 0)"
            case .left(let result): "left \(result.id) \(result.outcome)"
            }
        }
    }

    /// The changes until one meets a condition, or the end.
    private func collect(
        _ changes: AsyncStream<OutboxChange>,
        until isLast: @escaping @Sendable (OutboxChange) -> Bool = { _ in false }
    ) -> Task<[OutboxChange], Never> {
        Task {
            var found: [OutboxChange] = []
            for await change in changes {
                found.append(change)
                if isLast(change) { break }
            }
            return found
        }
    }

    @Test("OBX-060 One entry: its hold, its end and the server's answer, and then no more")
    func one() async throws {
        let outbox = try await lab.open()
        try await outbox.hold(gate: "g", reason: "closed")
        var request = try lab.request(0, path: "/body?status=201&type=text/plain&text=kept&")
        request.gates = ["g"]
        let receipt = try await outbox.enqueue(request)
        let log = EventLog<OutboxChange>()
        let reader = Task { for await change in outbox.changes(of: receipt.id) { log.append(change) } }
        #expect(words(await log.wait(forCount: 2)) == ["present \(receipt.id) waiting", "ready"])
        try await outbox.hold(gate: "g", reason: "still closed")
        #expect(
            words(await log.wait(forCount: 3)).last == "changed \(receipt.id) gate g is held: still closed")
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await outbox.release(gate: "g")
        await reader.value
        #expect(
            words(log.elements).suffix(2) == [
                "changed \(receipt.id) waiting", "left \(receipt.id) delivered",
            ])
        guard case .left(let result)? = log.elements.last else { return }
        #expect(result.reply?.body == Data("kept".utf8) && result.statusCode == 201)
        // What has left is told at once; what was never there, nothing.
        #expect(
            words(await collect(outbox.changes(of: receipt.id)).value) == ["left \(receipt.id) delivered"])
        #expect(await collect(outbox.changes(of: OutboxID(rawValue: 99))).value.isEmpty)
        await outbox.close()
    }

    @Test(
        "OBX-061 A lane and a tag: what another process stores and removes, and each delivery, in their order"
    )
    func several() async throws {
        let outbox = try await lab.open()
        let other = try await lab.open()
        let first = try await other.enqueue(lab.request(0, lane: "l"))
        let log = EventLog<OutboxChange>()
        let reader = Task { for await change in outbox.changes(lane: "l") { log.append(change) } }
        #expect(words(await log.wait(forCount: 2)) == ["present 1 waiting", "ready"])
        let second = try await other.enqueue(lab.request(1, lane: "l"))
        _ = try await other.enqueue(lab.request(2, lane: "other"))
        #expect(words(await log.wait(forCount: 3)).last == "present 2 waiting")
        try await other.remove([first.id])
        #expect(words(await log.wait(forCount: 4)).last == "left 1 removed")
        try await outbox.startDelivery(with: OutboxLab.manager())
        #expect(words(await log.wait(forCount: 5)).last == "left \(second.id) delivered")
        var tagged = try lab.request(3, lane: "third", path: "/status/422?")
        tagged.tags = ["t"]
        let tags = collect(outbox.changes(tag: "t")) { if case .died = $0 { true } else { false } }
        let third = try await other.enqueue(tagged)
        let seen = words(await tags.value).filter { $0 != "ready" }
        #expect(seen.first == "present \(third.id) waiting" && seen.last == "dead \(third.id) 422", "\(seen)")
        // A dead letter is told at once, with its answer; it may be retried, so this goes on.
        let dead = collect(outbox.changes(of: third.id)) { $0 == .ready }
        #expect(words(await dead.value) == ["dead \(third.id) 422", "ready"])
        await outbox.close()
        await reader.value
        await other.close()
    }

    @Test("OBX-062 The bytes of a large content are changed while it is sent, up to the last")
    func progress() async throws {
        let outbox = try await lab.open()
        var request = try OutboxRequest(to: lab.origin.url("/upload?key=\(lab.account)"))
        request.body = .data(Data(repeating: 1, count: 3_000_000))
        try await outbox.pause()
        let id = try await outbox.enqueue(request).id
        let changes = collect(outbox.changes(of: id))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await outbox.resume()
        let changed = await changes.value
        let sent = changed.compactMap {
            if case .progress(id, let sent, 3_000_000) = $0 { sent } else { nil }
        }
        #expect(sent.last == 3_000_000 && sent == sent.sorted(), "\(words(changed))")
        #expect(words(changed).last == "left \(id) delivered")
        await outbox.close()
    }

    @Test("OBX-063 A thousand at once: the next are changed when some of these have left")
    func bounded() {
        var follower = EntryFollower(.selection(OutboxSelection()))
        func entry(_ id: Int64, _ state: OutboxEntry.State = .waiting) -> OutboxEntry {
            OutboxEntry(
                id: OutboxID(rawValue: id), state: state, lane: "l", priority: 0, method: "POST",
                url: "http://x/",
                networkCondition: .any, idempotencyKey: "k", bodySize: 0,
                created: Date(timeIntervalSince1970: 0),
                expires: nil, attempts: 0, nextAttempt: nil, failure: nil)
        }
        #expect(follower.found((1...1_000).map { entry($0) }).count == 1_000)
        #expect(follower.room == 0 && follower.newest == OutboxID(rawValue: 1_000))
        #expect(follower.looked(at: OutboxID(rawValue: 7), entry(7), nil) == nil)
        #expect(
            follower.looked(at: OutboxID(rawValue: 7), entry(7, .dead), nil) == .died(entry(7, .dead), nil))
        guard case .left(let result)? = follower.looked(at: OutboxID(rawValue: 7), nil, nil) else {
            Issue.record("it has left")
            return
        }
        #expect(result.outcome == .removed && follower.room == 1)
        #expect(follower.looked(at: OutboxID(rawValue: 7), nil, nil) == nil)
        var one = EntryFollower(.entry(OutboxID(rawValue: 1)))
        #expect(one.hasEnded && one.room == 0)
        _ = one.found([entry(1)])
        #expect(!one.hasEnded)
    }

    @Test("OBX-053 The result of an old entry that leaves late is remembered")
    func oldResult() async throws {
        let outbox = try await lab.open()
        let old = try await outbox.enqueue(lab.request(0, lane: "old"))
        let ids = try await outbox.enqueue(
            (0..<1_500).map { _ in try OutboxRequest(to: "http://127.0.0.1:1/") }
        ).map(\.id)
        try await outbox.remove(ids)
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(old.id)
        // Old results are removed now and then: after this the old entry's is one of the newest.
        let more = try await outbox.enqueue(
            (0..<300).map { _ in try OutboxRequest(to: "http://127.0.0.1:1/") })
        try await outbox.remove(more.map(\.id))
        #expect(try await outbox.result(of: old.id)?.outcome == .delivered)
        #expect(try await outbox.result(of: ids[0]) == nil)
        #expect(try await outbox.result(of: ids[1_499]) != nil)
        await outbox.close()
    }
}
