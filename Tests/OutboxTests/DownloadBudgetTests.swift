// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import SessionManager
import TestSupport
import Testing

@testable import Outbox

/// Downloads in lanes that have budgets, or join their requests.
@Suite struct DownloadBudgetTests {
    private let lab: DownloadLab
    private let network = ScriptedNetwork()

    init() async throws { lab = try await DownloadLab() }

    private func manager() -> URLSessionManager {
        var queue = RequestQueue.Settings()
        queue.follows = .provider(network)
        return URLSessionManager(responseSerializer: HTTPResponseSerializer(), queue: queue)
    }

    @Test(
        "OBX-345 A download over an expensive path stops where its lane's budget ends, and goes on from there over one that does not cost"
    )
    func budget() async throws {
        network.become(.wired, isExpensive: true)
        let outbox = try await lab.open {
            $0.budgets["downloads"] = LaneBudget(bytesPerDay: 100_000)
            $0.timeout = .seconds(3_600)
        }
        try await outbox.startDelivery(with: manager())
        let receipt = try await outbox.enqueue(
            lab.request("/fault/stall?n=400000&after=150000&times=1", fault: true))
        try await lab.part(of: 150_000)
        // Only the budget ends the attempt: the server is silent, and there is time.
        _ = try await lab.lab.origin.wait(for: lab.account, [.active: 0])
        let hold = try await lab.hold(of: receipt.id, in: outbox)
        #expect(
            hold.hasPrefix("budget: 15") && hold.hasSuffix("of 100 kB used today on expensive paths"),
            "\(hold)")
        #expect(try await outbox.entry(receipt.id)?.attempts == 0)
        network.become(.wifi)
        try await lab.lab.delivered(receipt.id)
        #expect(lab.content() == OriginContent.bytes(0..<400_000))
        #expect(try await lab.lab.origin.statistics(lab.account).sent == 400_000)
        await outbox.close()
    }

    @Test(
        "OBX-346 In a lane that joins its requests a download leaves by itself, at once, behind those before it"
    )
    func joining() async throws {
        let outbox = try await lab.open {
            var rule = BatchRule(.lines)
            rule.maximumAge = .seconds(3_600)
            $0.batches["samples"] = rule
        }
        func sample(_ text: String) throws -> OutboxRequest {
            var sample = OutboxRequest(
                url: try lab.url("/post"), method: .post, body: .data(Data(text.utf8)))
            sample.lane = "samples"
            return sample
        }
        var request = try lab.request("/bytes/1000")
        request.lane = "samples"
        let receipts = try await outbox.enqueue([sample("1"), sample("2"), request])
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.lab.delivered(receipts[2].id)
        #expect(lab.content()?.count == 1_000)
        // One request for both before it; one that comes behind it waits for others.
        #expect(try await lab.lab.origin.count(lab.account) == 2)
        let next = try await outbox.enqueue(sample("3"))
        #expect(try await outbox.entries().map(\.id) == [next.id])
        await outbox.close()
    }
}

extension DownloadLab {
    /// Waits until an entry says why it waits.
    func hold(of id: OutboxID, in outbox: RequestOutbox) async throws -> String {
        let holds = EventLog<String>()
        let reader = Task {
            for await change in outbox.changes(of: id) { if let hold = change.hold { holds.append(hold) } }
        }
        defer { reader.cancel() }
        guard let hold = await holds.wait(forCount: 1).first else { throw LabError("\(id) does not wait") }
        return hold
    }
}

extension OutboxChange {
    /// Why an entry that waits does so.
    var hold: String? {
        switch self {
        case .present(let entry), .changed(let entry): entry.hold
        default: nil
        }
    }
}
