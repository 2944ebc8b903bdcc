// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// Draws a gate along a line of marbles, a step of 50 ms each.
///
/// In: `e` a wire carries the path, `w` Wi-Fi, `c` a modem, `x` nothing, `r` nothing but an alternative, `v`
/// one that is known to be Wi-Fi without a price, `m` a modem that is asked for, `l` none of those, `?`
/// unknown, `p` the user pauses, `g` lets it go on, `k` a certificate shows a wrong clock, `s` the clock was
/// set, `-` nothing happens. Out, for one demand: `O` open, `B` open and bound, `n` held by the network, `s`
/// settling, `c` by a condition, `i` by the internet, `t` by the clock, `u` by the user, `2` by the user and
/// the network.
private struct GateMarbles {
    var demand = NetworkDemand.anyPath
    var rescue = RescuePolicy.automatic
    var step: Int64 = 50_000_000
    var hasInternet: Bool?
    /// When something changed for the demand: the step's number and whether it opened.
    private(set) var changes: [String] = []

    mutating func run(_ line: String) -> String {
        var gate = RequestGateStateMachine()
        var now: Int64 = 1_000_000_000
        _ = gate.rescuePolicyChanged(rescue, at: now)
        var output = ""
        for letter in line {
            record(happen(letter, &gate, now))
            let end = now + step
            while let deadline = gate.nextDeadline, deadline < end {
                record(gate.deadlineReached(at: deadline))
            }
            now = end
            output.append(draw(gate.view, gate.binding))
        }
        return output
    }

    private func happen(_ letter: Character, _ gate: inout RequestGateStateMachine, _ now: Int64)
        -> RequestGateStateMachine.Change
    {
        switch letter {
        case "-": return .init()
        case "p":
            _ = gate.paused()
            return .init()
        case "g":
            _ = gate.resumed()
            return .init()
        case "k", "s": return gate.clockChanged(isWrong: letter == "k")
        default: return gate.networkChanged(facts(letter), at: now)
        }
    }

    private func facts(_ letter: Character) -> NetworkFacts {
        var facts = NetworkFacts(letter == "?" ? .unknown : "xrvl".contains(letter) ? .offline : .online)
        facts.isWiFi = letter == "w"
        facts.isWired = letter == "e"
        facts.isExpensive = letter == "c" || letter == "m"
        facts.isRequired = letter == "l" || letter == "m"
        facts.interface = letter == "m" ? "wwan0" : nil
        facts.alternative = letter == "r" || letter == "v" ? "wlan0" : nil
        facts.isAlternativeWiFi = letter == "v"
        facts.isAlternativeExpensive = letter != "v"
        facts.hasInternet = hasInternet
        facts.sentence = "eth0: no carrier"
        return facts
    }

    private mutating func record(_ change: RequestGateStateMachine.Change) {
        if change.closed.contains(demand) { changes.append("closed") }
        if change.opened.contains(demand) { changes.append("opened") }
    }

    private func draw(_ view: GateView, _ binding: PathBinding) -> Character {
        switch view.reasons(demand) {
        case []: binding == .any ? "O" : "B"
        case [.user]: "u"
        case [.network("eth0: no carrier")]: "n"
        case [.settling]: "s"
        case let one where one.count == 1 && one[0].isCondition: "c"
        case [.internet]: "i"
        case [.clock]: "t"
        case let several where several.count == 2 && several[0] == .user: "2"
        default: "!"
        }
    }
}

@Suite struct RequestGateTests {
    private func gate(
        _ line: String, _ demand: NetworkDemand = .anyPath, _ rescue: RescuePolicy = .automatic,
        internet: Bool? = nil
    ) -> String {
        var marbles = GateMarbles(demand: demand, rescue: rescue)
        marbles.hasInternet = internet
        return marbles.run(line)
    }

    @Test("RS-125 AF-230 what is unknown holds nothing back")
    func unknown() {
        #expect(gate("-?-e-") == "OOOOO")
        #expect(gate("x-?-") == "nnOO")
    }

    @Test func aLossHoldsAtOnceAndAReturnHasToLast() {
        #expect(gate("e-x-e---") == "OOnnssOO")
        // Broken in between: from the beginning.
        #expect(gate("x-exe---") == "nnsnssOO")
        // A change of the medium does not begin it anew.
        #expect(gate("x-ew--") == "nnssOO")
    }

    @Test("RS-128 a change of the medium never holds")
    func handOver() {
        var marbles = GateMarbles()
        #expect(marbles.run("w-e-w") == "OOOOO")
        #expect(marbles.changes.isEmpty)
    }

    @Test("RS-126 a loss holds once and lets go once")
    func once() {
        var marbles = GateMarbles()
        #expect(marbles.run("e-xxx-e---") == "OOnnnnssOO")
        #expect(marbles.changes == ["closed", "opened"])
    }

    @Test func whatComesAndGoesHasToLastLonger() {
        #expect(gate("exexexe----------") == "OnsnsnssssssssssO")
        // Long ago: as at the first time.
        let calm = String(repeating: "-", count: 60)
        #expect(gate("exexexe" + calm + "xe---").hasSuffix("nssOO"))
    }

    @Test("AF-233 20 flips in a second let nothing out")
    func flips() {
        var marbles = GateMarbles()
        marbles.step = 25_000_000
        let drawn = marbles.run(
            "x" + String(repeating: "ex", count: 20) + "e" + String(repeating: "-", count: 20))
        #expect(!drawn.dropLast(2).contains("O"))
        #expect(drawn.hasSuffix("O"))
        #expect(marbles.changes == ["closed", "opened"])
    }

    @Test("AF-229 the user's pause and the network's are two")
    func twoReasons() {
        #expect(gate("xp-e---g") == "n2222uuO")
        #expect(gate("p-x-g--") == "uu22nnn")
        #expect(gate("pe-g") == "uuuO")
    }

    @Test func conditions() {
        #expect(gate("ewc?x", NetworkDemand(.wifiOrWired)) == "OOcOn")
        #expect(gate("ewc?x", NetworkDemand(.wiredOnly)) == "OccOn")
        #expect(gate("ewc?x", NetworkDemand(.notExpensive)) == "OOcOn")
        #expect(gate("ewc?x", NetworkDemand(.any, avoidsExpense: true)) == "OOcOn")
        #expect(gate("ewc?x") == "OOOOn")
        #expect(gate("ewc?x", .nothing) == "OOOOO")
    }

    @Test("RS-130 a portal holds what asks for the internet, and nothing else")
    func internet() {
        let asking = NetworkDemand(.any, needsInternet: true)
        #expect(gate("w-x", asking, internet: false) == "iin")
        #expect(gate("w-", asking, internet: true) == "OO")
        #expect(gate("w-", asking) == "OO")
        #expect(gate("w-", internet: false) == "OO")
    }

    @Test("UPL-151 a wrong clock holds what a certificate was refused for, until it is set, and nothing else")
    func clock() {
        let refused = NetworkDemand(.any, needsClock: true)
        #expect(gate("ek-s-k", refused) == "OttOOt")
        #expect(gate("ek-s-k") == "OOOOOO")
        #expect(gate("ek-s", .nothing) == "OOOO")
        // Whatever the network does, and before anything is known of it.
        #expect(gate("?k?ew-x-e---s", refused) == "Otttttnnsst" + "tO")
        #expect(gate("ekps-g", refused) == "Ot2uuO")
        #expect(gate("cks", NetworkDemand(.wiredOnly, needsClock: true)) == "ctc")
        #expect(
            gate("wks", NetworkDemand(.any, needsInternet: true, needsClock: true), internet: false) == "iti")
        #expect(HoldReason.clock.description == "waiting for the clock to be set")
    }

    @Test func rescuePath() {
        #expect(gate("er-e-") == "OBBOO")
        #expect(gate("er-e-", .anyPath, .never) == "Onnss")
        #expect(gate("er-x-e", .anyPath, .always(interface: "wlan0")) == "BBBnns")
        // Of the alternative nothing is known but its name.
        #expect(gate("er-e", NetworkDemand(.wiredOnly)) == "OccO")
        #expect(gate("er-e", NetworkDemand(.any, avoidsExpense: true)) == "OccO")
        // Where more is known, that counts.
        #expect(gate("ev-e", NetworkDemand(.wiredOnly)) == "OccO")
        #expect(gate("ev-e", NetworkDemand(.wifiOrWired)) == "OBBO")
        #expect(gate("ev-e", NetworkDemand(.any, avoidsExpense: true)) == "OBBO")
        // It has to last as well when it comes later than the loss.
        #expect(gate("exr--") == "OnssB")
    }

    @Test("UPL-140 a network that is asked for: bound while it has a path, held without, whatever the rescue")
    func required() {
        for rescue in [RescuePolicy.automatic, .never, .always(interface: "wlan0")] {
            #expect(gate("ml-m---", .anyPath, rescue) == "BnnssBB")
        }
        #expect(gate("ml-m---", NetworkDemand(.any, avoidsExpense: true)) == "cnnsscc")
        #expect(gate("ml-m---", .nothing) == "BOOBBBB")
        var gate = RequestGateStateMachine()
        // Nothing leaves before the first report.
        #expect(gate.sourceChanged(isRequired: true).closed.contains(.anyPath))
        #expect(gate.rescuePolicyChanged(.automatic, at: 0).opened.isEmpty)
    }

    @Test func anotherSourceBeginsAnew() {
        var gate = RequestGateStateMachine()
        _ = gate.networkChanged(NetworkFacts(.offline), at: 0)
        #expect(gate.sourceChanged().opened.contains(.anyPath))
        #expect(!gate.networkChanged(NetworkFacts(.online), at: 1).closed.contains(.anyPath))
        #expect(gate.nextDeadline == nil)
    }
}

extension HoldReason {
    fileprivate var isCondition: Bool { if case .condition = self { true } else { false } }
}
