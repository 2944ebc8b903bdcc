// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import ReachTesting
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// The return of the network, and of the internet behind it.
struct QueueReturnTests {
    @Test("100 that have waited are all on the wire before the first is answered, let go in order")
    func hundred() async throws {
        let lab = try await QueueLab(.unreachable, connections: 100)
        let events = lab.manager.events
        let tasks = try (0..<100).map { try lab.task("/hold/hundred?key=hundred&n=\($0)") }
        await lab.counts { $0.waitingForNetwork == 100 }
        lab.network.become(.wired)
        try await lab.origin.wait(for: "hundred", [.count: 100])
        #expect(try await lab.origin.statistics("hundred").active == 100)
        try await lab.origin.release("hundred")
        var released: [Int] = []
        for await event in events {
            if case .released(let task) = event { released.append(task.identifier) }
            if released.count == 100 { break }
        }
        #expect(released == tasks.map(\.identifier))
        for task in tasks { #expect(await task.outcome().error == nil) }
        let requests = try await lab.origin.statistics("hundred").requests
        #expect(Set(requests).count == 100 && requests.count == 100)
    }

    /// The queue's probe after its first question, which failed, as behind a router whose uplink is down.
    private func failedProbe(_ lab: QueueLab, _ key: String, awaitedPause: Duration) async throws
        -> InternetProbe
    {
        var session = SessionConfiguration()
        session.proxy = ""
        var configuration = InternetProbeConfiguration(
            try SessionRequest(lab.origin.url("/retry-after?key=\(key)&times=1&status=503")).url,
            expectation: InternetExpectation())
        configuration.firstPause = .seconds(3600)
        configuration.longestPause = .seconds(3600)
        configuration.longestAwaitedPause = awaitedPause
        let probe = try InternetProbe(configuration, provider: nil, session: session)
        lab.queue.internetProbe = probe
        probe.start()
        for await state in probe.states where state != .unknown { break }
        // The end of the turn in which the probe reports it, and the queue's own.
        for _ in 0..<2 { try await Reactor.shared.result {} }
        return probe
    }

    @Test("a task that needs the internet waits until the probe has found it, others do not")
    func internet() async throws {
        let lab = try await QueueLab(.wired)
        let probe = try await failedProbe(lab, "queue-probe", awaitedPause: .seconds(3600))
        let asking = try lab.task("/get?key=queue-internet") { $0.requiresInternet = true }
        await lab.counts { $0.waitingForNetwork == 1 }
        #expect(asking.waitingReason == .internet)
        #expect(await (try lab.task("/get?key=queue-internet-other")).outcome().error == nil)
        #expect(try await lab.origin.count("queue-internet") == 0)
        probe.check()
        #expect(await asking.outcome().error == nil)
        #expect(probe.state == .full)
    }

    @Test("UPL-406 a task that waits for the internet has the probe ask soon")
    func awaitedInternet() async throws {
        let lab = try await QueueLab(.wired)
        let probe = try await failedProbe(lab, "queue-awaited", awaitedPause: .milliseconds(10))
        // It takes longer than the pause for what is awaited.
        #expect(await (try lab.task("/delay/0.2?key=queue-awaited-other")).outcome().error == nil)
        #expect(try await lab.origin.count("queue-awaited") == 1)
        let asking = try lab.task("/get") { $0.requiresInternet = true }
        #expect(await asking.outcome().error == nil)
        #expect(probe.state == .full)
    }
}
