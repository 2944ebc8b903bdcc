// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import SessionCore
import Testing

/// Which uplink may take over what leaves a dead line, and which one does.
struct RescueRulesTests {
    private static let millisecond: Int64 = 1_000_000

    private func findings(_ states: (String, InternetState)...) -> InternetFindings {
        var uplinks = states.map { UplinkInternet(interface: $0, InternetAnswer($1), wall: 0, boot: 0) }
        uplinks[0].isPreferred = true
        return InternetFindings(states[0].1, uplinks: uplinks)
    }

    @Test(
        "UPL-420 Nothing leaves a line for an uplink without internet, and without TLS nothing for a portal")
    func mayTake() {
        let found = findings(
            ("eth0", .full), ("portal0", .portal), ("none0", .none), ("limited0", .limited),
            ("unknown0", .unknown), ("full0", .full))
        for isPlain in [true, false] {
            #expect(found.mayTake("portal0", isPlain: isPlain) != isPlain)
            #expect(!found.mayTake("none0", isPlain: isPlain))
            for name in ["limited0", "unknown0", "full0", "other0"] {
                #expect(found.mayTake(name, isPlain: isPlain), "\(name)")
            }
        }
    }

    @Test(
        "UPL-421 On the way around a line the uplink's state holds what goes without TLS, else that of the path"
    )
    func holdsPlain() {
        for state in [InternetState.unknown, .none, .limited, .portal, .full] {
            let found = findings(("eth0", state), ("wlan0", .full), ("wwan0", .portal), ("usb0", .none))
            #expect(found.holdsPlain(nil) == (state == .portal))
            for (name, isHeld) in [("wlan0", false), ("wwan0", true), ("usb0", true), ("ppp0", false)] {
                let detour = Detour(line: "eth0", uplink: name, sentence: "")
                #expect(found.holdsPlain(detour) == isHeld, "\(name), \(state)")
            }
        }
    }

    @Test("UPL-422 A free uplink goes before one that costs, and the lower metric before the higher one")
    func order() {
        func uplink(_ name: String, _ metric: UInt32, _ index: Int32, _ isExpensive: Bool = false) -> Uplink {
            Uplink(name: name, index: index, metric: metric, isExpensive: isExpensive)
        }
        let all = [
            uplink("wwan0", 50, 2, true), uplink("dsl1", 300, 9), uplink("dsl0", 300, 4),
            uplink("wlan0", 200, 7),
            uplink("wwan1", 60, 1, true),
        ]
        #expect(
            all.sorted { $0.precedes($1) }.map(\.name) == ["wlan0", "dsl0", "dsl1", "wwan0", "wwan1"])
    }

    /// A race of uplinks, of which the first ones are free, whose own line was tried in vain; the time.
    private func decided(
        _ race: inout LineRaceStateMachine, free: Int, of uplinks: Int, answers: Int...
    ) -> Int64 {
        _ = race.suspected(uplinks: uplinks, free: free, wait: 0, at: 0)
        for uplink in answers { #expect(race.answered(uplink, at: 1) == .nothing) }
        for _ in 1..<LineRaceStateMachine.triesNeeded { _ = race.timeCame(at: race.nextDeadline ?? 0) }
        return race.nextDeadline ?? 0
    }

    @Test("UPL-423 Of the uplinks that have answered the most preferred one carries on, whichever came first")
    func preferred() {
        var race = LineRaceStateMachine()
        let end = decided(&race, free: 2, of: 3, answers: 2, 1)
        // The first free one may still answer, and is not waited for.
        #expect(race.timeCame(at: end) == .move(to: 1))
        var both = LineRaceStateMachine()
        let later = decided(&both, free: 2, of: 3, answers: 1, 2, 0)
        #expect(both.timeCame(at: later) == .move(to: 0))
    }

    @Test("UPL-424 Where only the expensive uplink has answered a free one has 250 ms more")
    func waitsForFree() {
        var race = LineRaceStateMachine()
        let end = decided(&race, free: 1, of: 2, answers: 1)
        #expect(race.timeCame(at: end) == .nothing)
        #expect(race.nextDeadline == end + 250 * Self.millisecond)
        #expect(race.answered(0, at: end + 249 * Self.millisecond) == .move(to: 0))

        var slow = LineRaceStateMachine()
        let limit = decided(&slow, free: 1, of: 3, answers: 2)
        #expect(slow.timeCame(at: limit) == .nothing)
        // Another one that costs does not begin the wait anew, and goes before by its order.
        #expect(slow.answered(1, at: limit + 200 * Self.millisecond) == .nothing)
        #expect(slow.timeCame(at: limit + 250 * Self.millisecond) == .move(to: 1))
    }

    @Test(
        "UPL-425 Nothing is waited for once the free uplinks have failed, and the own line still ends the race"
    )
    func noWait() {
        var race = LineRaceStateMachine()
        let end = decided(&race, free: 1, of: 2, answers: 1)
        #expect(race.timeCame(at: end) == .nothing)
        #expect(race.failed(0, at: end + 10 * Self.millisecond) == .move(to: 1))

        var early = LineRaceStateMachine()
        _ = early.suspected(uplinks: 2, free: 1, wait: 0, at: 0)
        #expect(early.failed(0, at: 1) == .nothing)
        #expect(early.answered(1, at: 2) == .nothing)
        for _ in 1..<LineRaceStateMachine.triesNeeded { _ = early.timeCame(at: early.nextDeadline ?? 0) }
        #expect(early.timeCame(at: early.nextDeadline ?? 0) == .move(to: 1))

        var alive = LineRaceStateMachine()
        let then = decided(&alive, free: 1, of: 2, answers: 1)
        _ = alive.timeCame(at: then)
        #expect(alive.ownLineAnswered(at: then + 1) == .end)
        #expect(alive.nextDeadline == nil)
    }

    @Test("UPL-426 The free uplink has its time too where large packets alone are lost")
    func largePackets() {
        func race(_ then: Int64) -> LineRaceStateMachine {
            var race = LineRaceStateMachine()
            _ = race.suspected(uplinks: 2, free: 1, wait: 0, at: 0)
            _ = race.ownLineAnswered(at: 1)
            #expect(
                race.suspected(uplinks: 2, free: 1, wait: 0, losesLarge: true, at: then) == .beginElsewhere)
            return race
        }
        let then = 7_000 * Self.millisecond
        var free = race(then)
        #expect(free.answered(0, at: then + 1) == .move(to: 0))
        var costly = race(then)
        #expect(costly.answered(1, at: then) == .nothing)
        #expect(costly.timeCame(at: then + 249 * Self.millisecond) == .nothing)
        #expect(costly.timeCame(at: then + 250 * Self.millisecond) == .move(to: 1))
    }

    @Test(
        "UPL-427 What a queue forbids holds each request, over the kernel's choice and another uplink alike")
    func queueWide() {
        for (isExpensive, isOtherExpensive) in [(true, true), (true, false), (false, false)] {
            for isForbidden in [true, false] {
                var facts = NetworkFacts(.online)
                facts.isExpensive = isExpensive
                (facts.isAlternativeExpensive, facts.isAlternativeConstrained) = (
                    isOtherExpensive, isExpensive != isOtherExpensive
                )
                (facts.avoidsExpense, facts.avoidsConstraint) = (isForbidden, isForbidden)
                let mayLeave = !(isExpensive && isForbidden)
                for isBound in [true, false] {
                    #expect(facts.met(isBound: isBound).contains(.anyPath) == mayLeave)
                    #expect(facts.met(isBound: isBound).contains(.nothing))
                }
                // A request's own wish still counts.
                let own = NetworkDemand(.any, avoidsExpense: true)
                #expect(facts.met(isBound: false).contains(own) == !isExpensive)
                var gate = RequestGateStateMachine()
                _ = gate.networkChanged(facts, at: 0)
                #expect(gate.view.networkReason(.anyPath) == (mayLeave ? nil : .condition(.notExpensive)))
            }
        }
    }
}
