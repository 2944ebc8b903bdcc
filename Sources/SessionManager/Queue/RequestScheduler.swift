// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import ReachabilityCore
import SessionCore

/// Starts, holds and parks the tasks of a manager, as gate and queue decide; on the loop's thread.
final class RequestScheduler {
    /// A task that does not run.
    struct Held {
        let task: SessionTask
        unowned let table: RunnerTable
        /// Once it has been started.
        var runner: TaskRunner?
        /// The failure that it is held for; reported where nothing better comes of it.
        var failure: SessionError?
        /// The reason that was told last.
        var told: HoldReason?
    }

    let reactor: Reactor
    let events: EventBroadcaster<SessionEvent>
    let report: QueueReport
    var queue: RequestQueueStateMachine
    var gate = RequestGateStateMachine()
    var settings: RequestQueue.Settings
    /// By the tickets' places.
    var held: ContiguousArray<Held?> = []
    /// Those of the sessions that have started a task.
    var tables: [RunnerTable] = []
    var observation: ReachabilityObservation?
    /// Kept alive while it is followed.
    var provider: (any ReachabilityProvider)?
    var isFollowing = false
    /// Whether the connections themselves are watched, so that only those which are dead are parked.
    var watchesConnections = false
    /// Whether the internet was found; nil where nobody looks.
    var hasInternet: Bool?
    /// Paths were lost an instant ago, and the gate may not have heard of it yet: nobody starts until then.
    var quietUntil: Int64?
    private var timer: TimerID?
    private var deadline = Int64.max
    private var isPumping = false
    private var isClosed = false
    /// An event with the counts is on its way.
    private var isTelling = false

    init(
        _ settings: RequestQueue.Settings, reactor: Reactor, events: EventBroadcaster<SessionEvent>,
        report: QueueReport
    ) {
        self.settings = settings
        self.reactor = reactor
        self.events = events
        self.report = report
        queue = RequestQueueStateMachine(seed: UInt64(bitPattern: Reactor.now))
        takeOver(settings)
        _ = gate.rescuePolicyChanged(settings.rescue, at: Reactor.now)
    }

    func close() {
        isClosed = true
        observation?.cancel()
        observation = nil
        provider = nil
        if let timer { _ = reactor.cancel(timer) }
        timer = nil
    }

    // MARK: Tasks

    /// A task was resumed for the first time.
    ///
    /// - Parameter isSuspended: it was suspended since; it takes its place in the queue, and waits there.
    func submit(_ task: SessionTask, _ table: RunnerTable, isSuspended: Bool) {
        if !isFollowing { follow() }
        if task.plan.options.queueing == nil, settings.maximumRequestsPerHost == nil, quietUntil == nil,
            !isSuspended, let ticket = queue.admitted()
        {
            task.place.enter(ticket)
            table.launch(task)
            tell()
        } else {
            enqueue(task, table, isSuspended: isSuspended)
        }
    }

    private func enqueue(_ task: SessionTask, _ table: RunnerTable, isSuspended: Bool) {
        let options = task.plan.options.queueValues
        var request = QueueRequest()
        request.demand = table.demandBeforeStart(of: task)
        request.priority = task.priority
        request.lane = options.lane
        if settings.maximumRequestsPerHost != nil { request.host = task.originalRequest.url.originText }
        request.offlineLimit = patience(of: task)
        let dependencies = options.dependencies.filter { $0 !== task }
        request.dependencies = dependencies.count
        let ticket = queue.enqueued(request, at: Reactor.now)
        task.place.enter(ticket)
        task.place.demand = request.demand
        while held.count <= ticket.index { held.append(nil) }
        held[ticket.index] = Held(task: task, table: table)
        if isSuspended { queue.suspended(ticket, at: Reactor.now) }
        for dependency in dependencies { wait(for: dependency, ticket, isStrict: !options.ignoresFailures) }
        pump()
        noteHold(ticket)
    }

    /// How long the network may hold a task, in nanoseconds.
    func patience(of task: SessionTask) -> Int64? {
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
        guard queue.hold(of: ticket).contains(.dependency) else { return }
        guard let failure else {
            queue.dependencyEnded(ticket, at: Reactor.now)
            noteHold(ticket)
            return pump()
        }
        end(
            ticket,
            SessionError(
                .dependencyFailed, "a task that this one waits for has failed: \(failure.message)",
                underlying: failure))
        pump()
    }

    /// Ends one that is held.
    func end(_ ticket: QueueTicket, _ error: SessionError) {
        guard ticket.index < held.count, let held = held[ticket.index].take() else { return }
        if let runner = held.runner { return runner.end(error) }
        finished(held.task)
        held.task.finish(TaskOutcome(error: error.with(failingURL: held.task.originalRequest.url)))
    }

    /// A task has ended, or was cancelled while it waited.
    func finished(_ task: SessionTask) {
        guard let ticket = task.place.leave() else { return }
        if ticket.index < held.count { held[ticket.index] = nil }
        let successor = queue.finished(ticket, at: Reactor.now)
        if let successor { noteHold(successor) }
        if queue.isWaiting { pump() } else { tell() }
    }

    /// The user holds a task, or lets it go on.
    func setSuspended(_ task: SessionTask, _ isSuspended: Bool, _ table: RunnerTable) {
        guard let ticket = task.place.ticket else { return }
        let runner = table.runner(of: task)
        if isSuspended {
            queue.suspended(ticket, at: Reactor.now)
            if let runner {
                keep(ticket, Held(task: task, table: table, runner: runner))
                runner.setSuspended(true)
            }
        } else {
            queue.resumed(ticket, at: Reactor.now)
        }
        noteHold(ticket)
        pump()
    }

    /// Remembers one that does not run, unless it is known with more.
    func keep(_ ticket: QueueTicket, _ new: Held) {
        while held.count <= ticket.index { held.append(nil) }
        if held[ticket.index] == nil { held[ticket.index] = new }
    }

    // MARK: Turns

    /// Starts whoever may start, ends whose patience has ended.
    func pump() {
        guard !isPumping, !isClosed else { return }
        isPumping = true
        var isSettled = false
        while !isSettled {
            isSettled = true
            let now = Reactor.now
            if quietUntil == nil {
                while let ticket = queue.next(at: now) {
                    begin(ticket)
                    isSettled = false
                }
            }
            while let ticket = queue.nextExpired(at: now) {
                end(ticket, offlineError(ticket))
                isSettled = false
            }
        }
        isPumping = false
        arm()
        tell()
    }

    private func begin(_ ticket: QueueTicket) {
        guard ticket.index < held.count, let held = held[ticket.index].take() else { return }
        held.task.place.note([])
        if held.told != nil { events.publish(.released(held.task)) }
        guard let runner = held.runner else { return held.table.launch(held.task) }
        runner.setSuspended(false)
        guard runner.isParked else { return }
        runner.goOn(over: held.table.binding(for: runner))
    }

    private func offlineError(_ ticket: QueueTicket) -> SessionError {
        let held = ticket.index < held.count ? held[ticket.index] : nil
        if let failure = held?.failure { return failure }
        let reason = held.flatMap { gate.view.networkReason($0.task.place.demand) }
        let words: String =
            switch reason {
            case .network(let sentence)?:
                sentence.isEmpty ? "there is no network" : "there is no network: \(sentence)"
            case .condition(let condition)?: "the network is not \(condition)"
            case .internet?: "the internet was not found behind the network"
            default: "the network comes and goes"
            }
        return SessionError(.notConnectedToInternet, words, failingURL: held?.task.originalRequest.url)
    }

    /// Sets the timer to the next thing that happens by itself.
    func arm() {
        let next = min(gate.nextDeadline ?? .max, queue.nextDeadline ?? .max, quietUntil ?? .max)
        guard next != deadline else { return }
        deadline = next
        guard next < .max else {
            if let timer { _ = reactor.cancel(timer) }
            timer = nil
            return
        }
        if let timer, reactor.reschedule(timer, at: next) { return }
        timer = reactor.schedule(at: next) { [unowned self] in
            timer = nil
            deadline = .max
            deadlineReached()
        }
    }

    private func deadlineReached() {
        let now = Reactor.now
        if let end = quietUntil, end <= now { quietUntil = nil }
        apply(gate.deadlineReached(at: now))
        queue.deadlineReached(at: now)
        pump()
    }

    // MARK: Telling

    /// Makes the counts known.
    func tell() {
        var counts = queue.counts
        // Those that wait for a connection of their host run as far as the queue is concerned.
        for table in tables {
            let waiting = table.waitingForConnection
            counts.active -= waiting
            counts.waitingForTurn += waiting
        }
        guard report.update(counts), events.hasSubscribers, !isTelling else { return }
        isTelling = true
        let me = LoopBound(self, to: reactor)
        reactor.perform {
            me.here { scheduler in
                scheduler.isTelling = false
                scheduler.events.publish(.queueChanged(scheduler.report.counts))
            }
        }
    }

    /// Makes known that a task which has begun waits for a connection, or does not wait for one any more.
    func noteLine(_ task: SessionTask, _ isInLine: Bool) {
        guard task.place.note(isInLine: isInLine) else { return }
        events.publish(isInLine ? .held(task, .turn) : .released(task))
    }

    /// Makes known why a task waits.
    func noteHold(_ ticket: QueueTicket) {
        guard ticket.index < held.count, let one = held[ticket.index] else { return }
        let hold = queue.hold(of: ticket)
        one.task.place.note(hold)
        guard events.hasSubscribers, !hold.isEmpty, !hold.contains(.user) else { return }
        let reason = report.reasons(hold, one.task.place.demand).first ?? .turn
        guard reason != one.told else { return }
        held[ticket.index]?.told = reason
        events.publish(.held(one.task, reason))
    }
}
