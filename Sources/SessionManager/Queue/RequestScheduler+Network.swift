// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import SessionCore

// The network: whom to follow, and what a change does to those that run.
extension RequestScheduler {
    /// Listens to the provider; from the first task on.
    func follow() {
        isFollowing = true
        observation?.cancel()
        observation = nil
        switch settings.follows {
        case .shared: provider = ReachabilityManager.shared
        case .nobody: provider = nil
        case .host(let name):
            // On this loop: what it hears of is known before anything else is sent.
            var environment = MonitorEnvironment.kernel
            environment.reactor = { [reactor] () throws(ReachabilityError) -> Reactor in reactor }
            let manager = ReachabilityManager(MonitorTarget(name), .init(), .own, environment)
            manager.startMonitoring()
            provider = manager
        case .provider(let other): provider = other
        }
        apply(gate.sourceChanged())
        // What it knows already holds for the very first task; its reports come a moment later.
        if let (status, path) = provider?.currentReachability() {
            networkChanged(NetworkFacts(status, path))
        }
        let me = LoopBound(self, to: reactor)
        if let manager = provider as? ReachabilityManager {
            watchesConnections = true
            let identity = ObjectIdentifier(manager)
            // On the loop: what the kernel says is known before anything else is sent.
            observation = manager.observeInline(
                { update in
                    if me.reactor.isCurrent {
                        me.here { $0.networkChanged(update) }
                    } else {
                        me.perform { $0.networkChanged(update) }
                    }
                },
                onStop: { me.perform { $0.monitoringStopped(identity) } },
                onClose: {})
        } else {
            watchesConnections = false
            observation = provider?.observeReachability { update in
                me.perform { $0.networkChanged(update) }
            }
        }
    }

    private func monitoringStopped(_ identity: ObjectIdentifier) {
        guard let current = provider as? ReachabilityManager, ObjectIdentifier(current) == identity,
            !current.isMonitoring
        else { return }
        networkChanged(.unknown)
    }

    private func networkChanged(_ update: ReachabilityUpdate) {
        networkChanged(NetworkFacts(update.status, update.path))
    }

    func networkChanged(_ facts: NetworkFacts) {
        var facts = facts
        facts.hasInternet = hasInternet
        let isAnother = facts.generation > gate.facts.generation
        // Before anybody starts: what cannot connect at once may in a moment.
        if isAnother || facts.standing != gate.facts.standing { for table in tables { table.pathsChanged() } }
        apply(gate.networkChanged(facts, at: Reactor.now))
        if isAnother { restartLookups(facts.sentence) }
    }

    /// Those that have no connection yet, whose path could be watched, begin anew: they may be asking a name server that only the former
    /// network had.
    private func restartLookups(_ sentence: String) {
        for table in tables {
            for runner in table.runners where table.demand(of: runner).needsNetwork {
                guard !runner.isParked, let transfer = runner.transfer, transfer.isLookingUp else { continue }
                runner.transferLostPath(transfer, sentence)
            }
        }
    }

    /// What a change of the gate means for those that wait and those that run.
    func apply(_ change: RequestGateStateMachine.Change) {
        queue.gateChanged(passable: gate.passable, isPaused: gate.isPaused, at: Reactor.now)
        report.update(gate.view)
        if !change.closed.isEmpty {
            for table in tables {
                for runner in table.runners where mustPark(runner, change.closed, table) {
                    park(runner, nil)
                }
            }
        }
        pump()
        if events.isListened { renewReasons() }
    }

    /// Whether a running task has to stop: where its connection may be good still, whoever watches that says so.
    private func mustPark(_ runner: TaskRunner, _ closed: DemandSet, _ table: RunnerTable) -> Bool {
        guard !runner.isParked, !runner.isOver, let transfer = runner.transfer else { return false }
        guard transfer.easy == nil || !watchesConnections else { return false }
        return closed.contains(table.demand(of: runner))
    }

    private func renewReasons() {
        for index in held.indices {
            if let ticket = held[index]?.task.place.ticket { noteHold(ticket) }
        }
    }

    /// Takes a running task out; it waits from now on.
    ///
    /// - Parameter isLost: its own connection is dead, and it knows why.
    func park(_ runner: TaskRunner, _ failure: SessionError?, isLost: Bool = false) {
        let (task, table) = (runner.task, runner.table)
        guard let ticket = task.place.ticket else { return }
        if !isLost { runner.lostSentence = gate.facts.sentence }
        runner.park()
        guard runner.isParked, !runner.isOver else { return }
        let demand = table.demand(of: runner)
        task.place.demand = demand
        keep(ticket, Held(task: task, table: table, runner: runner))
        held[ticket.index]?.failure = failure
        queue.limited(ticket, to: patience(of: task))
        queue.parked(ticket, demand: demand, at: Reactor.now)
        noteHold(ticket)
    }

    /// The connection of a running task is dead.
    func lostPath(_ runner: TaskRunner) {
        park(runner, nil, isLost: true)
        // The gate hears of the loss through another socket, perhaps a moment later.
        quietUntil = quietUntil ?? Reactor.now &+ 1_000_000
        arm()
        tell()
    }

    /// Whether a running task may begin an exchange now; where not, it is parked.
    func admits(_ runner: TaskRunner) -> Bool {
        guard !gate.passable.isAll, runner.task.place.ticket != nil,
            !gate.passable.contains(runner.table.demand(of: runner))
        else { return true }
        park(runner, nil)
        tell()
        arm()
        return false
    }

    /// Whether a failure is the network's, which is gone, and can be mended by waiting.
    func holds(_ runner: TaskRunner, _ failure: SessionError) -> Bool {
        guard !gate.passable.isAll, !runner.isParked, runner.task.place.ticket != nil,
            !gate.passable.contains(runner.table.demand(of: runner)), runner.canGoOn(after: failure)
        else { return false }
        if let transfer = runner.transfer, !runner.canGoOnLater(transfer) { return false }
        park(runner, failure)
        pump()
        return true
    }

    // MARK: The user

    func setPaused(_ isPaused: Bool) {
        guard isPaused ? gate.paused() : gate.resumed() else { return }
        for table in tables {
            for runner in table.runners where !runner.isParked {
                if isPaused {
                    runner.setSuspended(true)
                } else if let ticket = runner.task.place.ticket, queue.hold(of: ticket).isEmpty {
                    runner.setSuspended(false)
                }
            }
        }
        apply(RequestGateStateMachine.Change())
    }

    /// New settings.
    func apply(_ new: RequestQueue.Settings) {
        let old = settings
        takeOver(new)
        for table in tables { table.followRescuePolicy() }
        if isFollowing, !new.follows.isSame(as: old.follows) { follow() }
        apply(gate.rescuePolicyChanged(new.rescue, at: Reactor.now))
    }

    func takeOver(_ new: RequestQueue.Settings) {
        settings = new
        gate.timing.settle = new.settleTime.nanoseconds
        gate.timing.flapSettle = new.flapSettleTime.nanoseconds
        var limits = RequestQueueStateMachine.Limits()
        limits.maximumActive = new.maximumActiveRequests ?? .max
        limits.maximumPerHost = new.maximumRequestsPerHost ?? .max
        limits.ramp = new.ramp
        queue.limitsChanged(limits)
    }

    func internetFound(_ found: Bool?) {
        hasInternet = found
        networkChanged(gate.facts)
    }
}
