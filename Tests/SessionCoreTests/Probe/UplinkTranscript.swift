// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// Runs a machine of several uplinks: what goes in, and what comes out as words.
///
/// "ask eth0" is a question by the kernel's choice, "ask wlan0!" one that is bound.
struct UplinkTranscript: ~Copyable {
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

/// The uplinks of the tests.
extension UplinkProbeStateMachine.Uplink {
    static let eth0 = Self("eth0", index: 2, gateway: "192.0.2.1")
    static let wlan0 = Self("wlan0", index: 3, gateway: "10.0.0.1")
    static let wwan0 = Self("wwan0", index: 4, traits: UplinkTraits(isExpensive: true))
    static let wg0 = Self("wg0", index: 5)
}
