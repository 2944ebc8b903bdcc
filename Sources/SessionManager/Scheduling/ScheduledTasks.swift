// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// A task from its first resume to its end.
struct ScheduledTask {
    let task: SessionTask
    let transport: SessionTransport
    /// Nil before its start.
    var executor: RequestExecutor?
    /// The failure for which it waits; its outcome where the wait is in vain.
    var failure: SessionError?
    /// The reason for its wait that was published last.
    fileprivate var reportedReason: HoldReason?
}

/// The tasks in a manager's queue, each with its ticket of ``RequestQueueStateMachine``, and the events that
/// say why they wait; on the loop's thread.
final class ScheduledTasks {
    private let reactor: Reactor
    private let events: EventBroadcaster<SessionEvent>
    private let report: QueueReport
    private var queue = RequestQueueStateMachine(seed: UInt64(bitPattern: Reactor.now))
    /// By the indices of their tickets.
    private var tasks: ContiguousArray<ScheduledTask?> = []
    /// How many of those that have started wait for a connection of their host: to the queue they run.
    private var waitingForConnection = 0
    /// An event with the counts is on its way.
    private var isPublishing = false

    init(reactor: Reactor, events: EventBroadcaster<SessionEvent>, report: QueueReport) {
        self.reactor = reactor
        self.events = events
        self.report = report
    }

    subscript(ticket: QueueTicket) -> ScheduledTask? { tasks[ticket.index] }

    /// Of the tasks that have started.
    var executors: [RequestExecutor] { tasks.compactMap { $0?.executor } }
    var isWaiting: Bool { queue.isWaiting }
    /// When ``deadlineReached(at:)`` is to be called; nil for never.
    var nextDeadline: Int64? { queue.nextDeadline }

    /// What holds a task besides gate and limits.
    func hold(of ticket: QueueTicket) -> QueueHold { queue.hold(of: ticket) }

    // MARK: From the first resume to the end

    /// Adds a task that starts at once; nil where it has to be enqueued.
    func admit(_ task: SessionTask, _ transport: SessionTransport) -> QueueTicket? {
        guard let ticket = queue.admitted() else { return nil }
        add(ScheduledTask(task: task, transport: transport), ticket)
        return ticket
    }

    /// Adds a task that waits for its turn.
    func enqueue(
        _ task: SessionTask, _ transport: SessionTransport, _ request: QueueRequest, isSuspended: Bool
    ) -> QueueTicket {
        let ticket = queue.enqueued(request, at: Reactor.now)
        add(ScheduledTask(task: task, transport: transport), ticket)
        if isSuspended { queue.suspended(ticket, at: Reactor.now) }
        return ticket
    }

    private func add(_ new: consuming ScheduledTask, _ ticket: QueueTicket) {
        new.task.schedule.enter(ticket)
        while tasks.count <= ticket.index { tasks.append(nil) }
        tasks[ticket.index] = new
    }

    /// The next task whose turn it is.
    func next(at now: Int64) -> QueueTicket? { queue.next(at: now) }

    /// The next task that has waited too long for the network.
    func nextExpired(at now: Int64) -> QueueTicket? { queue.nextExpired(at: now) }

    /// Why a task fails that has waited too long.
    func offlineError(_ ticket: QueueTicket, _ gate: GateView) -> SessionError {
        let scheduled = tasks[ticket.index]
        if let failure = scheduled?.failure { return failure }
        let waits = scheduled?.task.queueing.values.waitsForNetwork ?? true
        return SessionError(
            .notConnectedToInternet,
            gate.failureSentence(queue.demand(of: ticket)),
            advice: waits
                ? "it waited as long as offlineLimit says"
                : "it did not wait for one, since its waitsForNetwork is false",
            failingURL: scheduled?.task.originalRequest.url)
    }

    /// The turn of a task has come.
    func begin(_ ticket: QueueTicket) -> ScheduledTask? {
        guard let scheduled = tasks[ticket.index] else { return nil }
        tasks[ticket.index]?.failure = nil
        tasks[ticket.index]?.reportedReason = nil
        // A literal of an option set of another module is a generic call, 800 instructions.
        scheduled.task.schedule.publish(QueueHold(), .anyPath)
        if scheduled.reportedReason != nil { events.publish(.released(scheduled.task)) }
        return scheduled
    }

    func started(_ ticket: QueueTicket, _ executor: RequestExecutor) {
        tasks[ticket.index]?.executor = executor
    }

    /// A task that has started waits again, before all that were resumed after it.
    ///
    /// - Parameters:
    ///   - failure: its outcome where the wait is in vain.
    ///   - offlineLimit: how long the network may hold it, in nanoseconds; nil for as long as it takes.
    func park(
        _ ticket: QueueTicket, _ demand: NetworkDemand, failure: SessionError?, offlineLimit: Int64?
    ) {
        tasks[ticket.index]?.failure = failure
        queue.limited(ticket, to: offlineLimit)
        queue.parked(ticket, demand: demand, at: Reactor.now)
        publishHold(ticket)
    }

    /// Removes a task that has ended, or was cancelled while it waited; false where it is none of these.
    func remove(_ task: SessionTask) -> Bool {
        if task.schedule.setWaitsForConnection(false) { waitingForConnection -= 1 }
        guard let ticket = task.schedule.leave() else { return false }
        tasks[ticket.index] = nil
        if let successor = queue.finished(ticket, at: Reactor.now) { publishHold(successor) }
        return true
    }

    // MARK: What holds them

    func suspend(_ ticket: QueueTicket) { queue.suspended(ticket, at: Reactor.now) }
    func resume(_ ticket: QueueTicket) { queue.resumed(ticket, at: Reactor.now) }

    /// One that runs for long gives its place to others.
    func detach(_ ticket: QueueTicket) {
        if let successor = queue.detached(ticket, at: Reactor.now) { publishHold(successor) }
    }
    func isDetached(_ ticket: QueueTicket) -> Bool { queue.isDetached(ticket) }

    func dependencyEnded(_ ticket: QueueTicket) {
        queue.dependencyEnded(ticket, at: Reactor.now)
        publishHold(ticket)
    }

    func gateChanged(_ gate: GateView) {
        queue.gateChanged(passable: gate.passable, isPaused: gate.isPaused, at: Reactor.now)
        report.update(gate)
    }

    var awaitsInternet: Bool { queue.awaitsInternet }
    func limitsChanged(_ limits: RequestQueueStateMachine.Limits) { queue.limitsChanged(limits) }
    func deadlineReached(at now: Int64) { queue.deadlineReached(at: now) }

    /// A task waits for a connection of its host, or does not any more.
    func setWaitsForConnection(_ task: SessionTask, _ isWaiting: Bool) {
        guard task.schedule.setWaitsForConnection(isWaiting) else { return }
        waitingForConnection += isWaiting ? 1 : -1
        events.publish(isWaiting ? .held(task, .turn) : .released(task))
    }

    // MARK: Publishing

    /// Publishes how many tasks are where.
    func publishCounts() {
        var counts = queue.counts
        counts.active -= waitingForConnection
        counts.waitingForTurn += waitingForConnection
        guard report.update(counts), events.hasSubscribers, !isPublishing else { return }
        isPublishing = true
        let me = LoopBound(self, to: reactor)
        reactor.perform {
            me.here { tasks in
                tasks.isPublishing = false
                tasks.events.publish(.queueChanged(tasks.report.counts))
            }
        }
    }

    /// Publishes why a task waits.
    func publishHold(_ ticket: QueueTicket) {
        guard let scheduled = tasks[ticket.index] else { return }
        let (task, hold, demand) = (scheduled.task, queue.hold(of: ticket), queue.demand(of: ticket))
        task.schedule.publish(hold, demand)
        guard events.hasSubscribers, !hold.isEmpty, !hold.contains(.user) else { return }
        let reason = report.reasons(hold, demand).first ?? .turn
        guard reason != scheduled.reportedReason else { return }
        tasks[ticket.index]?.reportedReason = reason
        events.publish(.held(task, reason))
    }

    /// Publishes why each task waits.
    func publishHolds() {
        guard events.hasSubscribers else { return }
        for scheduled in tasks { if let ticket = scheduled?.task.schedule.ticket { publishHold(ticket) } }
    }
}
