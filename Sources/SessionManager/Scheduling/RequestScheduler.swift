// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import ReachabilityCore
import SessionCore

/// Starts, holds and parks the tasks of a manager, as ``RequestGateStateMachine`` and
/// ``RequestQueueStateMachine`` decide.
///
/// On the loop's thread.
final class RequestScheduler {
    private let reactor: Reactor
    private let tasks: ScheduledTasks
    private var gate = RequestGateStateMachine()
    private var settings: RequestQueue.Settings
    /// Of the sessions that have started a task.
    private var transports: [SessionTransport] = []
    private lazy var network = NetworkFollower(on: reactor) { [unowned self] in networkChanged($0) }
    /// As the provider has reported it last.
    private var facts = NetworkFacts.unknown
    private lazy var lines = LineDetour(on: reactor) { [unowned self] in linesChanged($0) }
    /// A path was lost an instant ago, and the gate may not know of it yet: no task starts before this time.
    private var startsSuspendedUntil: Int64?
    private lazy var timer = DeadlineTimer(on: reactor) { [unowned self] in deadlineReached() }
    private lazy var clock = ClockMonitor(settings.clock, on: reactor) { [unowned self] in clockWasSet() }
    private var isStarting = false
    private var isClosed = false

    init(
        _ settings: RequestQueue.Settings, reactor: Reactor, events: EventBroadcaster<SessionEvent>,
        report: QueueReport
    ) {
        self.settings = settings
        self.reactor = reactor
        tasks = ScheduledTasks(reactor: reactor, events: events, report: report)
        adopt(settings)
        _ = gate.rescuePolicyChanged(settings.rescue, at: Reactor.now)
    }

    func close() {
        isClosed = true
        lines.isAwaited = false
        if network.isFollowing { network.close() }
        timer.cancel()
        clock.stop()
        lines.close()
    }

    /// A session has ended, which has no tasks any more.
    func close(_ transport: SessionTransport) {
        transports.removeAll { $0 === transport }
        transport.close()
    }

    // MARK: Tasks

    /// A task was resumed for the first time.
    func submit(_ task: SessionTask, _ transport: SessionTransport) {
        // Cancelled or suspended by the loop's own thread before the message of another one arrived.
        let state = task.state
        guard state != .completed else { return }
        if !transports.contains(where: { $0 === transport }) { transports.append(transport) }
        if !network.isFollowing { network.follow(settings.follows) }
        if task.plan.options.queueing == nil, settings.maximumRequestsPerHost == nil,
            startsSuspendedUntil == nil, state != .suspended, let ticket = tasks.admit(task, transport)
        {
            launch(ticket)
            publishCounts()
        } else {
            enqueue(task, transport, isSuspended: state == .suspended)
        }
    }

    private func enqueue(_ task: SessionTask, _ transport: SessionTransport, isSuspended: Bool) {
        let options = task.plan.options.queueValues
        var request = QueueRequest()
        request.demand = NetworkDemand(beforeStartOf: task)
        request.priority = task.priority
        request.lane = options.lane
        if settings.maximumRequestsPerHost != nil { request.host = task.originalRequest.url.originText }
        request.offlineLimit = offlineTimeout(for: task)
        let dependencies = options.dependencies.filter { $0 !== task }
        request.dependencies = dependencies.count
        let ticket = tasks.enqueue(task, transport, request, isSuspended: isSuspended)
        for dependency in dependencies { wait(for: dependency, ticket, isStrict: !options.ignoresFailures) }
        startReady()
        tasks.publishHold(ticket)
    }

    /// How long the network may hold a task, in nanoseconds; nil for as long as it takes.
    private func offlineTimeout(for task: SessionTask) -> Int64? {
        let options = task.plan.options.queueValues
        if !options.waitsForNetwork { return 0 }
        return (options.offlineLimit ?? settings.offlineLimit)?.nanoseconds
    }

    private func wait(for dependency: SessionTask, _ ticket: QueueTicket, isStrict: Bool) {
        let me = LoopBound(self, to: reactor)
        let validation = dependency.plan.validation
        dependency.whenEnded { outcome in
            let failure = isStrict ? outcome.error ?? outcome.response.flatMap { validation?($0) } : nil
            me.perform { $0.dependencyEnded(ticket, failure) }
        }
    }

    private func dependencyEnded(_ ticket: QueueTicket, _ failure: SessionError?) {
        guard tasks.hold(of: ticket).contains(.dependency) else { return }
        guard let failure else {
            tasks.dependencyEnded(ticket)
            return startReady()
        }
        end(
            ticket,
            SessionError(
                .dependencyFailed, "a task that this one waits for has failed: \(failure.message)",
                underlying: failure))
        startReady()
    }

    /// A task is cancelled.
    func stop(_ task: SessionTask) {
        if let ticket = task.schedule.ticket, let executor = tasks[ticket]?.executor {
            executor.end(task.cancelledError)
        } else {
            task.finish(TaskOutcome(error: task.cancelledError))
            finished(task)
        }
    }

    /// Ends a task that waits.
    private func end(_ ticket: QueueTicket, _ error: SessionError) {
        guard let scheduled = tasks[ticket] else { return }
        if let executor = scheduled.executor { return executor.end(error) }
        finished(scheduled.task)
        scheduled.task.finish(
            TaskOutcome(error: error.with(failingURL: scheduled.task.originalRequest.url)))
    }

    /// A task has ended, or was cancelled while it waited.
    private func finished(_ task: SessionTask) {
        guard tasks.remove(task) else { return }
        if tasks.isWaiting { startReady() } else { publishCounts() }
    }

    /// Suspends or resumes a task, as its state is now.
    ///
    /// Not as the message says: a call on the loop's own thread is carried out at once, and overtakes the
    /// messages of others.
    func followState(of task: SessionTask) {
        guard let ticket = task.schedule.ticket else { return }
        switch task.state {
        case .suspended:
            tasks.suspend(ticket)
            tasks[ticket]?.executor?.setSuspended(true)
        case .running: tasks.resume(ticket)
        case .canceling, .completed: return
        }
        tasks.publishHold(ticket)
        startReady()
    }

    // MARK: Turns

    /// Starts the tasks whose turn it is, and ends those that have waited too long for the network.
    private func startReady() {
        guard !isStarting, !isClosed else { return }
        isStarting = true
        var isSettled = false
        while !isSettled {
            isSettled = true
            let now = Reactor.now
            if startsSuspendedUntil == nil {
                while let ticket = tasks.next(at: now) {
                    begin(ticket)
                    isSettled = false
                }
            }
            while let ticket = tasks.nextExpired(at: now) {
                end(ticket, offlineError(ticket))
                isSettled = false
            }
        }
        isStarting = false
        setTimer()
        publishCounts()
    }

    private func begin(_ ticket: QueueTicket) {
        guard let scheduled = tasks.begin(ticket) else { return }
        guard let executor = scheduled.executor else { return launch(ticket) }
        executor.setSuspended(false)
        executor.unpark()
    }

    private func launch(_ ticket: QueueTicket) {
        guard let scheduled = tasks[ticket] else { return }
        let task = scheduled.task
        guard task.state != .completed else { return finished(task) }
        do throws(SessionError) {
            let engine = try scheduled.transport.engine(
                rescues: settings.rescues, lines: lines.knowledge)
            let executor = RequestExecutor(task, engine: engine, delegate: self)
            tasks.started(ticket, executor)
            executor.start()
        } catch {
            finished(task)
            task.finish(TaskOutcome(error: error))
        }
    }

    private func offlineError(_ ticket: QueueTicket) -> SessionError {
        let scheduled = tasks[ticket]
        if let failure = scheduled?.failure { return failure }
        let demand = scheduled?.task.schedule.demand ?? .anyPath
        return SessionError(
            .notConnectedToInternet, gate.view.failureSentence(demand),
            failingURL: scheduled?.task.originalRequest.url)
    }

    /// Sets the timer to the next thing that happens by itself.
    private func setTimer() {
        timer.set(min(gate.nextDeadline ?? .max, tasks.nextDeadline ?? .max, startsSuspendedUntil ?? .max))
    }

    private func deadlineReached() {
        let now = Reactor.now
        if let end = startsSuspendedUntil, end <= now { startsSuspendedUntil = nil }
        apply(gate.deadlineReached(at: now))
        tasks.deadlineReached(at: now)
        startReady()
    }

    // MARK: The network

    private func networkChanged(_ facts: NetworkFacts) {
        let isAnother = facts.generation > gate.facts.generation
        self.facts = facts
        lines.networkChanged(facts)
        // Before any task starts: what cannot connect at once may in a moment.
        if isAnother || facts.standing != gate.facts.standing {
            for transport in transports { transport.pathsChanged() }
        }
        apply(gate.networkChanged(restricted(lines.complete(facts)), at: Reactor.now))
        if isAnother { restartLookups(facts.sentence) }
    }

    /// More is known of the lines, or what goes beyond the router goes another way from now on.
    private func linesChanged(_ detour: Detour?) {
        for transport in transports { transport.setLines(lines.knowledge) }
        apply(gate.networkChanged(restricted(lines.complete(facts)), at: Reactor.now))
        if let detour { restartLookups(detour.sentence) }
    }

    /// The facts with what the queue forbids.
    private func restricted(_ facts: NetworkFacts) -> NetworkFacts {
        var facts = facts
        facts.avoidsExpense = !settings.allowsExpensiveNetwork
        facts.avoidsConstraint = !settings.allowsConstrainedNetwork
        return facts
    }

    /// Begins exchanges anew that have no connection yet: they may be asking a name server that only the
    /// former network had.
    private func restartLookups(_ sentence: String) {
        for executor in tasks.executors where !executor.isParked && executor.isLookingUp {
            if demand(of: executor).needsNetwork { executor.losePath(sentence) }
        }
    }

    /// Carries out what a change of the gate means for the tasks that wait and those that run.
    private func apply(_ change: RequestGateStateMachine.Change) {
        tasks.gateChanged(gate.view)
        if !change.closed.isEmpty {
            for executor in tasks.executors where mustPark(executor, change.closed) {
                executor.park(gate.facts.sentence)
                if executor.isParked, !executor.isFinished { enqueueParked(executor, nil) }
            }
        }
        startReady()
        tasks.publishHolds()
    }

    /// Whether a running task stops: where its connection may still be good, the engine says when it is dead.
    private func mustPark(_ executor: RequestExecutor, _ closed: DemandSet) -> Bool {
        guard !executor.isParked, !executor.isFinished, executor.hasExchange else { return false }
        guard !executor.isTransferring || !network.watchesConnections else { return false }
        return closed.contains(demand(of: executor))
    }

    /// A parked task waits again, before all that were resumed after it.
    private func enqueueParked(_ executor: RequestExecutor, _ failure: SessionError?) {
        let task = executor.task
        guard let ticket = task.schedule.ticket else { return }
        tasks.park(ticket, demand(of: executor), failure: failure, offlineLimit: offlineTimeout(for: task))
    }

    private func demand(of executor: RequestExecutor) -> NetworkDemand { NetworkDemand(executor, lines) }

    func internetChanged(_ findings: InternetFindings?, by probe: InternetProbe?) {
        lines.internetChanged(findings, by: probe)
    }

    /// What waits for the clock is tried again.
    private func clockWasSet() { apply(gate.clockChanged(isWrong: false)) }

    // MARK: The user

    func setPaused(_ isPaused: Bool) {
        guard isPaused ? gate.paused() : gate.resumed() else { return }
        for executor in tasks.executors where !executor.isParked {
            if isPaused {
                executor.setSuspended(true)
            } else if let ticket = executor.task.schedule.ticket, tasks.hold(of: ticket).isEmpty {
                executor.setSuspended(false)
            }
        }
        apply(RequestGateStateMachine.Change())
    }

    func apply(_ new: RequestQueue.Settings) {
        let old = settings
        // Before anything goes around a line.
        for transport in transports { transport.setRescues(new.rescues) }
        adopt(new)
        if old.waitsForClock, !new.waitsForClock { clockWasSet() }
        if network.isFollowing, !new.follows.isSame(as: old.follows) {
            facts = .unknown
            apply(gate.sourceChanged(isRequired: new.follows.isRequired))
            network.follow(new.follows)
        }
        apply(gate.networkChanged(restricted(gate.facts), at: Reactor.now))
        apply(gate.rescuePolicyChanged(new.rescue, at: Reactor.now))
    }

    private func adopt(_ new: RequestQueue.Settings) {
        settings = new
        lines.isAllowed = new.rescues
        gate.timing.settle = new.settleTime.nanoseconds
        gate.timing.flapSettle = new.flapSettleTime.nanoseconds
        var limits = RequestQueueStateMachine.Limits()
        limits.maximumActive = new.maximumActiveRequests ?? .max
        limits.maximumPerHost = new.maximumRequestsPerHost ?? .max
        limits.ramp = new.ramp
        tasks.limitsChanged(limits)
    }

    private func publishCounts() {
        lines.isAwaited = tasks.awaitsInternet
        tasks.publishCounts(waitingForConnection: transports.reduce(0) { $0 + $1.waitingForConnection })
    }
}

extension RequestScheduler: RequestExecutorDelegate {
    func networkBlock(of executor: RequestExecutor) -> String? {
        guard !gate.passable.isAll, executor.task.schedule.ticket != nil,
            !gate.passable.contains(demand(of: executor))
        else { return nil }
        return gate.view.sentence(demand(of: executor))
    }

    func executor(_ executor: RequestExecutor, waitsForClockAfter error: SessionError) -> Bool {
        guard settings.waitsForClock, demand(of: executor).needsNetwork, clock.explains(error) else {
            return false
        }
        _ = gate.clockChanged(isWrong: true)
        tasks.gateChanged(gate.view)
        return true
    }

    func binding(for executor: RequestExecutor) -> PathBinding {
        let wanted = executor.options.interface ?? executor.task.session.configuration.interface
        let binding = wanted.map { PathBinding.interface($0) } ?? gate.binding
        return binding == .any || executor.request.url.isOnThisMachine ? .any : binding
    }

    func executorParked(_ executor: RequestExecutor, _ failure: SessionError?) {
        enqueueParked(executor, failure)
        if failure != nil { return startReady() }
        publishCounts()
        setTimer()
    }

    func executor(_ executor: RequestExecutor, mayUse detour: Detour) -> UplinkTraits? {
        let detour = network.priced(detour)
        let facts = restricted(NetworkFacts(.online).detoured(by: detour))
        let mayUse =
            lines.mayTake(detour.uplink, to: executor.request.url)
            && facts.met(isBound: true).contains(demand(of: executor))
        return mayUse ? detour.traits : nil
    }

    func executor(_ executor: RequestExecutor, found detour: Detour, by engine: TransferEngine) {
        lines.found(network.priced(detour), by: engine, for: executor.request)
    }

    func executorLostPath(_ executor: RequestExecutor) {
        enqueueParked(executor, nil)
        // The gate gets the loss through another socket, perhaps a moment later.
        startsSuspendedUntil = startsSuspendedUntil ?? Reactor.now &+ 1_000_000
        setTimer()
        publishCounts()
    }

    func executor(_ executor: RequestExecutor, waitsForConnection isWaiting: Bool) {
        tasks.setWaitsForConnection(executor.task, isWaiting)
    }

    func executorFinished(_ executor: RequestExecutor) { finished(executor.task) }
}
