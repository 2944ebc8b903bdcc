// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
import SessionCore

/// Receives what a gate reports, on the loop's thread.
protocol NetworkGateDelegate: AnyObject {
    /// Links, addresses or routes have changed; called before anything starts.
    func pathsChanged()
    func linesChanged(_ lines: LineKnowledge)
    func gateChanged(_ change: RequestGateStateMachine.Change)
    /// Only what others may know of it has changed.
    func viewChanged()
    /// Another network is used now: what has no connection yet may be asking the former one's name server.
    func networkReplaced(_ sentence: String)
}

/// What the network lets through: follows a provider, the lines and the clock, as
/// ``RequestGateStateMachine`` decides.
///
/// On the loop's thread.
final class NetworkGate {
    /// Whether an exchange may use the network, and how.
    struct Access {
        /// Why it must not; nil where it may.
        var block: String?
        /// What its sockets are bound to.
        var binding = PathBinding.any

        /// Whether a transfer is bound to another interface than it would be now.
        func leadsElsewhere(_ transfer: Transfer) -> Bool {
            block == nil && binding != .any && binding != transfer.binding
        }
    }

    private let reactor: Reactor
    /// From ``open(_:)`` on; it owns this object.
    private unowned var delegate: (any NetworkGateDelegate)?
    private var machine = RequestGateStateMachine()
    private var settings: RequestQueue.Settings
    private lazy var network = NetworkFollower(on: reactor) { [unowned self] in networkChanged($0) }
    /// As the provider has reported it last.
    private var facts = NetworkFacts.unknown
    private lazy var lines = LineDetour(on: reactor) { [unowned self] in linesChanged($0) }
    private lazy var clock = ClockMonitor(settings.clock, on: reactor) { [unowned self] in clockWasSet() }

    init(_ settings: RequestQueue.Settings, on reactor: Reactor) {
        self.settings = settings
        self.reactor = reactor
    }

    /// Begins with the settings; not in `init`, since the delegate may be notified.
    func open(_ delegate: any NetworkGateDelegate) {
        self.delegate = delegate
        adopt(settings)
        _ = machine.rescuePolicyChanged(settings.rescue, at: Reactor.now)
    }

    func close() {
        lines.isAwaited = false
        if network.isFollowing { network.close() }
        clock.stop()
        lines.close()
    }

    /// Begins to follow the provider, with the first task.
    func follow() {
        if !network.isFollowing { network.follow(settings) }
    }

    var view: GateView { machine.view }
    var binding: PathBinding { machine.binding }
    var lossSentence: String { machine.facts.sentence }
    var knowledge: LineKnowledge { lines.knowledge }
    /// Whether dead connections are found by the engine itself.
    var watchesConnections: Bool { network.watchesConnections }
    /// When ``deadlineReached(at:)`` is to be called; nil for never.
    var nextDeadline: Int64? { machine.nextDeadline }
    func deadlineReached(at now: Int64) { delegate?.gateChanged(machine.deadlineReached(at: now)) }
    /// Whether tasks wait for the internet.
    func setAwaited(_ isAwaited: Bool) { lines.isAwaited = isAwaited }

    // MARK: What tasks ask for

    func demand(of executor: RequestExecutor) -> NetworkDemand { NetworkDemand(executor, lines) }

    /// Whether the current exchange of a request may use the network now, and how.
    func access(of executor: RequestExecutor) -> Access {
        let passable = machine.passable
        if !passable.isAll, executor.task.schedule.ticket != nil {
            let demand = demand(of: executor)
            if !passable.contains(demand) { return Access(block: machine.view.sentence(demand)) }
        }
        let wanted = executor.options.interface ?? executor.task.session.configuration.interface
        let binding = wanted.map { PathBinding.interface($0) } ?? machine.binding
        let isLocal =
            binding == .any || executor.task.session.configuration.unixSocket != nil
            || executor.request.url.isOnThisMachine
        return Access(binding: isLocal ? .any : binding)
    }

    /// Whether the clock explains a failure, and is waited for from now on.
    func waitsForClock(_ executor: RequestExecutor, after error: SessionError) -> Bool {
        guard settings.waitsForClock, demand(of: executor).needsNetwork, clock.explains(error) else {
            return false
        }
        _ = machine.clockChanged(isWrong: true)
        delegate?.viewChanged()
        return true
    }

    /// A failure with the reason why its request was not held, where nothing is known of the network.
    func explaining(_ error: SessionError, of executor: RequestExecutor) -> SessionError {
        guard machine.facts.standing == .unknown, error.remedy == nil, error.code.isOfNetwork,
            demand(of: executor).needsNetwork
        else { return error }
        let reason =
            network.ignorance.map { "nothing is known of it: \($0)" }
            ?? "its queue follows none (RequestQueue.follows)"
        let sentence = "the request did not wait for the network, since \(reason)"
        return error.with(advice: error.advice.isEmpty ? sentence : "\(error.advice); \(sentence)")
    }

    /// What the uplink costs over which a request may go where its own line is dead; nil where it may not.
    func traits(of detour: Detour, for executor: RequestExecutor) -> UplinkTraits? {
        let detour = network.priced(detour)
        let facts = restricted(NetworkFacts(.online).detoured(by: detour))
        let mayUse =
            lines.mayTake(detour.uplink, to: executor.request.url)
            && facts.met(isBound: true).contains(demand(of: executor))
        return mayUse ? detour.traits : nil
    }

    /// The line of a request's connection is dead, and the detour is a way that works.
    func found(_ detour: Detour, by turn: EngineTurn, for request: SessionRequest) {
        lines.found(network.priced(detour), by: turn, for: request)
    }

    // MARK: What changes

    private func networkChanged(_ facts: NetworkFacts) {
        let isAnother = facts.generation > machine.facts.generation
        self.facts = facts
        lines.networkChanged(facts)
        // Before any task starts: what cannot connect at once may in a moment.
        if isAnother || facts.standing != machine.facts.standing { delegate?.pathsChanged() }
        update()
        if isAnother { delegate?.networkReplaced(facts.sentence) }
    }

    /// More is known of the lines, or what goes beyond the router goes another way from now on.
    private func linesChanged(_ detour: Detour?) {
        delegate?.linesChanged(knowledge)
        update()
        if let detour { delegate?.networkReplaced(detour.sentence) }
    }

    func internetChanged(_ findings: InternetFindings?, by probe: InternetProbe?) {
        lines.internetChanged(findings, by: probe)
    }

    /// What waits for the clock is tried again.
    private func clockWasSet() { delegate?.gateChanged(machine.clockChanged(isWrong: false)) }

    private func update() {
        delegate?.gateChanged(
            machine.networkChanged(restricted(lines.addingFindings(to: facts)), at: Reactor.now))
    }

    /// The facts with what the queue forbids.
    private func restricted(_ facts: NetworkFacts) -> NetworkFacts {
        var facts = facts
        facts.avoidsExpense = !settings.allowsExpensiveNetwork
        facts.avoidsConstraint = !settings.allowsConstrainedNetwork
        return facts
    }

    /// The user holds the queue, or ends the pause; false where that was so.
    func setPaused(_ isPaused: Bool) -> Bool { isPaused ? machine.paused() : machine.resumed() }

    func apply(_ new: RequestQueue.Settings) {
        let old = settings
        adopt(new)
        if old.waitsForClock, !new.waitsForClock { clockWasSet() }
        if network.isFollowing, !new.follows.isSame(as: old.follows) {
            facts = .unknown
            delegate?.gateChanged(machine.sourceChanged(isRequired: new.follows.isRequired))
            network.follow(new)
        }
        delegate?.gateChanged(machine.networkChanged(restricted(machine.facts), at: Reactor.now))
        delegate?.gateChanged(machine.rescuePolicyChanged(new.rescue, at: Reactor.now))
    }

    private func adopt(_ new: RequestQueue.Settings) {
        settings = new
        lines.isAllowed = new.rescues
        machine.timing.settle = new.settleTime.nanoseconds
        machine.timing.flapSettle = new.flapSettleTime.nanoseconds
    }
}
