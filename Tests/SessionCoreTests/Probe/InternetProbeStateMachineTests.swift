// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// Runs a probe's machine: what goes in, and what comes out as words.
private struct Transcript: ~Copyable {
    private var machine: InternetProbeStateMachine
    private var now: Int64 = 0
    private(set) var deadline: Int64?
    private(set) var question = 0

    init(_ timing: InternetProbeStateMachine.Timing = .init()) {
        machine = InternetProbeStateMachine(timing: timing)
    }

    mutating func path(_ isUsable: Bool, _ generation: UInt64 = 1) -> String {
        record(machine.pathChanged(isUsable: isUsable, generation: generation, at: now))
    }
    mutating func answer(_ state: InternetState, to number: Int? = nil) -> String {
        record(machine.answered(InternetAnswer(state), question: number ?? question, at: now))
    }
    mutating func hurry() -> String { record(machine.hurried()) }
    mutating func withhold() -> String { record(machine.withheld("not asked: it costs", at: now)) }
    mutating func reroute(_ generation: UInt64) -> String {
        record(machine.rerouted(generation: generation, at: now))
    }
    var known: InternetAnswer { machine.known }
    /// Since when the state holds, in seconds.
    var since: Double { Double(machine.since) / 1e9 }
    mutating func stop() -> String { record(machine.stopped(at: now)) }
    /// Lets so many seconds pass.
    mutating func pass(_ seconds: Double) -> String {
        now += Int64(seconds * 1e9)
        return record(machine.timeCame(at: now))
    }
    /// Lets the deadline come.
    mutating func wait() -> String {
        guard let deadline else { return "nothing to wait for" }
        return pass(Double(deadline - now) / 1e9)
    }

    private mutating func record(_ step: InternetProbeStateMachine.Step) -> String {
        deadline = step.deadline
        var words: [String] = []
        if step.abandons { words.append("abandon") }
        if let number = step.question {
            question = number
            words.append("ask")
        }
        if let state = step.state { words.append("\(state)") }
        if let deadline = step.deadline {
            let milliseconds = (deadline - now) / 1_000_000
            words.append("in \(Double(milliseconds) / 1000)")
        }
        return words.joined(separator: " ")
    }
}

struct InternetProbeStateMachineTests {
    @Test("the pauses are those of the settings")
    func ownPauses() {
        var timing = InternetProbeStateMachine.Timing()
        timing.fullPause = 7_000_000_000
        timing.firstPause = 2_000_000_000
        timing.longestPause = 5_000_000_000
        var run = Transcript(timing)
        #expect(run.path(true) == "ask")
        #expect(run.answer(.full) == "full in 7.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 1.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "limited in 2.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 4.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 5.0")
    }

    @Test("a path is asked about at once, and again now and then while all is well")
    func full() {
        var run = Transcript()
        #expect(run.path(true) == "ask")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.full) == "in 600.0")
    }

    @Test("while it is not full, pauses double from 1 to 300 seconds, and begin anew behind a full one")
    func backOff() {
        var run = Transcript()
        #expect(run.path(true) == "ask")
        #expect(run.answer(.limited) == "limited in 1.0")
        for pause in ["2.0", "4.0", "8.0", "16.0", "32.0", "64.0", "128.0", "256.0", "300.0", "300.0"] {
            #expect(run.wait() == "ask")
            #expect(run.answer(.limited) == "in \(pause)")
        }
        #expect(run.wait() == "ask")
        #expect(run.answer(.portal) == "portal in 300.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 1.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "limited in 1.0")
    }

    @Test("UPL-060 one failure does not end full; a second one does, asked a second later")
    func confirmed() {
        var run = Transcript()
        #expect(run.path(true) == "ask")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 1.0")
        #expect(run.known.state == .full)
        // The line was busy.
        #expect(run.wait() == "ask")
        #expect(run.answer(.full) == "in 600.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 1.0")
        // A failing transfer brings the second question no sooner.
        #expect(run.hurry() == "in 1.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "limited in 1.0")
    }

    @Test("UPL-061 one answer is enough for the first knowledge, for a portal and for the way back")
    func oneIsEnough() {
        var run = Transcript()
        #expect(run.path(true, 1) == "ask")
        #expect(run.answer(.limited) == "limited in 1.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.portal) == "portal in 1.0")
        // A portal that is slow once is a portal still, which plain http is kept from.
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 1.0")
        #expect(run.known.state == .portal)
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "limited in 2.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.portal) == "portal in 4.0")
        // A doubt is of one path.
        #expect(run.path(true, 2) == "ask unknown")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 1.0")
        #expect(run.path(true, 3) == "ask unknown")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.wait() == "ask")
        #expect(run.answer(.limited) == "in 1.0")
    }

    @Test("UPL-062 since when a state holds stays as it is while only the evidence changes")
    func since() {
        var run = Transcript()
        _ = run.pass(5)
        _ = run.path(true)
        _ = run.pass(2)
        #expect(run.answer(.limited) == "limited in 1.0")
        #expect(run.since == 7)
        _ = run.wait()
        _ = run.pass(3)
        #expect(run.answer(.limited) == "in 2.0")
        #expect(run.since == 7)
        _ = run.wait()
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.since == 13)
    }

    @Test("UPL-063 what is withheld is not asked, says why, and is asked at once afterwards")
    func withheld() {
        var run = Transcript()
        #expect(run.withhold() == "")
        #expect(run.known.reason == "not asked: it costs")
        #expect(run.pass(1000) == "")
        #expect(run.hurry() == "")
        #expect(run.path(true) == "ask")
        #expect(run.withhold() == "abandon")
        #expect(run.path(true) == "ask")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.withhold() == "unknown")
        #expect(run.path(true) == "ask")
    }

    @Test("UPL-064 asked another way, what is known stays, and is asked for at once")
    func rerouted() {
        var run = Transcript()
        #expect(run.path(true, 1) == "ask")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.reroute(9) == "ask")
        #expect(run.known.state == .full)
        #expect(run.path(true, 9) == "")
        #expect(run.reroute(10) == "abandon ask")
        #expect(run.answer(.limited) == "in 1.0")
        #expect(run.path(true, 11) == "ask unknown")
    }

    @Test("another path: the question under way is worthless, its answer too, and the pauses begin anew")
    func change() {
        var run = Transcript()
        #expect(run.path(true, 1) == "ask")
        #expect(run.answer(.limited) == "limited in 1.0")
        #expect(run.wait() == "ask")
        let former = run.question
        #expect(run.path(true, 2) == "abandon ask unknown")
        #expect(run.answer(.full, to: former) == "")
        #expect(run.answer(.limited) == "limited in 1.0")
        #expect(run.path(true, 3) == "ask unknown")
    }

    @Test("a change of the path that leaves connections as they are asks nothing and keeps the deadline")
    func same() {
        var run = Transcript()
        #expect(run.path(true) == "ask")
        #expect(run.path(true) == "")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.path(true) == "in 600.0")
        #expect(run.pass(100) == "in 500.0")
    }

    @Test("without a path nothing is asked; with its return at once, also with the same generation")
    func offline() {
        var run = Transcript()
        #expect(run.path(false) == "none")
        #expect(run.pass(1000) == "")
        #expect(run.hurry() == "")
        #expect(run.path(true) == "ask unknown")
        #expect(run.path(false) == "abandon none")
        #expect(run.answer(.full) == "")
        #expect(run.path(true) == "ask unknown")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.path(false) == "none")
    }

    @Test("who is in a hurry gets an answer now, and no second question")
    func hurry() {
        var run = Transcript()
        #expect(run.hurry() == "")
        #expect(run.path(true) == "ask")
        #expect(run.hurry() == "")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.hurry() == "ask")
        #expect(run.answer(.limited) == "in 1.0")
    }

    @Test("stopped: nothing is known, late answers and deadlines change nothing; it can begin again")
    func stop() {
        var run = Transcript()
        #expect(run.path(true) == "ask")
        #expect(run.stop() == "abandon")
        #expect(run.answer(.full) == "")
        #expect(run.path(true) == "ask")
        #expect(run.answer(.full) == "full in 600.0")
        #expect(run.stop() == "unknown")
        #expect(run.pass(1000) == "")
    }
}
