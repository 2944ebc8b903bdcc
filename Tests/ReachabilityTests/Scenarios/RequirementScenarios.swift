// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Managers that ask for a network, beside one that follows the kernel's choice, on the real kernel.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct RequirementScenarios {
    /// The packets that have left through each interface.
    private func sent(_ namespace: NetworkNamespace) async throws -> [String] {
        let text = try await namespace.run("cat", "/proc/thread-self/net/dev")
        return text.split(separator: "\n").dropFirst(2).compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 10 ? "\(words[0]) \(words[10])" : nil
        }
    }

    @Test(
        "UPL-137 a manager of the second uplink and one of the kernel's choice, each with its own losses",
        arguments: [nil, "203.0.113.7"])
    func beside(_ host: String?) async throws {
        let lab = try await NetworkLab(.f2)
        let general = try await Scenario(lab: lab)
        let required = try await Scenario(lab: lab, host: host) { $0.requirement = .interface("b0") }
        let before = try await sent(lab.near)
        await general.start(expecting: .wired, on: "a0")
        await required.start(expecting: .wired, on: "b0")
        #expect(required.path.gateway?.description == "10.2.0.1")
        #expect(required.path.source?.description == "10.2.0.2")
        #expect(required.path.metric == 200)
        try await lab.far.ip("link set pb down")
        await required.expect([.unreachable], code: .linkDown)
        #expect(required.path.reason.sentence == "b0: no carrier")
        #expect(required.path.alternative == nil)
        let generation = required.path.generation
        try await lab.far.ip("link set pb up")
        await required.expect([.unreachable, .wired], on: "b0")
        #expect(required.path.generation > generation)
        // The kernel's choice is nothing to it.
        try await lab.far.ip("link set pa down")
        await general.expect([.unreachable], code: .linkDown)
        #expect(general.path.alternative == "b0")
        await required.expect([.unreachable, .wired], on: "b0")
        try await lab.near.ip("route del default via 10.2.0.1")
        await required.expect([.unreachable, .wired, .unreachable], code: .noRoute)
        let missing = host.map { "no route to \($0)" } ?? "no default route"
        #expect(required.path.reason.sentence == "b0 has carrier and 10.2.0.2/24 but \(missing)")
        #expect(try await sent(lab.near) == before)
    }

    @Test(
        "UPL-138 a medium: the other link takes over with a new generation, while the kernel stays with the dead one"
    )
    func medium() async throws {
        let lab = try await NetworkLab(.f2)
        let general = try await Scenario(lab: lab)
        let required = try await Scenario(lab: lab) { $0.requirement = .medium(.wired) }
        await general.start(expecting: .wired, on: "a0")
        await required.start(expecting: .wired, on: "a0")
        try await lab.far.ip("link set pa down")
        await required.wait { $0.interface == "b0" }
        #expect(required.path.generation == 2)
        await general.expect([.unreachable], code: .linkDown)
        await required.expect([], on: "b0")
        try await lab.far.ip("link set pa up")
        await required.wait { $0.interface == "a0" }
        #expect(required.path.generation == 3)
        #expect(required.statuses.isEmpty)
    }

    @Test(
        "UPL-139 an interface that does not exist yet, comes, and goes; one more with the public initializer")
    func comes() async throws {
        let lab = try await NetworkLab(.f1)
        let required = try await Scenario(lab: lab) { $0.requirement = .interface("late0") }
        await required.start(expecting: .unreachable)
        #expect(required.path.reason.sentence == "interface late0 does not exist")
        var configuration = ReachabilityConfiguration()
        configuration.networkNamespace = lab.near.path
        let cellular = ReachabilityManager(requiring: .medium(.cellular), configuration: configuration)
        cellular.startMonitoring()
        #expect(cellular.status == .unreachable)
        #expect(cellular.path.reason.sentence == "no link of the medium cellular")
        try await lab.near.ip("link add late0 type veth peer name late1 netns \(lab.far.path)")
        try await lab.far.ip("link set late1 up")
        try await lab.near.ip(
            batch: """
                link set late0 up
                addr add 10.3.0.2/24 dev late0
                route add default via 10.3.0.1 dev late0 metric 900
                """)
        await required.expect([.wired], on: "late0")
        try await lab.near.ip("link del late0")
        await required.expect([.wired, .unreachable], code: .noRoute)
        #expect(required.path.reason.sentence == "interface late0 does not exist")
        cellular.stopMonitoring()
    }
}
