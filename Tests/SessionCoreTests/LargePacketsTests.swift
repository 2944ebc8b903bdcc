// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// A line that loses large packets and carries small ones.
struct LargePacketsTests {
    private static let second: Int64 = 1_000_000_000

    /// An upload over such a line: full segments without an acknowledgement, after a short request.
    private static func hole(_ change: (inout ConnectionHealth) -> Void = { _ in }) -> ConnectionHealth {
        var health = ConnectionHealth()
        health.unacknowledged = 10
        health.backoff = 5
        health.segment = 1448
        health.queuedBytes = 14_480
        health.acknowledgedBytes = 200
        health.acknowledgedSegments = 2
        health.sinceAcknowledgement = 7 * second
        change(&health)
        return health
    }

    @Test(
        "UPL-282 Full segments that are sent in vain, after small ones alone were acknowledged, are the sign")
    func sign() {
        #expect(AcknowledgementRules.losesLargePackets(Self.hole()))
        // The short one at the end has arrived, and many small requests before.
        #expect(AcknowledgementRules.losesLargePackets(Self.hole { $0.selectivelyAcknowledged = 1 }))
        #expect(
            AcknowledgementRules.losesLargePackets(
                Self.hole { ($0.acknowledgedBytes, $0.acknowledgedSegments) = (20_000, 100) }))
        let others: [(String, (inout ConnectionHealth) -> Void)] = [
            ("it may be a loss by chance", { $0.backoff = 4 }),
            ("some of them arrive", { $0.selectivelyAcknowledged = 2 }),
            (
                "full ones have arrived",
                { ($0.acknowledgedBytes, $0.acknowledgedSegments) = (1_448_000, 1000) }
            ),
            ("nothing is known of what has arrived", { $0.acknowledgedBytes = .max }),
            ("only a short one is missing", { $0.queuedBytes = 1447 }),
            ("segments are small already", { ($0.segment, $0.queuedBytes) = (536, 5360) }),
            ("nothing is owed", { $0.unacknowledged = 0 }),
            ("it does not stand", { $0.isConnected = false }),
        ]
        for (why, change) in others {
            #expect(!AcknowledgementRules.losesLargePackets(Self.hole(change)), "\(why)")
        }
    }

    /// A race after which the own line has answered.
    private static func answered() -> LineRaceStateMachine {
        var race = LineRaceStateMachine()
        _ = race.suspected(uplinks: 2, wait: 0, at: 2 * second)
        _ = race.ownLineAnswered(at: 2 * second + 1)
        return race
    }

    @Test(
        "UPL-283 Where the own line answers small packets alone, the first uplink that reaches the server is taken"
    )
    func move() {
        var race = Self.answered()
        #expect(race.suspected(uplinks: 2, wait: 0, at: 3 * Self.second) == .nothing)
        #expect(race.suspected(uplinks: 2, wait: 0, losesLarge: true, at: 7 * Self.second) == .beginElsewhere)
        #expect(race.isRacing == true)
        #expect(race.timeCame(at: 8 * Self.second) == .nothing)
        // A late answer of the former race.
        #expect(race.ownLineAnswered(at: 8 * Self.second) == .nothing)
        #expect(race.suspected(uplinks: 2, wait: 0, losesLarge: true, at: 8 * Self.second) == .nothing)
        #expect(race.answered(1, at: 8 * Self.second) == .move(to: 1))
        #expect(race.isRacing == false)
    }

    @Test("UPL-284 Where no uplink reaches it nothing moves, and an acknowledgement ends the search")
    func noMove() {
        var race = Self.answered()
        _ = race.suspected(uplinks: 2, wait: 0, losesLarge: true, at: 7 * Self.second)
        #expect(race.failed(0, at: 8 * Self.second) == .nothing)
        #expect(race.failed(1, at: 9 * Self.second) == .end)
        #expect(race.suspected(uplinks: 2, wait: 0, losesLarge: true, at: 9 * Self.second) == .nothing)
        #expect(race.suspected(uplinks: 2, wait: 0, losesLarge: true, at: 11 * Self.second) == .begin)
        var heard = Self.answered()
        _ = heard.suspected(uplinks: 1, wait: 0, losesLarge: true, at: 7 * Self.second)
        #expect(heard.heard() == .end)
        // A dead line decides as before, whatever the segments' size.
        var dead = LineRaceStateMachine()
        #expect(dead.suspected(uplinks: 1, wait: 0, losesLarge: true, at: 0) == .begin)
    }

    @Test("UPL-285 Traffic returns to such a line late, since its tries are small")
    func comingBack() {
        var machine = UplinkStateMachine()
        var detour = Detour(line: "eth0", uplink: "wwan0", sentence: "")
        detour.losesLarge = true
        #expect(machine.lineDied(detour, at: 0) == .changed)
        var now: Int64 = 0
        var changed: Int64?
        while changed == nil, let deadline = machine.nextDeadline, now < 400 * Self.second {
            now = deadline
            guard case .tryLine = machine.timeCame(at: now) else { break }
            if machine.tried(true, at: now) == .changed { changed = now }
        }
        #expect((changed ?? 0) >= 160 * Self.second)
    }
}
