// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@Suite("The line behind a connection")
struct LineRaceTests {
    private static let second: Int64 = 1_000_000_000
    private static let millisecond: Int64 = 1_000_000

    private func health(
        unacknowledged: Int = 0, probes: Int = 0, since: Double, idle: Double = 60, roundTrip: Double = 0.02
    ) -> ConnectionHealth {
        var health = ConnectionHealth()
        health.unacknowledged = unacknowledged
        health.probes = probes
        health.sinceAcknowledgement = Int64(since * 1e9)
        health.keepaliveIdle = Int64(idle * 1e9)
        health.roundTrip = Int64(roundTrip * 1e9)
        health.roundTripVariation = Int64(roundTrip * 0.5e9)
        return health
    }

    private func verdict(_ health: ConnectionHealth, silence: Double) -> AcknowledgementRules.Verdict {
        AcknowledgementRules.verdict(health, silence: Int64(silence * 1e9))
    }

    @Test("UPL-001 A server that has acknowledged everything is silent, however long it says nothing")
    func silent() {
        #expect(verdict(health(since: 60), silence: 60) == .silent)
        #expect(verdict(health(since: 0.5, idle: 1), silence: 60) == .silent)
    }

    @Test("UPL-002 A connection is deaf when something has not been acknowledged for 2 s")
    func deaf() {
        #expect(verdict(health(unacknowledged: 3, since: 1.9), silence: 1.9) == .waiting)
        #expect(verdict(health(unacknowledged: 3, since: 2), silence: 2) == .deaf)
        // A connection that was idle for a minute and has just sent a request.
        #expect(verdict(health(unacknowledged: 1, since: 60), silence: 0.5) == .waiting)
        #expect(verdict(health(probes: 1, since: 1.8, idle: 1), silence: 1.8) == .waiting)
        #expect(verdict(health(probes: 1, since: 2, idle: 1), silence: 2) == .deaf)
        // A probe after half a minute is a second old at least.
        #expect(verdict(health(probes: 1, since: 30.5, idle: 30), silence: 40) == .waiting)
        #expect(verdict(health(probes: 2, since: 31, idle: 30), silence: 40) == .deaf)
    }

    @Test("UPL-012 An upload whose server has no room is deaf when a window probe is not answered for 2 s")
    func windowProbes() {
        var full = health(since: 60)
        full.hasQueuedBytes = true
        #expect(verdict(full, silence: 60) == .waiting)
        full.probes = 1
        full.sinceProbe = 1_900_000_000
        #expect(verdict(full, silence: 60) == .waiting)
        full.sinceProbe = 2_000_000_000
        #expect(verdict(full, silence: 60) == .deaf)
    }

    @Test("UPL-003 Three round trips with their variation are waited for")
    func slowLine() {
        #expect(verdict(health(unacknowledged: 3, since: 5, roundTrip: 2), silence: 5) == .waiting)
        #expect(verdict(health(unacknowledged: 3, since: 18, roundTrip: 2), silence: 18) == .deaf)
        #expect(verdict(health(probes: 3, since: 5, idle: 1, roundTrip: 2), silence: 5) == .waiting)
    }

    @Test("UPL-004 A SYN without an answer counts after 250 ms")
    func connecting() {
        var connecting = ConnectionHealth()
        connecting.isConnected = false
        #expect(verdict(connecting, silence: 0.2) == .waiting)
        #expect(verdict(connecting, silence: 0.25) == .deaf)
    }

    /// Runs a race until it has tried its own line often enough; returns the time.
    private func exhaust(_ race: inout LineRaceStateMachine, from start: Int64) -> Int64 {
        var now = start
        for _ in 1..<LineRaceStateMachine.triesNeeded {
            now = race.nextDeadline ?? now
            #expect(race.timeCame(at: now) == .tryOwnLine)
        }
        return now
    }

    @Test("UPL-005 Transfers move where an uplink answers and the own line stays silent to every try")
    func move() {
        var race = LineRaceStateMachine()
        #expect(race.suspected(uplinks: 2, wait: 0, at: 0) == .begin)
        #expect(race.suspected(uplinks: 2, wait: 0, at: 5) == .nothing)
        #expect(race.answered(1, at: 10 * Self.millisecond) == .nothing)
        let now = exhaust(&race, from: 0)
        #expect(race.nextDeadline == now + LineRaceStateMachine.leastWait)
        #expect(race.answered(0, at: now) == .nothing)
        #expect(race.timeCame(at: now + LineRaceStateMachine.leastWait) == .move(to: 0))
        #expect(race.nextDeadline == nil)
    }

    @Test("UPL-006 An uplink that answers after the last try decides at once")
    func lateUplink() {
        var race = LineRaceStateMachine()
        _ = race.suspected(uplinks: 1, wait: 0, at: 0)
        let now = exhaust(&race, from: 0) + LineRaceStateMachine.leastWait
        #expect(race.timeCame(at: now) == .nothing)
        #expect(race.answered(0, at: now + 1) == .move(to: 0))
    }

    @Test("UPL-007 Nothing is decided before an answer over the own line could have come")
    func wait() {
        var race = LineRaceStateMachine()
        _ = race.suspected(uplinks: 1, wait: 6 * Self.second, at: 0)
        _ = race.answered(0, at: 1)
        let now = exhaust(&race, from: 0) + LineRaceStateMachine.leastWait
        #expect(race.timeCame(at: now) == .nothing)
        #expect(race.nextDeadline == 6 * Self.second)
        #expect(race.timeCame(at: 6 * Self.second) == .move(to: 0))
    }

    @Test("UPL-008 An answer over the own line ends the race, and nothing moves")
    func ownLine() {
        var race = LineRaceStateMachine()
        _ = race.suspected(uplinks: 1, wait: 0, at: 0)
        _ = race.answered(0, at: 1)
        #expect(race.ownLineAnswered(at: 2) == .end)
        #expect(race.nextDeadline == nil)
        #expect(race.suspected(uplinks: 1, wait: 0, at: 29 * Self.second) == .nothing)
        #expect(race.suspected(uplinks: 1, wait: 0, at: 31 * Self.second) == .begin)
    }

    @Test("UPL-009 Nothing moves where no uplink answers; tries repeat with pauses that double")
    func nowhere() {
        var race = LineRaceStateMachine()
        var now: Int64 = 0
        var pauses: [Int64] = []
        for _ in 0..<6 {
            #expect(race.suspected(uplinks: 1, wait: 0, at: now) == .begin)
            #expect(race.failed(0, at: now) == .end)
            let failed = now
            while race.suspected(uplinks: 1, wait: 0, at: now) != .begin { now += Self.second }
            pauses.append((now - failed) / Self.second)
            _ = race.failed(0, at: now)
            // The same pause again, since the race that was begun to measure it has failed as well.
            now += 15 * Self.second
        }
        #expect(pauses.first == 1)
        #expect(pauses.max() ?? 0 <= 15)
        #expect(pauses == pauses.sorted())
    }

    @Test("UPL-010 After an outage a connection that stays deaf on the line that works again connects anew")
    func reconnect() {
        var race = LineRaceStateMachine()
        _ = race.suspected(uplinks: 1, wait: 0, at: 0)
        _ = race.failed(0, at: 1)
        #expect(race.suspected(uplinks: 1, wait: 0, at: 2 * Self.second) == .begin)
        #expect(race.ownLineAnswered(at: 2 * Self.second) == .end)
        #expect(race.suspected(uplinks: 1, wait: 0, at: 2 * Self.second + 1) == .nothing)
        #expect(race.suspected(uplinks: 1, wait: 0, at: 3 * Self.second) == .reconnect)
    }

    @Test("UPL-011 An acknowledgement ends the race")
    func heard() {
        var race = LineRaceStateMachine()
        _ = race.suspected(uplinks: 1, wait: 0, at: 0)
        _ = race.answered(0, at: 1)
        #expect(race.heard() == .end)
        #expect(race.nextDeadline == nil)
        #expect(race.heard() == .nothing)
        #expect(race.answered(0, at: 2) == .nothing)
    }
}
