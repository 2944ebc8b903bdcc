// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Deliveries whose server's certificate is not valid by a clock that nothing keeps right.
@Suite(.timeLimit(.minutes(10)))
struct OutboxClockHoldTests {
    private let lab: DeliveryLab
    private let port: SwitchedPort
    private let timer = SettableTimer()

    init() async throws {
        lab = try await DeliveryLab()
        port = try await SwitchedPort(to: lab.origin.port(.future))
    }

    private func manager() -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.hostAddresses = ["origin.test:\(port.port):127.0.0.1"]
        configuration.proxy = ""
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(lab.origin.pem(.root)))
        var queue = RequestQueue.Settings()
        queue.follows = .nobody
        queue.clock = ClockCalls(
            status: { ClockStatus(isSynchronized: false, seconds: 40) },
            openTimer: { [timer] () throws(ReactorError) in try timer.open() })
        return URLSessionManager(
            configuration: configuration, securityPolicy: policy,
            responseSerializer: HTTPResponseSerializer(), queue: queue)
    }

    private func request(_ number: Int, lane: String = "default") throws -> OutboxRequest {
        try OutboxRequest(
            to: "https://origin.test:\(port.port)/post?key=\(lab.account)&n=\(number)", lane: lane,
            body: .data(Data("\(number)".utf8)))
    }

    private var told: [String] {
        lab.outbox.events.elements.compactMap { event in
            switch event {
            case .held(let origin, let reason, nil): "\(origin) \(reason)"
            case .released(let origin): "released \(origin)"
            case .failed, .died: "failed"
            default: nil
            }
        }
    }

    @Test(
        "UPL-163 an entry that a wrong clock holds says so, fails not once, and leaves when the clock is set")
    func holds() async throws {
        let outbox = try await lab.open()
        let first = try await outbox.enqueue(request(1))
        let other = try await outbox.enqueue(request(2, lane: "other"))
        try await outbox.startDelivery(with: manager())
        for id in [first.id, other.id] {
            try await lab.wait { event -> Bool? in if case .held = event { true } else { nil } }
            #expect(try await isHeld(id, in: outbox))
        }
        // Other processes read it in the files.
        let beside = try await RequestOutbox(at: lab.outbox.path)
        let entry = try #require(try await beside.entry(first.id))
        #expect(entry.hold == "this machine's clock is not set" && entry.attempts == 0)
        await beside.close()

        port.lead(to: lab.origin.port(.https))
        timer.fire()
        try await lab.delivered(first.id)
        try await lab.delivered(other.id)
        let origin = "https://origin.test:\(port.port)"
        #expect(told == ["\(origin) this machine's clock is not set", "released \(origin)"])
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)).sorted() == [1, 2])
        #expect(try await outbox.entries().isEmpty)
        await outbox.close()
    }

    @Test("UPL-163 what is not delivered any more waits for no clock, also after a process that was killed")
    func stopped() async throws {
        let outbox = try await lab.open()
        let receipt = try await outbox.enqueue(request(1))
        try await outbox.startDelivery(with: manager())
        try await lab.wait { event -> Bool? in if case .held = event { true } else { nil } }
        await outbox.stopDelivery()
        #expect(try await outbox.entry(receipt.id)?.hold == nil)
        // As if it had been killed.
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                try OutboxTables(database).hold(receipt.id, "left behind")
            }
        }
        #expect(try await outbox.entry(receipt.id)?.hold == "left behind")
        try await outbox.pause()
        try await outbox.startDelivery(with: manager())
        #expect(try await outbox.entry(receipt.id)?.hold == nil)
        await outbox.close()
    }

    /// Whether a list says that it waits; both deliveries begin at once, and one may be held a moment later.
    private func isHeld(_ id: OutboxID, in outbox: RequestOutbox) async throws -> Bool {
        while try await outbox.entry(id)?.hold == nil { try await Task.sleep(for: .milliseconds(5)) }
        return true
    }
}
