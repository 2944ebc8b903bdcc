// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// Runs a machine of several uplinks: what goes in, and what comes out as words.
///
/// "ask eth0" is a question by the kernel's choice, "ask wlan0!" one that is bound.
private struct Transcript: ~Copyable {
    typealias Uplink = UplinkProbeStateMachine.Uplink

    private var machine: UplinkProbeStateMachine
    private var now: Int64 = 0
    /// The newest question of each uplink.
    private var questions: [String: UplinkProbeStateMachine.QuestionID] = [:]
    private var generation: UInt64 = 0

    init(expensivePause: Int64? = nil) {
        let timing = Self.timing(expensivePause: expensivePause)
        machine = UplinkProbeStateMachine(timing: timing)
    }

    private static func timing(
        full: Int64 = 600, longest: Int64 = 300, expensivePause: Int64? = nil
    ) -> InternetProbeStateMachine.Timing {
        var timing = InternetProbeStateMachine.Timing()
        timing.fullPause = full * 1_000_000_000
        timing.longestPause = longest * 1_000_000_000
        timing.expensivePause = expensivePause.map { $0 * 1_000_000_000 }
        return timing
    }

    mutating func set(full: Int64 = 600, longest: Int64 = 300, expensivePause: Int64? = nil) -> String {
        let timing = Self.timing(full: full, longest: longest, expensivePause: expensivePause)
        return record(machine.timingChanged(timing, at: now))
    }
    mutating func await(_ isAwaited: Bool) -> String { record(machine.awaited(isAwaited, at: now)) }

    /// The network with these uplinks, the preferred one first; another preferred one is another generation.
    mutating func network(
        _ uplinks: Uplink..., isTunnel: Bool = false, isUsable: Bool = true, isSame: Bool = false,
        isAlternative: Bool = false, wanted: Set<String> = []
    ) -> String {
        if !isSame { generation += 1 }
        var network = UplinkProbeStateMachine.Network()
        network.preferred = isUsable ? uplinks.first : nil
        network.others = isUsable ? Array(uplinks.dropFirst()) : uplinks
        network.isTunnel = isTunnel
        network.isAlternative = isAlternative
        network.isUsable = isUsable
        network.generation = generation
        network.wanted = wanted
        return record(machine.networkChanged(network, at: now))
    }
    mutating func answer(_ name: String, _ state: InternetState, _ reason: String = "") -> String {
        guard let id = questions[name] else { return "no question" }
        return record(machine.answered(InternetAnswer(state, reason), id, at: now))
    }
    mutating func hurry() -> String { record(machine.hurried()) }
    mutating func stop() -> String { record(machine.stopped(at: now)) }
    /// Lets the deadline come.
    mutating func wait() -> String {
        guard let deadline = machine.nextDeadline else { return "nothing to wait for" }
        now = max(now, deadline)
        return record(machine.timeCame(at: now))
    }
    mutating func pass(_ seconds: Double) -> String {
        now += Int64(seconds * 1e9)
        return record(machine.timeCame(at: now))
    }

    /// In how many seconds the next question comes; nil for never.
    var deadline: Double? { machine.nextDeadline.map { Double(($0 - now) / 1_000_000) / 1000 } }

    /// "eth0* full, wlan0 limited": the preferred one has a star.
    var states: String {
        machine.findings.map { "\($0.uplink?.name ?? "-")\($0.isPreferred ? "*" : "") \($0.known.state)" }
            .joined(separator: ", ")
    }

    func reason(_ name: String) -> String? {
        machine.findings.first { $0.uplink?.name == name }?.known.reason
    }

    private mutating func record(_ step: UplinkProbeStateMachine.Step) -> String {
        var names: [Int: String] = [:]
        for finding in machine.findings { names[finding.number] = finding.uplink?.name ?? "-" }
        var words = step.abandoned.isEmpty ? [] : ["abandon \(step.abandoned.count)"]
        for question in step.questions {
            let name = names[question.id.uplink] ?? "?"
            if let interface = question.interface { #expect(interface == name) }
            questions[name] = question.id
            words.append("ask \(name)\(question.interface == nil ? "" : "!")")
        }
        return words.joined(separator: ", ")
    }
}

private let eth0 = Transcript.Uplink("eth0", index: 2, gateway: "192.0.2.1")
private let wlan0 = Transcript.Uplink("wlan0", index: 3, gateway: "10.0.0.1")
private let wwan0 = Transcript.Uplink("wwan0", index: 4, traits: UplinkTraits(isExpensive: true))
private let wg0 = Transcript.Uplink("wg0", index: 5)

struct UplinkProbeStateMachineTests {
    @Test(
        "UPL-070 the preferred uplink is asked by the kernel's choice, the others over themselves, all at once"
    )
    func start() {
        var run = Transcript()
        #expect(run.network(eth0, wlan0) == "ask eth0, ask wlan0!")
        #expect(run.answer("wlan0", .full) == "")
        #expect(run.answer("eth0", .limited) == "")
        #expect(run.states == "eth0* limited, wlan0 full")
        #expect(run.deadline == 1)
        #expect(run.wait() == "ask eth0")
    }

    @Test("UPL-071 an uplink that comes is asked, one that goes is not; a change elsewhere asks nothing")
    func comingAndGoing() {
        var run = Transcript()
        #expect(run.network(eth0) == "ask eth0")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.network(eth0, wlan0, isSame: true) == "ask wlan0!")
        #expect(run.network(eth0, wlan0, isSame: true) == "")
        #expect(run.network(eth0, isSame: true) == "abandon 1")
        #expect(run.answer("wlan0", .full) == "")
        #expect(run.states == "eth0* full")
        #expect(run.network(eth0, wlan0, isSame: true) == "ask wlan0!")
        #expect(run.answer("wlan0", .portal) == "")
        #expect(run.states == "eth0* full, wlan0 portal")
    }

    @Test("UPL-071 an uplink with another router is another network: what was known of it is worthless")
    func otherRouter() {
        var run = Transcript()
        _ = run.network(eth0, wlan0)
        _ = run.answer("wlan0", .full)
        var moved = wlan0
        moved.gateway = "10.1.0.1"
        #expect(run.network(eth0, moved, isSame: true) == "ask wlan0!")
        #expect(run.states == "eth0* unknown, wlan0 unknown")
        // So is another link of the same name.
        _ = run.answer("wlan0", .full)
        moved.index = 7
        #expect(run.network(eth0, moved, isSame: true) == "ask wlan0!")
        #expect(run.states == "eth0* unknown, wlan0 unknown")
    }

    @Test("UPL-072 the kernel turns to another uplink: what is known of both stays, both are asked anew")
    func turn() {
        var run = Transcript()
        _ = run.network(eth0, wlan0)
        _ = run.answer("eth0", .full)
        _ = run.answer("wlan0", .limited)
        #expect(run.network(wlan0, eth0) == "ask wlan0, ask eth0!")
        #expect(run.states == "wlan0* limited, eth0 full")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.answer("wlan0", .full) == "")
        #expect(run.states == "wlan0* full, eth0 full")
        // A question by the kernel's choice says nothing about the former uplink.
        #expect(run.wait() == "ask wlan0, ask eth0!")
        #expect(run.network(eth0, wlan0) == "abandon 2, ask eth0, ask wlan0!")
    }

    @Test("UPL-073 a new generation of the preferred path asks that one alone")
    func generation() {
        var run = Transcript()
        _ = run.network(eth0, wlan0)
        _ = run.answer("eth0", .full)
        _ = run.answer("wlan0", .full)
        #expect(run.network(eth0, wlan0) == "ask eth0")
        #expect(run.states == "eth0* unknown, wlan0 full")
    }

    @Test("UPL-074 an expensive uplink is asked only while the preferred one fails")
    func expensive() {
        var run = Transcript()
        #expect(run.network(eth0, wwan0) == "ask eth0")
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

    @Test("UPL-441 an expensive uplink that a client waits for is asked as any other, and only as long")
    func wanted() {
        var run = Transcript()
        #expect(run.network(eth0, wwan0) == "ask eth0")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.network(eth0, wwan0, isSame: true, wanted: ["wwan0"]) == "ask wwan0!")
        #expect(run.answer("wwan0", .limited) == "")
        #expect(run.deadline == 1)
        #expect(run.network(eth0, wwan0, isSame: true) == "")
        #expect(run.reason("wwan0") == "not asked: its traffic costs")
        var patient = Transcript(expensivePause: 3600)
        #expect(patient.network(eth0, wwan0, wanted: ["wwan0"]) == "ask eth0, ask wwan0!")
        #expect(patient.answer("eth0", .full) == "")
        #expect(patient.answer("wwan0", .limited) == "")
        #expect(patient.deadline == 1)
    }

    @Test("UPL-074 with a pause of its own it is asked rarely while the preferred one works")
    func expensivePause() {
        var run = Transcript(expensivePause: 3600)
        #expect(run.network(eth0, wwan0) == "ask eth0, ask wwan0!")
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
        #expect(run.network(wwan0, eth0) == "abandon 2, ask wwan0, ask eth0!")
        #expect(run.answer("wwan0", .limited) == "")
        #expect(run.deadline == 1)
    }

    @Test("UPL-075 when the preferred uplink fails, what is known of the others is asked for anew")
    func failure() {
        var run = Transcript()
        _ = run.network(eth0, wlan0)
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
        var run = Transcript()
        #expect(run.network(wg0, eth0, isTunnel: true) == "ask wg0")
        #expect(run.reason("eth0") == "not asked: wg0 is a tunnel, and nothing goes around it")
        #expect(run.answer("wg0", .limited) == "")
        #expect(run.network(eth0, isUsable: false) == "")
        #expect(run.states == "-* none, eth0 unknown")
        #expect(run.reason("eth0") == "not asked: there is no path in use")
        #expect(run.hurry() == "")
        #expect(run.deadline == nil)
        #expect(run.network(eth0) == "ask eth0")
    }

    @Test("UPL-078 an uplink that stands in for the kernel's dead choice is asked over itself")
    func alternative() {
        var run = Transcript()
        #expect(run.network(eth0) == "ask eth0")
        #expect(run.network(wlan0, isAlternative: true) == "abandon 1, ask wlan0!")
        #expect(run.answer("wlan0", .limited) == "")
        #expect(run.wait() == "ask wlan0!")
    }

    @Test("UPL-400 while something waits for the internet it is asked for every 15 s at the latest")
    func awaited() {
        var run = Transcript()
        _ = run.network(eth0, wlan0)
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
        var run = Transcript()
        _ = run.network(eth0, wwan0)
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
        _ = run.network(wwan0)
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
        var run = Transcript()
        _ = run.network(eth0, wlan0)
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
        var run = Transcript()
        _ = run.network(eth0, wwan0)
        _ = run.answer("eth0", .full)
        #expect(run.set(expensivePause: 3600) == "ask wwan0!")
        #expect(run.answer("wwan0", .full) == "")
        #expect(run.set() == "")
        #expect(run.states == "eth0* full, wwan0 unknown")
    }

    @Test("UPL-402 an expensive uplink in use is asked rarely while it works, where that is wanted")
    func expensiveInUse() {
        var run = Transcript(expensivePause: 3600)
        #expect(run.network(wwan0) == "ask wwan0")
        #expect(run.answer("wwan0", .limited) == "")
        #expect(run.deadline == 1)
        #expect(run.wait() == "ask wwan0")
        #expect(run.answer("wwan0", .full) == "")
        #expect(run.deadline == 3600)
        // A cheap one takes its place.
        #expect(run.network(eth0) == "ask eth0")
        #expect(run.answer("eth0", .full) == "")
        #expect(run.deadline == 600)
        var other = Transcript()
        _ = other.network(wwan0)
        _ = other.answer("wwan0", .full)
        #expect(other.deadline == 600)
    }

    @Test("UPL-077 stopped, nothing is known or asked; it can begin again")
    func stop() {
        var run = Transcript()
        _ = run.network(eth0, wlan0)
        _ = run.answer("eth0", .full)
        #expect(run.stop() == "abandon 1")
        #expect(run.states == "-* unknown")
        #expect(run.deadline == nil)
        #expect(run.answer("wlan0", .full) == "")
        #expect(run.network(eth0, wlan0) == "ask eth0, ask wlan0!")
    }
}
