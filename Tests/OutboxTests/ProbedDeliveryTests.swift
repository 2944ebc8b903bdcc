// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

@testable import Outbox

/// Deliveries of a program that has a probe.
@Suite(.timeLimit(.minutes(10)))
struct ProbedDeliveryTests {
    private static func probe() throws -> InternetProbe {
        try InternetProbe(
            InternetProbeConfiguration(try SessionRequest("http://127.0.0.1:1/").url), provider: nil)
    }

    @Test("UPL-364 The probe is the queue's until the delivery ends, and not where it does not begin")
    func queue() async throws {
        let lab = try OutboxLab()
        let (outbox, other) = (try await lab.open(), try await lab.open())
        let (manager, second) = (OutboxLab.manager(), OutboxLab.manager())
        let (probe, own) = (try Self.probe(), try Self.probe())
        try await outbox.startDelivery(with: manager, probe: probe)
        #expect(manager.queue.internetProbe === probe)
        second.queue.internetProbe = own
        await #expect(throws: OutboxError.self) { try await other.startDelivery(with: second, probe: probe) }
        #expect(second.queue.internetProbe === own)
        // Again, and with another one.
        try await outbox.startDelivery(with: manager, probe: probe)
        #expect(manager.queue.internetProbe === probe)
        try await outbox.startDelivery(with: manager, probe: own)
        #expect(manager.queue.internetProbe === own)
        await outbox.stopDelivery()
        #expect(manager.queue.internetProbe == nil)
        try await outbox.startDelivery(with: manager, probe: probe)
        // The program's own choice stays.
        manager.queue.internetProbe = own
        await outbox.close()
        #expect(manager.queue.internetProbe === own)
        await other.close()
    }

    @Test(
        "UPL-365 Deliveries leave a line without internet by the probe's word, wait for the internet where no uplink has it, and go on once",
        .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
    func lines() async throws {
        let paths = try await TwoPaths()
        let reactor = paths.lab.near.reactor
        var environment = MonitorEnvironment.kernel
        environment.reactor = { () throws(ReachabilityError) -> Reactor in reactor }
        let monitor = ReachabilityManager(.general, .init(), .own, environment)
        monitor.startMonitoring()
        var session = SessionConfiguration()
        session.proxy = ""
        let manager = URLSessionManager(configuration: session, securityPolicy: .default, on: reactor)
        manager.queue.follows = .provider(monitor)
        var asked = InternetProbeConfiguration(try SessionRequest(paths.base + "/quick?probe").url)
        (asked.timeout, asked.longestPause) = (.seconds(1), .seconds(1))
        let probe = InternetProbe(asked, provider: monitor, session: session, on: reactor)
        func ask(_ first: InternetState, _ second: InternetState) async {
            probe.start()
            probe.check()
            for await uplinks in probe.uplinkChanges where uplinks.map(\.state) == [first, second] { break }
            // The end of the turn in which the probe reports it, and the queue's own.
            for _ in 0..<2 { try? await reactor.result {} }
        }
        func request(_ number: Int) throws -> OutboxRequest {
            var request = try OutboxRequest("\(paths.base)/quick?\(number)", method: .get)
            request.lane = "\(number)"
            // UPL-436: who asks for the internet waits for it like the others, which wait for a dead line.
            if number == 5 { request.networkCondition = .internet }
            return request
        }
        let lab = try OutboxLab()
        let outbox = try await lab.open()

        try await paths.killLine("pa")
        await ask(.limited, .full)
        try await outbox.startDelivery(with: manager, probe: probe)
        try await lab.delivered(try await outbox.enqueue(request(1)).id)

        try await paths.killLine("pb")
        await ask(.limited, .limited)
        let waiting = try await outbox.enqueue((2..<6).map { try request($0) })
        let reason = "no internet was found behind any uplink"
        try await lab.wait { event -> Bool? in
            if case .held(paths.base, reason, nil) = event { true } else { nil }
        }
        for receipt in waiting { #expect(try await outbox.entry(receipt.id)?.hold == reason) }
        try await paths.reviveLine("pb")
        for receipt in waiting { try await lab.delivered(receipt.id) }
        try await lab.wait { event -> Bool? in if case .released(paths.base) = event { true } else { nil } }
        let requests = try await paths.events.filter { $0.event == "request" && $0.query != "probe" }
        #expect(requests.compactMap(\.query).sorted() == ["1", "2", "3", "4", "5"])
        #expect(requests.allSatisfy { $0.peer == TwoPaths.secondAddress })
        await outbox.close()
    }
}
