// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Starting, stopping, and the first report.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct LifecycleScenarios {
    @Test("RS-001 only loopback, start") func onlyLoopback() async throws {
        let scenario = try await Scenario(.f0)
        await scenario.start(expecting: .unreachable)
        await scenario.expect([])
        #expect(scenario.path.reason.sentence == "there is no network interface but loopback")
    }

    @Test("RS-002 a default route, start: never unknown") func defaultRoute() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        await scenario.expect([], on: "v0")
        #expect(!scenario.log.elements.map(\.status).contains(.unknown))
        #expect(scenario.path.gateway == IPAddress("10.0.0.1"))
        #expect(scenario.path.source == IPAddress("10.0.0.2"))
    }

    @Test("RS-004 start twice: one first report") func twice() async throws {
        let scenario = try await Scenario(.f1)
        scenario.manager.startMonitoring()
        await scenario.start(expecting: .wired, on: "v0")
        await scenario.expect([], on: "v0")
        #expect(scenario.log.elements.count == 1)
    }

    @Test("RS-005 start, stop, then delete the default") func stopped() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        scenario.manager.stopMonitoring()
        try await scenario.near.ip("route del default")
        #expect(scenario.manager.status == .unknown)
        #expect(scenario.log.elements.count == 1)
        // Another manager sees the change that the stopped one ignores.
        let witness = try await Scenario(lab: scenario.lab)
        await witness.start(expecting: .unreachable)
        await witness.manager.settle()
        #expect(scenario.log.elements.count == 1)
    }

    @Test("RS-006 start, stop, delete the default, start") func restarted() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        scenario.manager.stopMonitoring()
        try await scenario.near.ip("route del default")
        scenario.manager.startMonitoring()
        let seen = await scenario.log.wait(forCount: 2)
        #expect(seen.map(\.event) == [.initial, .initial])
        #expect(seen.map(\.status) == [.wired, .unreachable])
    }

    @Test("RS-129 a request in flight fails with ENETUNREACH: the kernel is asked at once") func reevaluate()
        async throws
    {
        // No events arrive here: only the failed request triggers an evaluation.
        let scenario = try await Scenario(.f1) { $0.timing.lossGrace = .zero }
        await scenario.start(expecting: .wired, on: "v0")
        let before = scenario.manager.counters.evaluations
        for _ in 0..<10 {
            scenario.manager.reevaluate()
            try await scenario.reactor.result(of: {})
        }
        #expect((10...13).contains(scenario.manager.counters.evaluations - before), "3 confirm the start")
    }
}
