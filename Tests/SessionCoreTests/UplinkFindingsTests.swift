// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@Suite("A probe's findings and connections decide together which uplink carries what")
struct UplinkFindingsTests {
    private static let second: Int64 = 1_000_000_000

    /// What a probe has found: an uplink and a state each, the preferred one first.
    private func findings(_ states: [(String, InternetState)], answers: Int = 1) -> InternetFindings {
        let uplinks = states.enumerated().map { index, item in
            var uplink = UplinkInternet(
                interface: item.0, isPreferred: index == 0,
                InternetAnswer(item.1, item.1 == .unknown ? "" : "evidence"), wall: 0, boot: 0)
            uplink.answers = answers
            return uplink
        }
        return InternetFindings(states.first?.1 ?? .unknown, uplinks: uplinks)
    }

    private func eth(
        _ first: InternetState, _ other: InternetState, answers: Int = 1
    ) -> InternetFindings { findings([("eth0", first), ("wwan0", other)], answers: answers) }

    /// A machine with answers of a probe, one a second: `f` full, `l` limited, `p` portal, `?` unknown, first
    /// of eth0 and then of wwan0; the line that comes out has the first letter of the interface in use.
    private func marbles(_ first: String, _ other: String) -> String {
        let states: [Character: InternetState] = [
            "f": .full, "l": .limited, "p": .portal, "?": .unknown, "n": .none,
        ]
        var machine = UplinkStateMachine()
        _ = machine.networkChanged(interface: "eth0", generation: 1)
        var line = ""
        for (index, pair) in zip(first, other).enumerated() {
            let now = Int64(index) * Self.second
            _ = machine.internetChanged(
                eth(states[pair.0] ?? .unknown, states[pair.1] ?? .unknown, answers: index), at: now)
            line.append(machine.detour == nil ? "e" : "w")
        }
        return line
    }

    @Test("UPL-330 The findings alone begin a way around a line, where another one is full")
    func begin() {
        #expect(marbles("flll", "ffff") == "ewww")
        #expect(marbles("fppp", "ffff") == "ewww")
        #expect(marbles("fnnn", "ffff") == "ewww")
        #expect(marbles("f???", "ffff") == "eeee")
        #expect(marbles("fllll", "??lff") == "eeeww")
        #expect(marbles("flll", "llll") == "eeee")
    }

    @Test("UPL-331 Traffic returns when the probe has found the line full three times, over 5 s")
    func returns() {
        #expect(marbles("llfffffffff", "fffffffffff") == "wwwwwwweeee")
        // One failure begins the count anew.
        #expect(marbles("lffffflffffffff", "fffffffffffffff") == "wwwwwwwwwwwweee")
        // Two answers are not enough, however far they are apart.
        var machine = UplinkStateMachine()
        _ = machine.internetChanged(eth(.limited, .full, answers: 1), at: 0)
        for (answers, second) in [(2, 2), (3, 60)] as [(Int, Int64)] {
            let action = machine.internetChanged(
                eth(.full, .full, answers: answers), at: second * Self.second)
            #expect(action == .nothing && machine.detour != nil)
        }
        #expect(machine.internetChanged(eth(.full, .full, answers: 4), at: 61 * Self.second) == .changed)
        #expect(machine.detour == nil)
    }

    @Test("UPL-332 The probe is asked over the line after 2, 4, … s, and every 2 s while that is full")
    func asks() {
        var machine = UplinkStateMachine()
        #expect(machine.internetChanged(eth(.limited, .full), at: 0) == .changed)
        #expect(machine.nextDeadline == 2 * Self.second)
        #expect(machine.timeCame(at: 2 * Self.second) == .askProbe("eth0"))
        #expect(machine.nextDeadline == nil)
        // Another uplink's answer is none about the line.
        #expect(machine.internetChanged(eth(.limited, .full), at: 2 * Self.second) == .nothing)
        #expect(machine.nextDeadline == nil)
        #expect(machine.internetChanged(eth(.limited, .full, answers: 2), at: 3 * Self.second) == .nothing)
        #expect(machine.nextDeadline == 5 * Self.second)
        _ = machine.timeCame(at: 5 * Self.second)
        _ = machine.internetChanged(eth(.limited, .full, answers: 3), at: 5 * Self.second)
        #expect(machine.nextDeadline == 9 * Self.second)
        _ = machine.internetChanged(eth(.full, .full, answers: 4), at: 9 * Self.second)
        #expect(machine.nextDeadline == 11 * Self.second)
    }

    @Test("UPL-333 A line that connections found dead is returned to only where the probe agrees")
    func agreement() {
        var machine = UplinkStateMachine()
        let detour = Detour(line: "eth0", uplink: "wwan0", sentence: "eth0 is dead")
        _ = machine.internetChanged(eth(.full, .full), at: 0)
        _ = machine.lineDied(detour, at: 0)
        #expect(machine.internetChanged(eth(.limited, .full, answers: 2), at: 1) == .nothing)
        #expect(machine.detour == detour)
        for time: Int64 in [2, 4, 6, 8] {
            #expect(machine.timeCame(at: time * Self.second) == .tryLine(detour))
            #expect(machine.tried(true, at: time * Self.second) == .nothing)
        }
        #expect(machine.detour == detour)
        // From then on the probe decides.
        #expect(machine.timeCame(at: 10 * Self.second) == .askProbe("eth0"))
        for (index, time) in [Int64(10), 12, 14].enumerated() {
            #expect(
                machine.internetChanged(eth(.full, .full, answers: 3 + index), at: time * Self.second)
                    == .nothing)
        }
        #expect(machine.internetChanged(eth(.full, .full, answers: 6), at: 16 * Self.second) == .changed)
        #expect(machine.detour == nil)
    }

    @Test("UPL-334 Connections that were found dead weigh more than what the probe found before")
    func stale() {
        var machine = UplinkStateMachine()
        let detour = Detour(line: "eth0", uplink: "wwan0", sentence: "eth0 is dead")
        _ = machine.internetChanged(eth(.full, .limited), at: 0)
        _ = machine.lineDied(detour, at: 1)
        #expect(machine.internetChanged(eth(.full, .limited), at: 2) == .nothing)
        #expect(machine.detour == detour)
        // Asked since, the line is full, and the uplink is not.
        #expect(machine.internetChanged(eth(.full, .limited, answers: 2), at: 3) == .changed)
        #expect(machine.detour == nil)
    }

    @Test("UPL-335 Where the uplink dies the next one that is full is used, a free one before one that costs")
    func third() {
        var machine = UplinkStateMachine()
        func three(_ states: InternetState...) -> InternetFindings {
            var found = findings(Array(zip(["eth0", "wwan0", "wlan0"], states)))
            found.uplinks[1].traits.isExpensive = true
            return found
        }
        #expect(machine.internetChanged(three(.limited, .full, .full), at: 0) == .changed)
        #expect(machine.detour?.uplink == "wlan0")
        #expect(machine.internetChanged(three(.limited, .full, .limited), at: 1) == .changed)
        #expect(machine.detour?.uplink == "wwan0" && machine.detour?.traits.isExpensive == true)
        // None is better: it stays until one is found.
        #expect(machine.internetChanged(three(.limited, .limited, .limited), at: 2) == .nothing)
        #expect(machine.detour?.line == "eth0")
    }

    @Test(
        "UPL-336 Findings about another interface than the kernel's choice change nothing, and old ones end")
    func choice() {
        var machine = UplinkStateMachine()
        #expect(machine.internetChanged(eth(.limited, .full), at: 0) == .changed)
        // The first report of the provider is no change of the network.
        #expect(machine.networkChanged(interface: "eth0", generation: 1) == .nothing)
        #expect(machine.detour?.line == "eth0")
        #expect(machine.networkChanged(interface: "wlan0", generation: 2) == .changed)
        #expect(machine.internetChanged(eth(.limited, .full), at: 1) == .nothing)
        #expect(machine.detour == nil)
        // The same findings about a network that has come back are new ones.
        #expect(machine.networkChanged(interface: "eth0", generation: 3) == .nothing)
        #expect(machine.internetChanged(eth(.limited, .full), at: 2) == .changed)
        #expect(machine.networkChanged(interface: "eth0", generation: 4) == .changed)
        #expect(machine.internetChanged(eth(.limited, .full), at: 3) == .changed)
        #expect(machine.detour?.line == "eth0")
    }

    @Test("UPL-337 Findings that were decided upon begin nothing again, and without a probe its verdict ends")
    func known() {
        var machine = UplinkStateMachine()
        _ = machine.internetChanged(eth(.limited, .full), at: 0)
        // A connection has shown that wwan0 is dead, and eth0 works.
        #expect(machine.lineDied(Detour(line: "wwan0", uplink: "eth0", sentence: ""), at: 1) == .changed)
        #expect(machine.detour == nil)
        #expect(machine.internetChanged(eth(.limited, .full, answers: 2), at: 2) == .nothing)
        #expect(machine.detour == nil)
        _ = machine.internetChanged(eth(.full, .full, answers: 3), at: 3)
        #expect(machine.internetChanged(eth(.portal, .full, answers: 4), at: 4) == .changed)
        #expect(machine.internetChanged(InternetFindings(), at: 5) == .changed)
        #expect(machine.detour == nil)
    }

    @Test("UPL-338 What findings mean for a connection: unknown, replaceable, left or dead, with a sentence")
    func standing() {
        let detour = Detour(line: "eth0", uplink: "wwan0", sentence: "")
        #expect(eth(.full, .limited).standing(of: "eth0", detour: nil) == .unknown)
        #expect(eth(.full, .full).standing(of: "eth0", detour: nil) == .replaceable)
        #expect(eth(.limited, .full).standing(of: "eth0", detour: detour) == .left)
        #expect(eth(.full, .full).standing(of: "eth0", detour: detour) == .replaceable)
        #expect(eth(.limited, .full).standing(of: "wwan0", detour: detour) == .unknown)
        #expect(
            eth(.limited, .portal).standing(of: "eth0", detour: nil)
                == .dead("eth0: evidence; wwan0: evidence"))
        // One is still being asked, and eth1 leads somewhere else.
        #expect(eth(.limited, .unknown).standing(of: "eth0", detour: nil) == .unknown)
        #expect(eth(.limited, .limited).standing(of: "eth1", detour: nil) == .unknown)
    }

    @Test("UPL-339 With less patience a connection that is acknowledged still stays")
    func patience() {
        var health = ConnectionHealth()
        health.roundTrip = 20_000_000
        health.roundTripVariation = 10_000_000
        health.unacknowledged = 1
        health.sinceAcknowledgement = Self.second / 2
        func verdict(_ patience: Int64) -> AcknowledgementRules.Verdict {
            AcknowledgementRules.verdict(health, silence: Self.second, patience: patience)
        }
        #expect(verdict(AcknowledgementRules.leastPatience) == .deaf)
        #expect(verdict(AcknowledgementRules.shortPatience) == .waiting)
        health.sinceAcknowledgement = 100_000_000
        #expect(verdict(AcknowledgementRules.leastPatience) == .waiting)
        health.unacknowledged = 0
        #expect(verdict(AcknowledgementRules.leastPatience) == .silent)
        // A probe that left a moment ago.
        (health.probes, health.keepaliveIdle) = (1, Self.second)
        health.sinceAcknowledgement = Self.second + 200_000_000
        #expect(verdict(AcknowledgementRules.leastPatience) == .waiting)
        health.sinceAcknowledgement = Self.second + 250_000_000
        #expect(verdict(AcknowledgementRules.leastPatience) == .deaf)
        // One that left early: the patience counts from the last acknowledgement on.
        health.keepaliveIdle = 100_000_000
        health.sinceAcknowledgement = Self.second - 1
        #expect(verdict(AcknowledgementRules.shortPatience) == .waiting)
        health.sinceAcknowledgement = Self.second
        #expect(verdict(AcknowledgementRules.shortPatience) == .deaf)
    }

    @Test("UPL-340 Where no uplink has internet, only the own line is tried: one answer ends it")
    func alone() {
        var race = LineRaceStateMachine()
        #expect(race.suspected(uplinks: 0, wait: 0, at: 0) == .begin)
        var now: Int64 = 0
        for _ in 1..<LineRaceStateMachine.triesNeeded {
            now = race.nextDeadline ?? now
            #expect(race.timeCame(at: now) == .tryOwnLine)
        }
        now = race.nextDeadline ?? now
        #expect(race.timeCame(at: now) == .lose)
        var other = LineRaceStateMachine()
        _ = other.suspected(uplinks: 0, wait: 0, at: 0)
        #expect(other.ownLineAnswered(at: 1) == .end)
    }

    @Test(
        "UPL-341 What needs the internet waits with that reason and a sentence, with any provider")
    func held() {
        var gate = RequestGateStateMachine()
        let needing = NetworkDemand(.any, needsInternet: true)
        for standing: NetworkFacts.Standing in [.unknown, .online] {
            var facts = NetworkFacts(standing)
            facts.hasInternet = false
            facts.internetSentence = "eth0: no answer in 10 s"
            _ = gate.networkChanged(facts, at: 0)
            #expect(!gate.passable.contains(needing) && gate.passable.contains(.anyPath))
            #expect(!gate.passable.contains(NetworkDemand(.internet)))
            #expect(gate.view.networkReason(needing) == .internet)
            #expect(gate.view.sentence(needing) == "eth0: no answer in 10 s")
            #expect(gate.view.failureSentence(needing) == "there is no internet: eth0: no answer in 10 s")
            facts.hasInternet = true
            #expect(gate.networkChanged(facts, at: 1).opened.contains(needing))
        }
    }

    @Test(
        "UPL-342 One uplink is asked alone without new pauses; a first failure behind full is no answer yet")
    func probe() {
        var machine = UplinkProbeStateMachine()
        var network = UplinkProbeStateMachine.Network()
        network.preferred = .init("eth0")
        network.others = [.init("wwan0")]
        let step = machine.networkChanged(network, at: 0)
        for question in step.questions {
            _ = machine.answered(InternetAnswer(.full), question.id, at: 0)
        }
        #expect(machine.findings.map(\.answers) == [1, 1])
        let asked = machine.asked(about: "eth0").questions
        #expect(asked.map(\.interface) == [nil])
        _ = machine.answered(InternetAnswer(.limited), asked[0].id, at: 1)
        #expect(machine.findings.map(\.answers) == [1, 1])
        let again = machine.timeCame(at: 1 + Self.second).questions
        let spread = machine.answered(InternetAnswer(.limited), again[0].id, at: 2 * Self.second)
        #expect(machine.findings.map(\.answers) == [2, 1])
        // The preferred one has failed, and the others are asked anew.
        for question in spread.questions {
            _ = machine.answered(InternetAnswer(.full), question.id, at: 2 * Self.second)
        }
        #expect(machine.findings.map(\.answers) == [2, 2])
        // Failures double the pause, and questions from elsewhere do not begin it anew.
        let third = machine.asked(about: "eth0").questions
        _ = machine.answered(InternetAnswer(.limited), third[0].id, at: 3 * Self.second)
        #expect(machine.nextDeadline == 5 * Self.second)
        #expect(machine.asked(about: "wwan0").questions.map(\.interface) == ["wwan0"])
        #expect(machine.asked(about: "eth9").questions.isEmpty)
    }

    @Test("UPL-343 A name is asked for elsewhere after 2 s, and its server is tried over the line before it")
    func lookup() {
        var lookup = LookupStateMachine(began: 0)
        #expect(lookup.nextDeadline == 2 * Self.second)
        #expect(lookup.timeCame(hasAddress: false, at: Self.second) == .nothing)
        #expect(lookup.timeCame(hasAddress: false, at: 2 * Self.second) == .ask)
        #expect(lookup.addressFound() == .race)
        #expect(lookup.addressFound() == .nothing)
        // The line works: the system has 5 s in all.
        lookup.ownLineAnswered(at: 3 * Self.second)
        #expect(lookup.nextDeadline == 5 * Self.second)
        #expect(lookup.timeCame(hasAddress: true, at: 5 * Self.second) == .use)
        #expect(lookup.nextDeadline == nil)
        var kept = LookupStateMachine(began: 0)
        #expect(kept.timeCame(hasAddress: true, at: 2 * Self.second) == .race)
    }

    @Test("UPL-344 Where nothing is found it is tried again after 1, 2, … 15 s")
    func lookupAgain() {
        var lookup = LookupStateMachine(began: 0)
        var now = 2 * Self.second
        var pauses: [Int64] = []
        for _ in 0..<6 {
            _ = lookup.timeCame(hasAddress: false, at: now)
            lookup.failed(at: now)
            pauses.append(((lookup.nextDeadline ?? 0) - now) / Self.second)
            now = lookup.nextDeadline ?? now
        }
        #expect(pauses == [1, 2, 4, 8, 15, 15])
        lookup.ownLineAnswered(at: now)
        #expect(lookup.nextDeadline == now)
    }
}
