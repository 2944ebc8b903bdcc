// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import ReachabilityCore
import SessionCore
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Reasons for which requests wait although their server is reachable.
@Suite struct HoldingTests {
    private let lab: DeliveryLab

    init() async throws { lab = try await DeliveryLab() }

    @Test("A request that wants another network than there is waits, and holds up no other")
    func networkCondition() async throws {
        let outbox = try await lab.open { $0.maximumDeliveries = 1 }
        let network = ScriptedNetwork()
        network.become(.wired, medium: .cellular, isExpensive: true)
        let manager = OutboxLab.manager(following: .provider(network))
        let (reasons, reader) = OutboxLab.holdReasons(of: manager)
        defer { reader.cancel() }
        // Loopback is never held, so a request goes to another network, and nothing is sent.
        var cheap = try OutboxRequest(to: "http://192.0.2.1/", lane: "cheap")
        cheap.networkCondition = .notExpensive
        let waiting = try await outbox.enqueue(cheap)
        try await outbox.startDelivery(with: manager)
        #expect(await reasons.wait(forCount: 1, within: .seconds(60)) == [.condition(.notExpensive)])
        let other = try await outbox.enqueue(lab.request(1))
        try await lab.delivered(other.id)
        let entry = try #require(try await outbox.entry(waiting.id))
        #expect(entry.attempts == 0)
        #expect(entry.hold == HoldReason.condition(.notExpensive).description)
        await outbox.close()
    }

    @Test("A host that answers slowly holds up its own requests beyond the limit, and no other host's")
    func hostLimit() async throws {
        let outbox = try await lab.open { $0.maximumDeliveriesPerHost = 1 }
        try await outbox.startDelivery(with: OutboxLab.manager())
        let gate = "outbox-host-\(lab.account)"
        let held = try await outbox.enqueue(lab.request(1, lane: "one", path: "/hold/\(gate)?"))
        let second = try await outbox.enqueue(lab.request(2, lane: "two"))
        var other = try lab.request(3, lane: "three")
        let address = other.url.absoluteString.split(separator: "127.0.0.1", maxSplits: 1)
        other.url = try #require(URL(string: address.joined(separator: "localhost")))
        let third = try await outbox.enqueue(other)
        try await lab.delivered(third.id)
        let seen = OutboxLab.numbers(try await lab.origin.statistics(lab.account))
        #expect(seen.contains(3) && !seen.contains(2))
        try await lab.origin.release(gate)
        try await lab.delivered(held.id)
        try await lab.delivered(second.id)
        await outbox.close()
    }

    @Test(
        "FLD-021 Without TLS nothing leaves while the probe says portal; it does when the probe says otherwise"
    )
    func portal() async throws {
        let outbox = try await lab.open()
        try await outbox.follow(.portal)
        try await outbox.startDelivery(with: OutboxLab.manager())
        let receipt = try await outbox.enqueue(lab.request(0))
        #expect(try await outbox.entry(receipt.id)?.hold?.contains("portal") == true)
        // A request sent after the states changed and returned was held by this one.
        for state in [InternetState.unknown, .none, .portal] { try await outbox.follow(state) }
        #expect(try await lab.origin.count(lab.account) == 0)
        try await outbox.follow(.full)
        try await lab.delivered(receipt.id)
        #expect(try await lab.origin.count(lab.account) == 1)
        let reported = lab.outbox.events.elements.compactMap { event -> String? in
            switch event {
            case .held(let origin, _, _): "held \(origin)"
            case .released(let origin): "released \(origin)"
            default: nil
            }
        }
        #expect(reported.last == "released http" && reported.contains("held http"), "\(reported)")
        await outbox.close()
    }

    @Test(
        "FLD-024 A process that begins to deliver tells which origin an earlier one has stopped, and asks it again"
    )
    func stoppedBefore() async throws {
        let first = try await lab.open()
        let origin = String(lab.origin.url("/").dropLast())
        let receipt = try await first.enqueue(lab.request(0))
        try await first.on { (engine) throws(OutboxError) in
            var record = OriginRefusals.Record(origin: origin, last: WallClock.now)
            (record.since, record.until, record.reason) = (record.last, record.last + 1, "it refuses")
            try engine.file.write { [record] (database) throws(StorageError) in
                try OutboxTables(database).store(record)
            }
        }
        await first.close()
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.wait { event -> Bool? in
            if case .held(origin, "it refuses", _) = event { true } else { nil }
        }
        try await lab.delivered(receipt.id)
        try await lab.wait { event -> Bool? in if case .released(origin) = event { true } else { nil } }
        await outbox.close()
    }

    @Test("FLD-024 A gateway that refuses everything for a while makes no dead letters; all arrive in order")
    func refusingGateway() async throws {
        let outbox = try await lab.open {
            $0.retries.refusalsInARow = 3
            $0.retries.longest = .milliseconds(20)
        }
        // Refused until the origin has counted this many requests of the account.
        let receipts = try await outbox.enqueue(
            (0..<20).map { try lab.request($0, path: "/retry-after?times=6&status=403&after=&") })
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.delivered(receipts[19].id)
        #expect(try await outbox.counts() == OutboxCounts())
        #expect(try await outbox.entries().isEmpty)
        let delivered = lab.outbox.events.elements.compactMap { event -> OutboxID? in
            if case .delivered(let id, _) = event { id } else { nil }
        }
        #expect(delivered == receipts.map(\.id))
        await outbox.close()
    }

    @Test(
        "A pause holds everything, whichever process it comes from, and survives a restart; OBX-139 also where the kernel gives no watch",
        arguments: [true, false])
    func pause(isWatched: Bool) async throws {
        let deliverer = try await lab.open { $0.watchesLog = isWatched }
        let other = try await lab.open()
        let pauses = EventLog<Bool>()
        let observation = deliverer.observe { event in
            if case .paused(let isPaused) = event { pauses.append(isPaused) }
        }
        defer { observation.cancel() }
        try await deliverer.startDelivery(with: OutboxLab.manager())
        try await other.pause()
        #expect(await pauses.wait(forCount: 1) == [true])
        let receipt = try await deliverer.enqueue(lab.request(0))
        #expect(try await other.counts().isPaused)
        #expect(try await lab.origin.count(lab.account) == 0)
        try await other.resume()
        try await lab.delivered(receipt.id)
        await deliverer.close()
    }
}
