// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@Suite("Which uplink carries what goes beyond the router")
struct UplinkStateMachineTests {
    private static let second: Int64 = 1_000_000_000
    private let detour = Detour(line: "eth0", uplink: "wwan0", sentence: "eth0 is dead")

    /// Answers all tries alike, until the machine needs none or `end` has come.
    private func answer(
        _ machine: inout UplinkStateMachine, from start: Int64, until end: Int64 = .max, _ succeeds: Bool
    ) -> [Int64] {
        var times: [Int64] = []
        while let next = machine.nextDeadline, next <= end, times.count < 100 {
            times.append(next - start)
            guard case .tryLine = machine.timeCame(at: next) else {
                Issue.record("nothing is tried at \(next)")
                break
            }
            _ = machine.tried(succeeds, at: next)
        }
        return times
    }

    @Test("UPL-020 A dead line is left, and tried again with pauses that double to a minute")
    func dead() {
        var machine = UplinkStateMachine()
        #expect(machine.detour == nil)
        #expect(machine.lineDied(detour, at: 0) == .changed)
        #expect(machine.detour == detour)
        #expect(machine.lineDied(detour, at: 1) == .nothing)
        let tries = answer(&machine, from: 0, until: 300 * Self.second, false).map { $0 / Self.second }
        #expect(tries.prefix(6) == [2, 4, 8, 16, 32, 64])
        #expect(tries.dropFirst(6).allSatisfy { tries.contains($0 - 60) })
    }

    @Test("UPL-021 Traffic returns when the line has answered three times, over 5 s")
    func returns() {
        var machine = UplinkStateMachine()
        _ = machine.lineDied(detour, at: 0)
        let tries = answer(&machine, from: 0, true).map { $0 / Self.second }
        #expect(tries == [2, 4, 6, 8])
        #expect(machine.detour == nil)
        #expect(machine.nextDeadline == nil)
    }

    @Test("UPL-022 One failure begins the count anew")
    func relapse() {
        var machine = UplinkStateMachine()
        _ = machine.lineDied(detour, at: 0)
        for (time, succeeds) in [(2, true), (4, true), (6, false)] {
            #expect(machine.timeCame(at: Int64(time) * Self.second) == .tryLine(detour))
            #expect(machine.tried(succeeds, at: Int64(time) * Self.second) == .nothing)
        }
        let tries = answer(&machine, from: 0, true).map { $0 / Self.second }
        #expect(tries == [8, 10, 12, 14])
    }

    @Test("UPL-023 A line that keeps dying has to last twice as long each time, to 160 s at most")
    func flapping() {
        var machine = UplinkStateMachine()
        var now: Int64 = 0
        var lasts: [Int64] = []
        for _ in 0..<8 {
            _ = machine.lineDied(detour, at: now)
            let tries = answer(&machine, from: now, true)
            lasts.append(((tries.last ?? 0) - (tries.first ?? 0)) / Self.second)
            now += (tries.last ?? 0) + Self.second
        }
        #expect(lasts == [6, 10, 20, 40, 80, 160, 160, 160])
        now += 400 * Self.second
        _ = machine.lineDied(detour, at: now)
        #expect(answer(&machine, from: now, true).count == 4)
    }

    @Test("UPL-024 Where the second line dies as well, a third one is used, or the kernel's choice again")
    func second() {
        var machine = UplinkStateMachine()
        _ = machine.lineDied(detour, at: 0)
        #expect(machine.lineDied(Detour(line: "wwan0", uplink: "wlan0", sentence: ""), at: 1) == .changed)
        #expect(machine.detour?.line == "eth0")
        #expect(machine.detour?.uplink == "wlan0")
        #expect(machine.lineDied(Detour(line: "wlan0", uplink: "eth0", sentence: ""), at: 2) == .changed)
        #expect(machine.detour == nil)
    }

    @Test("UPL-025 Another choice of the kernel ends the detour, and the same one does not")
    func network() {
        var machine = UplinkStateMachine()
        _ = machine.networkChanged(interface: "eth0", generation: 1)
        _ = machine.lineDied(detour, at: 0)
        #expect(machine.networkChanged(interface: "eth0", generation: 1) == .nothing)
        #expect(machine.networkChanged(interface: "wlan0", generation: 2) == .changed)
        #expect(machine.detour == nil)
        _ = machine.lineDied(detour, at: 0)
        #expect(machine.ended() == .changed)
    }

    @Test("UPL-026 What must not be expensive waits while only an expensive uplink works")
    func cost() {
        var expensive = detour
        expensive.traits.isExpensive = true
        let now: Int64 = 0
        var gate = RequestGateStateMachine()
        let frugal = NetworkDemand(.any, avoidsExpense: true)
        _ = gate.networkChanged(NetworkFacts(.online), at: now)
        #expect(gate.passable.contains(frugal))
        let change = gate.networkChanged(NetworkFacts(.online).detoured(by: expensive), at: now)
        #expect(change.closed.contains(frugal))
        #expect(!gate.passable.contains(frugal))
        #expect(gate.passable.contains(.anyPath))
        var constrained = detour
        constrained.traits.isConstrained = true
        let sparing = NetworkDemand(.any, avoidsConstraint: true)
        let met = NetworkFacts(.online).detoured(by: constrained).met(isBound: true)
        #expect(!met.contains(sparing) && met.contains(frugal) && met.contains(.anyPath))
        // Connections are bound one by one: those to the link itself stay where they are.
        #expect(gate.binding == .any)
        #expect(gate.view.networkReason(frugal) == .condition(.notExpensive))
    }
}
