// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// How often uplinks are asked: where something waits, where traffic costs, and with other pauses.
struct UplinkProbePauseTests {
    @Test("UPL-441 an expensive uplink that a client waits for is asked as any other, and only as long")
    func wanted() {
        var run = UplinkTranscript()
        #expect(run.network(.eth0, .wwan0) == "ask eth0")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.network(.eth0, .wwan0, isSame: true, wanted: ["wwan0"]) == "ask wwan0!")
        #expect(run.answer("wwan0", .limited) == "")
        #expect(run.deadline == 1)
        #expect(run.network(.eth0, .wwan0, isSame: true) == "")
        #expect(run.reason("wwan0") == "not asked: its traffic costs")
        var patient = UplinkTranscript(expensivePause: 3600)
        #expect(patient.network(.eth0, .wwan0, wanted: ["wwan0"]) == "ask eth0, ask wwan0!")
        #expect(patient.answer("eth0", .full) == "")
        #expect(patient.answer("wwan0", .limited) == "")
        #expect(patient.deadline == 1)
    }

    @Test("UPL-074 with a pause of its own it is asked rarely while the preferred one works")
    func expensivePause() {
        var run = UplinkTranscript(expensivePause: 3600)
        #expect(run.network(.eth0, .wwan0) == "ask eth0, ask wwan0!")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.answer("wwan0", .limited) == "")
        for _ in 0..<5 {
            #expect(run.wait() == "ask eth0")
            #expect(run.answer("eth0", .full) == "")
        }
        #expect(run.wait() == "ask eth0, ask wwan0!")
        // Needed, it is asked as often as any other.
        #expect(run.answer("eth0", .portal) == "")
        #expect(run.answer("wwan0", .limited) == "")
        #expect(run.wait() == "ask eth0")
        #expect(run.deadline == 1)
        #expect(run.wait() == "ask wwan0!")
        // Preferred, it is asked as any other.
        #expect(run.network(.wwan0, .eth0) == "abandon 2, ask wwan0, ask eth0!")
        #expect(run.answer("wwan0", .limited) == "")
        #expect(run.deadline == 1)
    }

    @Test("UPL-400 while something waits for the internet it is asked for every 15 s at the latest")
    func awaited() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wlan0)
        _ = run.answer("wlan0", .full)
        _ = run.answer("eth0", .limited)
        for _ in 0..<8 {
            #expect(run.wait() == "ask eth0")
            #expect(run.answer("eth0", .limited) == "")
        }
        #expect(run.deadline == 256)
        #expect(run.pass(10) == "")
        #expect(run.await(true) == "")
        #expect(run.deadline == 5)
        #expect(run.wait() == "ask eth0")
        #expect(run.answer("eth0", .limited) == "")
        #expect(run.deadline == 15)
        // Where it has waited longer than that already, it is asked at once.
        #expect(run.await(false) == "")
        #expect(run.pass(100) == "")
        #expect(run.await(true) == "")
        #expect(run.deadline == 0)
        #expect(run.wait() == "ask eth0")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.await(false) == "")
        // Then it is wlan0's turn.
        #expect(run.deadline == 230)
    }

    @Test("UPL-400 each question over an expensive uplink costs: its pauses stay, though something waits")
    func awaitedExpensive() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wwan0)
        #expect(run.answer("eth0", .limited) == "ask wwan0!")
        _ = run.answer("wwan0", .limited)
        // Both alike, until their pauses are long.
        for _ in 0..<8 {
            _ = run.wait()
            _ = run.answer("eth0", .limited)
            _ = run.answer("wwan0", .limited)
        }
        #expect(run.await(true) == "")
        #expect(run.deadline == 15)
        for _ in 0..<3 {
            #expect(run.wait() == "ask eth0")
            #expect(run.answer("eth0", .limited) == "")
        }
        // One that is in use and has no interval of its own is waited for like any other.
        _ = run.network(.wwan0)
        for _ in 0..<8 {
            _ = run.answer("wwan0", .limited)
            _ = run.wait()
        }
        _ = run.answer("wwan0", .limited)
        #expect(run.deadline == 15)
        #expect(run.set(expensivePause: 3600) == "")
        #expect(run.deadline == 256)
    }

    @Test("UPL-401 other pauses forget nothing and ask nothing; those that have begun are others too")
    func otherPauses() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wlan0)
        _ = run.answer("eth0", .full)
        _ = run.answer("wlan0", .full)
        #expect(run.pass(50) == "")
        #expect(run.set(full: 60) == "")
        #expect(run.states == "eth0* full, wlan0 full")
        #expect(run.deadline == 10)
        #expect(run.set(full: 3600) == "")
        #expect(run.deadline == 3550)
        #expect(run.set(full: 20) == "")
        #expect(run.wait() == "ask eth0, ask wlan0!")
        // The longest pause too.
        _ = run.answer("wlan0", .full)
        _ = run.answer("eth0", .portal)
        #expect(run.set() == "")
        for _ in 0..<4 {
            #expect(run.wait() == "ask eth0")
            #expect(run.answer("eth0", .portal) == "")
        }
        #expect(run.deadline == 16)
        #expect(run.states == "eth0* portal, wlan0 full")
        #expect(run.set(longest: 2) == "")
        #expect(run.deadline == 2)
        // A confirmation is not put off.
        _ = run.wait()
        _ = run.answer("eth0", .full)
        _ = run.hurry()
        #expect(run.answer("eth0", .limited) == "")
        #expect(run.set(full: 3600) == "")
        #expect(run.deadline == 1)
    }

    @Test("UPL-401 an interval for expensive uplinks has them asked, and without one they are not any more")
    func otherExpensivePause() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wwan0)
        _ = run.answer("eth0", .full)
        #expect(run.set(expensivePause: 3600) == "ask wwan0!")
        #expect(run.answer("wwan0", .full) == "")
        #expect(run.set() == "")
        #expect(run.states == "eth0* full, wwan0 unknown")
    }

    @Test("UPL-402 an expensive uplink in use is asked rarely while it works, where that is wanted")
    func expensiveInUse() {
        var run = UplinkTranscript(expensivePause: 3600)
        #expect(run.network(.wwan0) == "ask wwan0")
        #expect(run.answer("wwan0", .limited) == "")
        #expect(run.deadline == 1)
        #expect(run.wait() == "ask wwan0")
        #expect(run.answer("wwan0", .full) == "")
        #expect(run.deadline == 3600)
        // A cheap one takes its place.
        #expect(run.network(.eth0) == "ask eth0")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.deadline == 600)
        var other = UplinkTranscript()
        _ = other.network(.wwan0)
        _ = other.answer("wwan0", .full)
        #expect(other.deadline == 600)
    }
}
