// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@Suite struct `The machine of a request` {
    private var marbles = RequestMarbles()

    @Test mutating func `An exchange is sent, answered and finished`() {
        #expect(marbles.actions("she") == ">-.")
        #expect(marbles.states == "srp")
    }

    @Test mutating func `A question about the first request delays it`() {
        #expect(marbles.actions("qas") == "-a>")
        #expect(marbles.states == "aps")
    }

    @Test mutating func `Cancelled while something is asked, the answer is late`() {
        #expect(marbles.actions("shcqxa") == ">-c-x~")
        #expect(marbles.states == "srpa..")
    }

    @Test mutating func `Cancelled in any state, nothing happens afterwards`() {
        for before in ["", "s", "sh", "shq", "shqe", "shcq", "su", "p", "b"] {
            let after = marbles.actions(before + "xsShdebEtuUpPx").suffix(14)
            #expect(after == "x-------------", "after \(before)")
        }
    }

    @Test(
        "UPL-470 Each event in each state leads to the state of the table",
        arguments: [
            ("s", "swsrdab."), ("h", "pwrrdab."), ("q", "awdddab."), ("d", "pwsrrab."), ("e", "pwppDab."),
            ("E", "pwpppab."), ("b", "bwsrdab."), ("t", "pwsrdap."), ("u", "pwsrdab."), ("U", "ppsrdab."),
            ("p", "PWWWWAB."), ("P", "pwsrdab."), ("x", "........"),
        ])
    func table(event: String, states: String) {
        var (marbles, reached) = (RequestMarbles(), "")
        for before in ["", "us", "s", "sh", "shq", "q", "b", "x"] {
            _ = marbles.actions(before + event)
            reached += marbles.states.suffix(1)
        }
        #expect(reached == states)
    }

    @Test("UPL-471 Only a request that is being prepared is sent, so that no exchange has a second beside it")
    mutating func sentOnce() {
        #expect(marbles.actions("ss") == ">-")
        for before in ["us", "sh", "shq", "shqe", "q", "b", "x"] {
            #expect(marbles.actions(before + "s").last == "-", "after \(before)")
        }
    }

    @Test mutating func `A delegate decides while the content waits`() {
        #expect(marbles.actions("shqade") == ">--a=.")
        #expect(marbles.states == "srddrp")
    }

    @Test mutating func `A response that is whole before the decision is concluded after it`() {
        #expect(marbles.actions("shqeade") == ">---a*.")
        #expect(marbles.states == "srdDDrp")
    }

    @Test mutating func `A second question about the same head makes the first one late`() {
        #expect(marbles.actions("shqqlad") == ">---~a=")
    }

    @Test mutating func `A second answer to the same question does not count`() {
        #expect(marbles.actions("qaa") == "-a~")
        #expect(marbles.actions("shqada") == ">--a=~")
    }

    @Test mutating func `A question before the head is decided about as well`() {
        #expect(marbles.actions("sqad") == ">-a=")
        #expect(marbles.states == "sddr")
    }

    @Test mutating func `An exchange that breaks while a delegate decides makes the decision late`() {
        #expect(marbles.actions("shqEa") == ">--F~")
        #expect(marbles.states == "srdpp")
    }

    @Test mutating func `Suspended before it is sent, it waits for the user`() {
        #expect(marbles.actions("us-U") == "---1")
        #expect(marbles.states == "pwwp")
    }

    @Test mutating func `Suspended while it is sent, its bytes stop`() {
        #expect(marbles.actions("suUhe") == ">|:-.")
        #expect(marbles.actions("sUuuUU") == ">-|-:-")
    }

    @Test mutating func `Suspended while parked, both have to let it go on`() {
        #expect(marbles.actions("spuPU") == ">x--1")
        #expect(marbles.states == "sWWwp")
        #expect(marbles.actions("spuUP") == ">x--1")
    }

    @Test
    mutating func
        `Suspended while a challenge is asked, then the path is lost, then resumed: it waits for the path`()
    {
        #expect(marbles.actions("shcqupaUsP") == ">-c---a--1")
        #expect(marbles.states == "srpaaAPPWp")
    }

    @Test mutating func `The network is gone before anything is sent`() {
        #expect(marbles.actions("S-Ps") == "n-1>")
        #expect(marbles.states == "WWps")
    }

    @Test mutating func `A connection that failed on a new path is made again after its delay`() {
        #expect(marbles.actions("sRts") == ">r1>")
        #expect(marbles.states == "sbps")
        #expect(marbles.actions("sRutU") == ">r--1")
        #expect(marbles.states == "sbbwp")
    }

    @Test mutating func `A path that is lost after the response was whole loses nothing`() {
        #expect(marbles.actions("shqepdpe") == ">----*-.")
        #expect(marbles.states == "srdDDRRP")
    }

    @Test mutating func `A path that is lost while a reconnection waits is waited for instead`() {
        #expect(marbles.actions("sRptP") == ">rk-1")
        #expect(marbles.states == "sbWWp")
    }

    @Test mutating func `A path that is lost while a retry waits leaves the timer running`() {
        #expect(marbles.actions("sEbpt-s-P") == ">F--0---1")
        #expect(marbles.states == "spbBPPWWp")
    }

    @Test mutating func `A redirect is followed after the path that was lost meanwhile`() {
        marbles.progress.interruption.hasHead = true
        marbles.progress.interruption.isPreliminary = true
        marbles.progress.hasRedirect = true
        #expect(marbles.actions("shpP") == ">-x2")
    }

    @Test
    mutating func `A path that is lost after the redirect's response is waited for by the next request`() {
        #expect(marbles.actions("shfpsP") == ">-f--1")
    }

    @Test mutating func `A request that must not be sent twice fails with the path`() {
        marbles.progress = ExchangeProgress(Interruption(isIdempotent: false))
        #expect(marbles.actions("sp") == ">!")
        #expect(marbles.states == "sP")
    }

    @Test mutating func `A body that was read and cannot be read again is asked for anew`() {
        marbles.progress.isBodySpent = true
        #expect(marbles.actions("spP") == ">x3")
    }

    @Test mutating func `The request of a redirect follows the path, whatever became of the body before`() {
        marbles.progress.hasRedirect = true
        marbles.progress.isBodySpent = true
        #expect(marbles.actions("spP") == ">x2")
    }

    @Test mutating func `A file is resumed with the missing bytes`() {
        marbles.progress.interruption.hasHead = true
        marbles.progress.interruption.content = .file(bytes: 1000)
        marbles.progress.interruption.canContinue = true
        #expect(marbles.actions("shpP") == ">-x4")
    }

    @Test mutating func `A question is forgotten with the exchange that it was about`() {
        #expect(marbles.actions("shqpaP") == ">--x~1")
    }

    @Test
    mutating func
        `The user's hold and the network's stop its limit of time, and so does the wait for a connection`()
    {
        var machine = RequestStateMachine()
        var timed: [Bool] = [machine.isTimed]
        _ = machine.suspended()
        timed.append(machine.isTimed)
        _ = machine.resumed()
        let begins = machine.waits(forConnection: true)
        let isNews = machine.waits(forConnection: true)
        timed.append(machine.isTimed)
        _ = machine.waits(forConnection: false)
        timed.append(machine.isTimed)
        _ = machine.parked(marbles.progress)
        timed.append(machine.isTimed)
        _ = machine.unparked()
        timed.append(machine.isTimed)
        _ = machine.finished()
        timed.append(machine.isTimed)
        #expect(timed == [true, false, false, true, false, true, false])
        #expect(begins && !isNews)
    }

    @Test func `A wait for a connection keeps nothing from being sent, and ends with the task`() {
        var machine = RequestStateMachine()
        _ = machine.waits(forConnection: true)
        let action = machine.ready(isBlocked: false)
        _ = machine.finished()
        let waited = machine.waits(forConnection: false)
        let holds = machine.holds
        #expect(action == .send && holds.isEmpty && !waited)
    }

    @Test(
        "UPL-472 The wait for the clock or the internet ends with the network's hold, and is none by itself")
    func needs() {
        var machine = RequestStateMachine()
        var failure = FailedTry()
        (failure.isForClock, failure.stepWhenReachable) = (true, .request)
        var holds: [RequestStateMachine.Holds] = []
        _ = machine.failed(failure)
        holds.append(machine.holds)
        _ = machine.unparked()
        _ = machine.parked(marbles.progress, needsInternet: true)
        holds.append(machine.holds)
        _ = machine.unparked()
        holds.append(machine.holds)
        failure.stepWhenReachable = nil
        _ = machine.failed(failure)
        holds.append(machine.holds)
        #expect(holds == [[.network, .clock], [.network, .internet], [], []])
    }

    @Test("UPL-473 A finished task waits for no connection")
    func waitsNoMore() {
        var machine = RequestStateMachine()
        _ = machine.finished()
        let isNews = machine.waits(forConnection: true)
        let holds = machine.holds
        #expect(!isNews && holds.isEmpty)
    }

    @Test func `A finished request is held and let go by nothing`() {
        var machine = RequestStateMachine()
        _ = machine.finished()
        _ = (machine.suspended(), machine.parked(marbles.progress))
        var holds = [machine.holds]
        var held = RequestStateMachine()
        _ = (held.suspended(), held.parked(marbles.progress), held.finished())
        _ = (held.resumed(), held.unparked())
        holds.append(held.holds)
        #expect(holds == [[], [.user, .network]])
    }
}
