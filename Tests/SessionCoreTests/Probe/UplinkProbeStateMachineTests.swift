// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// Which uplinks are asked, and over what.
struct UplinkProbeStateMachineTests {
    @Test(
        "UPL-070 the preferred uplink is asked by the kernel's choice, the others over themselves, all at once"
    )
    func start() {
        var run = UplinkTranscript()
        #expect(run.network(.eth0, .wlan0) == "ask eth0, ask wlan0!")
        #expect(run.answer("wlan0", .full) == "")
        #expect(run.answer("eth0", .limited) == "")
        #expect(run.states == "eth0* limited, wlan0 full")
        #expect(run.deadline == 1)
        #expect(run.wait() == "ask eth0")
    }

    @Test("UPL-071 an uplink that comes is asked, one that goes is not; a change elsewhere asks nothing")
    func comingAndGoing() {
        var run = UplinkTranscript()
        #expect(run.network(.eth0) == "ask eth0")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.network(.eth0, .wlan0, isSame: true) == "ask wlan0!")
        #expect(run.network(.eth0, .wlan0, isSame: true) == "")
        #expect(run.network(.eth0, isSame: true) == "abandon 1")
        #expect(run.answer("wlan0", .full) == "")
        #expect(run.states == "eth0* full")
        #expect(run.network(.eth0, .wlan0, isSame: true) == "ask wlan0!")
        #expect(run.answer("wlan0", .portal) == "")
        #expect(run.states == "eth0* full, wlan0 portal")
    }

    @Test("UPL-071 an uplink with another router is another network: what was known of it is worthless")
    func otherRouter() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wlan0)
        _ = run.answer("wlan0", .full)
        var moved = UplinkTranscript.Uplink.wlan0
        moved.gateway = "10.1.0.1"
        #expect(run.network(.eth0, moved, isSame: true) == "ask wlan0!")
        #expect(run.states == "eth0* unknown, wlan0 unknown")
        // So is another link of the same name.
        _ = run.answer("wlan0", .full)
        moved.index = 7
        #expect(run.network(.eth0, moved, isSame: true) == "ask wlan0!")
        #expect(run.states == "eth0* unknown, wlan0 unknown")
    }

    @Test("UPL-072 the kernel turns to another uplink: what is known of both stays, both are asked anew")
    func turn() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wlan0)
        _ = run.answer("eth0", .full)
        _ = run.answer("wlan0", .limited)
        #expect(run.network(.wlan0, .eth0) == "ask wlan0, ask eth0!")
        #expect(run.states == "wlan0* limited, eth0 full")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.answer("wlan0", .full) == "")
        #expect(run.states == "wlan0* full, eth0 full")
        // A question by the kernel's choice says nothing about the former uplink.
        #expect(run.wait() == "ask wlan0, ask eth0!")
        #expect(run.network(.eth0, .wlan0) == "abandon 2, ask eth0, ask wlan0!")
    }

    @Test("UPL-073 a new generation of the preferred path asks that one alone")
    func generation() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wlan0)
        _ = run.answer("eth0", .full)
        _ = run.answer("wlan0", .full)
        #expect(run.network(.eth0, .wlan0) == "ask eth0")
        #expect(run.states == "eth0* unknown, wlan0 full")
    }

    @Test("UPL-074 an expensive uplink is asked only while the preferred one fails")
    func expensive() {
        var run = UplinkTranscript()
        #expect(run.network(.eth0, .wwan0) == "ask eth0")
        #expect(run.reason("wwan0") == "not asked: its traffic costs")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.hurry() == "ask eth0")
        #expect(run.answer("eth0", .limited) == "")
        #expect(run.wait() == "ask eth0")
        #expect(run.answer("eth0", .limited) == "ask wwan0!")
        #expect(run.answer("wwan0", .full) == "")
        #expect(run.states == "eth0* limited, wwan0 full")
        #expect(run.wait() == "ask eth0")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.states == "eth0* full, wwan0 unknown")
        #expect(run.deadline == 600)
        #expect(run.wait() == "ask eth0")
        // The portal of another is a failure as well.
        #expect(run.answer("eth0", .portal) == "ask wwan0!")
    }

    @Test("UPL-075 when the preferred uplink fails, what is known of the others is asked for anew")
    func failure() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wlan0)
        _ = run.answer("eth0", .full)
        _ = run.answer("wlan0", .full)
        _ = run.pass(300)
        #expect(run.hurry() == "ask eth0, ask wlan0!")
        _ = run.answer("wlan0", .full)
        #expect(run.answer("eth0", .limited) == "")
        #expect(run.wait() == "ask eth0")
        #expect(run.answer("eth0", .limited) == "ask wlan0!")
    }

    @Test("UPL-076 nothing is asked around a tunnel in use, or without a path in use")
    func tunnel() {
        var run = UplinkTranscript()
        #expect(run.network(.wg0, .eth0, isTunnel: true) == "ask wg0")
        #expect(run.reason("eth0") == "not asked: wg0 is a tunnel, and nothing goes around it")
        #expect(run.answer("wg0", .limited) == "")
        #expect(run.network(.eth0, isUsable: false) == "")
        #expect(run.states == "-* none, eth0 unknown")
        #expect(run.reason("eth0") == "not asked: there is no path in use")
        #expect(run.hurry() == "")
        #expect(run.deadline == nil)
        #expect(run.network(.eth0) == "ask eth0")
    }

    @Test("UPL-078 an uplink that stands in for the kernel's dead choice is asked over itself")
    func alternative() {
        var run = UplinkTranscript()
        #expect(run.network(.eth0) == "ask eth0")
        #expect(run.network(.wlan0, isAlternative: true) == "abandon 1, ask wlan0!")
        #expect(run.answer("wlan0", .limited) == "")
        #expect(run.wait() == "ask wlan0!")
    }

    @Test("UPL-077 stopped, nothing is known or asked; it can begin again")
    func stop() {
        var run = UplinkTranscript()
        _ = run.network(.eth0, .wlan0)
        _ = run.answer("eth0", .full)
        #expect(run.stop() == "abandon 1")
        #expect(run.states == "-* unknown")
        #expect(run.deadline == nil)
        #expect(run.answer("wlan0", .full) == "")
        #expect(run.network(.eth0, .wlan0) == "ask eth0, ask wlan0!")
    }
}
