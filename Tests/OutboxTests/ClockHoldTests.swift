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
    private let ports: [SwitchedPort]
    private let timer = SettableTimer()

    init() async throws {
        lab = try await DeliveryLab()
        let future = lab.origin.port(.future)
        ports = [try await SwitchedPort(to: future), try await SwitchedPort(to: future)]
    }

    private func manager() -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.hostAddresses = ports.map { "origin.test:\($0.port):127.0.0.1" }
        configuration.proxy = ""
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(lab.origin.pem(.root)))
        var queue = RequestQueue.Settings()
        queue.follows = .none
        queue.clock = ClockCalls(
            status: { ClockStatus(isSynchronized: false, seconds: 40) },
            openTimer: { [timer] () throws(ReactorError) in try timer.open() })
        return URLSessionManager(
            configuration: configuration, securityPolicy: policy,
            responseSerializer: HTTPResponseSerializer(), queue: queue)
    }

    private func origin(_ number: Int) -> String { "https://origin.test:\(ports[number].port)" }

    private func request(_ number: Int) throws -> OutboxRequest {
        try OutboxRequest(
            to: "\(origin(number))/post?key=\(lab.account)&n=\(number)", lane: "\(number)",
            body: .data(Data("\(number)".utf8)))
    }

    /// Waits until an origin is told to wait.
    private func held(_ number: Int) async throws {
        let name = origin(number)
        try await lab.wait { event -> Bool? in if case .held(name, _, nil) = event { true } else { nil } }
    }

    private var reported: [String] {
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
        let first = try await outbox.enqueue(request(0))
        let other = try await outbox.enqueue(request(1))
        try await outbox.startDelivery(with: manager())
        try await held(0)
        try await held(1)
        #expect(try await outbox.entry(other.id)?.hold != nil)
        // Other processes read it in the files.
        let beside = try await RequestOutbox(at: lab.outbox.path)
        let entry = try #require(try await beside.entry(first.id))
        #expect(entry.hold == "this machine's clock is not set" && entry.attempts == 0)
        await beside.close()

        for port in ports { port.lead(to: lab.origin.port(.https)) }
        timer.fire()
        try await lab.delivered(first.id)
        try await lab.delivered(other.id)
        let reported = reported.sorted()
        let reason = "this machine's clock is not set"
        #expect(
            reported == [0, 1].flatMap { ["\(origin($0)) \(reason)", "released \(origin($0))"] }.sorted())
        #expect(OutboxLab.numbers(try await lab.origin.statistics(lab.account)).sorted() == [0, 1])
        #expect(try await outbox.entries().isEmpty)
        await outbox.close()
    }

    @Test("UPL-163 what is not delivered any more waits for no clock, also after a process that was killed")
    func stopped() async throws {
        let outbox = try await lab.open()
        let receipt = try await outbox.enqueue(request(0))
        try await outbox.startDelivery(with: manager())
        try await held(0)
        await outbox.stopDelivery()
        #expect(try await outbox.entry(receipt.id)?.hold == nil)
        // As if it had been killed.
        let origin = origin(0)
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                try OutboxTables(database).hold(origin, "left behind")
            }
        }
        #expect(try await outbox.entry(receipt.id)?.hold == "left behind")
        try await outbox.pause()
        try await outbox.startDelivery(with: manager())
        #expect(try await outbox.entry(receipt.id)?.hold == nil)
        await outbox.close()
    }

    @Test("UPL-362 What waits for the clock leaves its place to others, and its origin is asked once")
    func limit() async throws {
        let outbox = try await lab.open { $0.maximumDeliveries = 1 }
        try await outbox.startDelivery(with: manager())
        let first = try await outbox.enqueue(request(0))
        try await held(0)
        var next = try request(0)
        next.lane = "next"
        let second = try await outbox.enqueue(next)
        // Sent by the same delivery's only place.
        let plain = try await outbox.enqueue(lab.request(7, lane: "plain"))
        try await lab.delivered(plain.id)
        for receipt in [first, second] {
            #expect(try await outbox.entry(receipt.id)?.hold == "this machine's clock is not set")
        }
        #expect(ports[0].count == 1)
        ports[0].lead(to: lab.origin.port(.https))
        timer.fire()
        try await lab.delivered(first.id)
        try await lab.delivered(second.id)
        #expect(reported == ["\(origin(0)) this machine's clock is not set", "released \(origin(0))"])
        await outbox.close()
    }
}
