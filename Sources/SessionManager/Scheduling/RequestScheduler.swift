// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import ReachabilityCore
import SessionCore

/// Starts, holds and parks the tasks of a manager, as ``RequestQueueStateMachine`` and the ``NetworkGate``
/// decide.
///
/// On the loop's thread.
final class RequestScheduler {
    private let reactor: Reactor
    private let tasks: ScheduledTasks
    private let gate: NetworkGate
    private var settings: RequestQueue.Settings
    /// Of the sessions that have started a task.
    private var transports: [SessionTransport] = []
    /// A path was lost an instant ago, and the gate may not know of it yet: no task starts before this time.
    private var startsSuspendedUntil: Int64?
    private lazy var timer = DeadlineTimer(on: reactor) { [unowned self] in deadlineReached() }
    private var isStarting = false
    private var isClosed = false

    init(
        _ settings: RequestQueue.Settings, reactor: Reactor, events: EventBroadcaster<SessionEvent>,
        report: QueueReport
    ) {
        self.settings = settings
        self.reactor = reactor
        tasks = ScheduledTasks(reactor: reactor, events: events, report: report)
        gate = NetworkGate(settings, on: reactor)
        adopt(settings)
        gate.open(self)
    }

    func close() {
        isClosed = true
        gate.close()
        timer.cancel()
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
        gate.follow()
        if task.plan.options.queueing == nil, settings.maximumRequestsPerHost == nil,
            startsSuspendedUntil == nil, state != .suspended, let ticket = tasks.admit(task, transport)
        {
            launch(ticket, task, transport)
            publishCounts()
        } else {
            enqueue(task, transport, isSuspended: state == .suspended)
        }
    }

    private func enqueue(_ task: SessionTask, _ transport: SessionTransport, isSuspended: Bool) {
        let wanted = task.queueing
        let dependencies = wanted.values.dependencies.filter { $0 !== task }
        let request = QueueRequest(task, settings, dependencies: dependencies.count)
        let ticket = tasks.enqueue(task, transport, request, isSuspended: isSuspended)
        for dependency in dependencies {
            wait(for: dependency, ticket, isStrict: !wanted.values.ignoresFailures)
        }
        startReady()
        tasks.publishHold(ticket)
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
        if let failure {
            finish(
                ticket,
                SessionError(
                    .dependencyFailed, "a task that this one waits for has failed: \(failure.message)",
                    underlying: failure))
        } else {
            tasks.dependencyEnded(ticket)
        }
        startReady()
    }

    /// A task is cancelled.
    func stop(_ task: SessionTask) {
        if let ticket = task.schedule.ticket, let executor = tasks[ticket]?.executor {
            executor.finish(task.cancelledError)
        } else {
            task.finish(TaskOutcome(error: task.cancelledError))
            finished(task)
        }
    }

    /// Finishes a task that waits.
    private func finish(_ ticket: QueueTicket, _ error: SessionError) {
        guard let scheduled = tasks[ticket] else { return }
        if let executor = scheduled.executor { return executor.finish(error) }
        finished(scheduled.task)
        scheduled.task.finish(
            TaskOutcome(error: error.with(failingURL: scheduled.task.originalRequest.url)))
    }

    /// A task is finished, or was cancelled while it waited.
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
        case .running:
            if tasks.isDetached(ticket) { tasks[ticket]?.executor?.setSuspended(false) }
            tasks.resume(ticket)
        case .canceling, .completed: return
        }
        tasks.publishHold(ticket)
        startReady()
    }

    // MARK: Turns

    /// Starts the tasks whose turn it is, and finishes those that have waited too long for the network.
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
                finish(ticket, tasks.offlineError(ticket, gate.view))
                isSettled = false
            }
        }
        isStarting = false
        setTimer()
        publishCounts()
    }

    private func begin(_ ticket: QueueTicket) {
        guard let scheduled = tasks.begin(ticket) else { return }
        guard let executor = scheduled.executor else {
            return launch(ticket, scheduled.task, scheduled.transport)
        }
        executor.setSuspended(false)
        executor.unpark()
    }

    private func launch(_ ticket: QueueTicket, _ task: SessionTask, _ transport: SessionTransport) {
        guard task.state != .completed else { return finished(task) }
        do throws(SessionError) {
            let engine = try transport.carrier(
                rescues: settings.rescues, lines: gate.knowledge)
            let executor = RequestExecutor(task, engine: engine, gate: gate, delegate: self)
            tasks.started(ticket, executor)
            executor.start()
        } catch {
            finished(task)
            task.finish(TaskOutcome(error: error))
        }
    }

    /// Sets the timer to the next thing that happens by itself.
    private func setTimer() {
        timer.set(min(gate.nextDeadline ?? .max, tasks.nextDeadline ?? .max, startsSuspendedUntil ?? .max))
    }

    private func deadlineReached() {
        let now = Reactor.now
        if let end = startsSuspendedUntil, end <= now { startsSuspendedUntil = nil }
        gate.deadlineReached(at: now)
        tasks.deadlineReached(at: now)
        startReady()
    }

    /// A parked task waits again, before all that were resumed after it.
    private func enqueueParked(_ executor: RequestExecutor, _ failure: SessionError?) {
        let task = executor.task
        guard let ticket = task.schedule.ticket else { return }
        tasks.park(
            ticket, gate.demand(of: executor), failure: failure, offlineLimit: task.offlineLimit(settings))
    }

    // MARK: What others report

    func internetChanged(_ findings: InternetFindings?, by probe: InternetProbe?) {
        gate.internetChanged(findings, by: probe)
    }

    func setPaused(_ isPaused: Bool) {
        guard gate.setPaused(isPaused) else { return }
        for executor in tasks.executors where !executor.isParked {
            if isPaused {
                executor.setSuspended(true)
            } else if let ticket = executor.task.schedule.ticket, tasks.hold(of: ticket).isEmpty {
                executor.setSuspended(false)
            }
        }
        gateChanged(RequestGateStateMachine.Change())
    }

    func apply(_ new: RequestQueue.Settings) {
        // Before anything goes around a line.
        for transport in transports { transport.setRescues(new.rescues) }
        adopt(new)
        gate.apply(new)
    }

    private func adopt(_ new: RequestQueue.Settings) {
        settings = new
        tasks.limitsChanged(RequestQueueStateMachine.Limits(new))
    }

    private func publishCounts() {
        gate.setAwaited(tasks.awaitsInternet)
        tasks.publishCounts()
    }
}

extension RequestScheduler: NetworkGateDelegate {
    func viewChanged() { tasks.gateChanged(gate.view) }

    func pathsChanged() { for transport in transports { transport.pathsChanged() } }

    func linesChanged(_ lines: LineKnowledge) { for transport in transports { transport.setLines(lines) } }

    /// Carries out what a change of the gate means for the tasks that wait and those that run.
    func gateChanged(_ change: RequestGateStateMachine.Change) {
        viewChanged()
        if !change.closed.isEmpty {
            for executor in tasks.executors where executor.mustPark(change.closed) {
                executor.park(gate.lossSentence)
                if executor.isParked, !executor.isFinished { enqueueParked(executor, nil) }
            }
        }
        if gate.binding != .any {
            // The gate may get the loss of a path later than an exchange that has begun anew for it.
            for executor in tasks.executors where !executor.isParked && executor.connectsElsewhere {
                executor.losePath(gate.lossSentence)
            }
        }
        startReady()
        tasks.publishHolds()
    }

    func networkReplaced(_ sentence: String) {
        for executor in tasks.executors where !executor.isParked && executor.isLookingUp {
            if gate.demand(of: executor).needsNetwork { executor.losePath(sentence) }
        }
    }
}

extension RequestScheduler: RequestExecutorDelegate {
    func executorParked(_ executor: RequestExecutor, _ failure: SessionError?) {
        enqueueParked(executor, failure)
        if failure != nil { return startReady() }
        publishCounts()
        setTimer()
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

    func executor(_ executor: RequestExecutor, needs other: SessionTask) {
        if other.session.adopt(other, isResumedNext: true) { other.resume() }
    }

    func executorTakenOver(_ executor: RequestExecutor) {
        guard let ticket = executor.task.schedule.ticket else { return }
        tasks.detach(ticket)
        startReady()
    }

    func executorFinished(_ executor: RequestExecutor) { finished(executor.task) }
}
