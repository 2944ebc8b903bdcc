// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import ReachabilityCore
import SessionCore

/// What is known of the lines behind interfaces.
struct LineKnowledge {
    /// What goes over the line of another interface, since its own is dead.
    var detour: Detour?
    /// What a probe has found; nil without one.
    var findings: InternetFindings?
    /// It is asked where a connection's line may be dead.
    weak var probe: InternetProbe?

    /// What is known of the line of an interface.
    func standing(of line: String) -> LineStanding {
        findings?.standing(of: line, detour: detour) ?? .unknown
    }

    /// Whether what leaves a dead line may go over an uplink.
    func mayTake(_ uplink: String, isPlain: Bool) -> Bool {
        findings?.mayTake(uplink, isPlain: isPlain) ?? true
    }
}

extension URL {
    /// Whether what goes there goes without TLS.
    var isPlain: Bool { scheme?.lowercased() == "http" }
}

/// The way around a dead line, and the tries that end it, as ``UplinkStateMachine`` decides; on the loop's
/// thread.
final class LineDetour {
    /// Whether anything may go around a line.
    var isAllowed = true {
        didSet { if isAllowed != oldValue { update() } }
    }
    /// Whether tasks wait for the internet.
    var isAwaited = false {
        didSet { if isAwaited != oldValue { setAwaited(isAwaited) } }
    }
    private let reactor: Reactor
    private let onChange: (Detour?) -> Void
    private var machine = UplinkStateMachine()
    private var findings: InternetFindings?
    private weak var probe: InternetProbe?
    /// The turn of the engine that found the dead line, and the request that it was carrying: its server is
    /// tried.
    private weak var turn: EngineTurn?
    private var request: SessionRequest?
    private var trial: Transfer?
    private var timer: TimerID?

    /// - Parameter onChange: called when ``knowledge`` has changed, with the way around the line where that
    ///   is new.
    init(on reactor: Reactor, onChange: @escaping (Detour?) -> Void) {
        self.reactor = reactor
        self.onChange = onChange
    }

    var knowledge: LineKnowledge {
        LineKnowledge(detour: machine.detour, findings: findings, probe: probe)
    }

    /// What the provider has reported, with what is known of the lines.
    func addingFindings(to facts: NetworkFacts) -> NetworkFacts {
        var facts = facts.detoured(by: machine.detour)
        guard let findings else { return facts }
        let uplink = machine.detour.flatMap { findings.uplink($0.uplink)?.state }
        // An uplink that is not asked was found by a connection.
        let hasInternet = (uplink == .unknown ? findings.state : uplink ?? findings.state) == .full
        facts.hasInternet = hasInternet
        if !hasInternet { facts.internetSentence = findings.sentence }
        return facts
    }

    /// Whether a portal would answer in the place of a URL's server: plain http to a name of the internet.
    ///
    /// Addresses may be on the link; ``mayTake(_:to:)`` keeps those beyond it from the way around a line.
    func holdsPlain(_ url: URL) -> Bool {
        guard findings?.holdsPlain(machine.detour) == true, url.isPlain, let host = url.host()?.lowercased()
        else { return false }
        return IPAddress(host) == nil && host.contains(".") && !host.hasPrefix("[")
            && !host.hasSuffix(".local")
    }

    /// Whether what goes to a URL may leave a dead line for an uplink, by what is known of that.
    func mayTake(_ uplink: String, to url: URL) -> Bool { knowledge.mayTake(uplink, isPlain: url.isPlain) }

    /// An engine has found a dead line, and the way that works.
    func found(_ detour: Detour, by turn: EngineTurn, for request: SessionRequest) {
        self.turn = turn
        self.request = UplinkTrial.request(like: request)
        _ = perform(machine.lineDied(detour, at: Reactor.now))
    }

    /// A probe has found this; nil where there is none any more.
    func internetChanged(_ new: InternetFindings?, by probe: InternetProbe?) {
        findings = new
        if probe !== self.probe, isAwaited {
            setAwaited(false)
            self.probe = probe
            setAwaited(true)
        }
        self.probe = probe
        update()
    }

    private func setAwaited(_ isAwaited: Bool) {
        probe?.setAwaited(isAwaited, by: ObjectIdentifier(self))
    }

    private func update() {
        let action =
            isAllowed
            ? machine.internetChanged(findings ?? InternetFindings(), at: Reactor.now) : machine.ended()
        if !perform(action) { onChange(nil) }
    }

    /// The kernel's choice is this now.
    func networkChanged(_ facts: NetworkFacts) {
        _ = perform(machine.networkChanged(interface: facts.interface, generation: facts.generation))
    }

    func close() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        if let trial = trial.take() { turn?.control?.cancel(trial) }
    }

    /// Carries out what was decided; false where the way is as before.
    private func perform(_ action: UplinkStateMachine.Action) -> Bool {
        defer { setTimer() }
        switch action {
        case .nothing: return false
        case .tryLine(let detour): tryLine(detour)
        case .askProbe(let line): probe?.check(line)
        case .changed:
            close()
            onChange(machine.detour)
            return true
        }
        return false
    }

    private func tryLine(_ detour: Detour) {
        guard let engine = turn?.control, let request else {
            _ = perform(machine.ended())
            return
        }
        trial = engine.tryServer(of: request, at: nil, over: detour.line) { [weak self] succeeded in
            guard let self else { return }
            trial = nil
            _ = perform(machine.tried(succeeded, at: Reactor.now))
        }
    }

    private func setTimer() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        guard let deadline = machine.nextDeadline else { return }
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            _ = perform(machine.timeCame(at: Reactor.now))
        }
    }
}
