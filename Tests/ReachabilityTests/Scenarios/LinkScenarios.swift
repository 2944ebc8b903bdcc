// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Links that go down, return, disappear and are renamed.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct LinkScenarios {
    @Test("RS-012 RS-013 the carrier goes although the routes stay, and returns") func carrier() async throws
    {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.far.ip("link set p0 down")
        await scenario.expect([.unreachable], code: .linkDown)
        #expect(scenario.path.reason.sentence == "v0: no carrier")
        #expect(try await scenario.near.ip("route show default").contains("default"))
        try await scenario.far.ip("link set p0 up")
        await scenario.expect([.unreachable, .wired], on: "v0")
    }

    @Test("RS-014 a carrier away for less than the grace") func bounce() async throws {
        let scenario = try await Scenario(.f1) { $0.timing.lossGrace = .seconds(30) }
        await scenario.start(expecting: .wired, on: "v0")
        let generation = scenario.path.generation
        try await scenario.far.ip("link set p0 down")
        await scenario.wait { !$0.isOnline }
        #expect(scenario.manager.status == .wired)
        try await scenario.far.ip("link set p0 up")
        await scenario.wait { $0.isOnline }
        await scenario.expect([], on: "v0")
        #expect(scenario.path.generation == generation + 1)
    }

    @Test("RS-015 RS-016 RS-017 the link is switched off and on; its default route comes back last")
    func switchedOff() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("link set v0 down")
        await scenario.expect([.unreachable])
        #expect(scenario.path.reason.sentence == "v0 is switched off")
        #expect(scenario.path.reason.code == .linkDown)
        try await scenario.near.ip("link set v0 up")
        try await scenario.near.ip("link show v0") { $0.contains("state UP") }
        await scenario.expect([.unreachable])
        #expect(scenario.path.reason.sentence == "v0 has carrier and 10.0.0.2/24 but no default route")
        try await scenario.near.ip("route add default via 10.0.0.1")
        await scenario.expect([.unreachable, .wired], on: "v0")
    }

    @Test("RS-018 the link is deleted") func deleted() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("link del v0")
        await scenario.expect([.unreachable], code: .noRoute)
    }

    @Test("RS-020 the link is renamed while it is up") func renamed() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("link set v0 name eth77")
        await scenario.wait { $0.interface == "eth77" }
        await scenario.expect([], on: "eth77")
        #expect(scenario.pathUpdates.count == 1)
    }

    @Test("RS-021 the link waits for authentication, and has it") func dormant() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip("link set v0 mode dormant")
        try await scenario.near.ip("link set v0 state dormant")
        await scenario.expect([.unreachable], code: .linkDown)
        #expect(scenario.path.reason.sentence.contains("waiting for authentication"))
        try await scenario.near.ip("link set v0 state up")
        await scenario.expect([.unreachable, .wired], on: "v0")
    }

    @Test("RS-022 the two messages of one carrier loss make one transition") func twoMessages() async throws {
        let scenario = try await Scenario(.f1) { $0.timing.lossGrace = .seconds(30) }
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.far.ip("link set p0 down")
        try await scenario.near.ip("link show v0") {
            $0.contains("state DOWN") || $0.contains("LOWERLAYERDOWN")
        }
        await scenario.wait { !$0.isOnline }
        scenario.manager.reevaluate()
        try await scenario.reactor.result(of: {})
        #expect(scenario.pathUpdates.map(\.isOnline) == [false])
    }

    @Test("RS-024 other links come and go by the dozen") func churn() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        let create =
            (1...50).map { "link add x\($0) type veth peer name y\($0)" }
            + ["link add br7 type bridge"] + (1...20).map { "link set x\($0) master br7" }
        let remove = (1...50).map { "link del x\($0)" } + ["link del br7"]
        try await scenario.near.ip(batch: (create + remove).joined(separator: "\n"))
        await scenario.expect([], on: "v0")
        #expect(scenario.log.elements.count == 1)
    }

    @Test("RS-025 the link joins a bridge and leaves it") func bridgePort() async throws {
        let scenario = try await Scenario(.f1) { $0.timing.lossGrace = .seconds(30) }
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip(
            batch: """
                link add br7 type bridge
                link set br7 up
                link set v0 master br7
                link set v0 nomaster
                """)
        await scenario.wait { $0.isOnline && $0.interface == "v0" }
        await scenario.expect([], on: "v0")
        #expect(!scenario.pathUpdates.contains { $0.reason.code == .noRoute })
    }

    @Test("RS-028 a bridge gets the index of the deleted link") func reusedIndex() async throws {
        let scenario = try await Scenario(.f1)
        await scenario.start(expecting: .wired, on: "v0")
        try await scenario.near.ip(batch: "link del v0\nlink add br7 index 10 type bridge\nlink set br7 up")
        await scenario.expect([.unreachable])
        #expect(scenario.path.medium == nil)
        try await scenario.near.ip(batch: "addr add 10.0.0.2/24 dev br7\nroute add default via 10.0.0.1")
        await scenario.expect([.unreachable], code: .noPorts)
    }

    @Test("RS-116 link up, address and default route in one go") func everythingAtOnce() async throws {
        let scenario = try await Scenario(.f1)
        try await scenario.near.ip(batch: "link set v0 down\naddr flush dev v0")
        await scenario.start(expecting: .unreachable)
        try await scenario.near.ip(
            batch: "link set v0 up\naddr add 10.0.0.2/24 dev v0\nroute add default via 10.0.0.1")
        await scenario.expect([.wired], on: "v0")
    }

    @Test("RS-117 fast flaps are hidden, slow flaps are damped, and the last word is right") func flaps()
        async throws
    {
        let scenario = try await Scenario(.f1) {
            // A tenth of the usual times, in the same proportions.
            $0.timing.lossGrace = .milliseconds(50)
            $0.timing.dampingHold = .milliseconds(200)
            // On a busy machine the flaps take longer, and all of them must count.
            $0.timing.dampingWindow = .seconds(600)
        }
        await scenario.start(expecting: .wired, on: "v0")
        let began = ContinuousClock.now
        for _ in 0..<20 {
            try await scenario.near.ip("route del default")
            await scenario.wait { !$0.isOnline }
            try await scenario.near.ip("route add default via 10.0.0.1")
            await scenario.wait { $0.isOnline }
        }
        await scenario.manager.settle()
        // Four returns are published at once, then only those that lasted for 200, 400, 800 … ms.
        var (returns, hold, held) = (4, Duration.milliseconds(200), Duration.milliseconds(200))
        while held <= ContinuousClock.now - began {
            (returns, hold, held) = (returns + 1, hold * 2, held + hold * 2)
        }
        #expect(scenario.statuses.count <= 2 * returns)
        #expect(scenario.statuses.last ?? .wired == .wired)
        #expect(scenario.manager.status == .wired)
    }
}
