// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

/// The runners of a session's tasks and the engine they share; on the loop's thread.
final class RunnerTable {
    let reactor: Reactor
    let configuration: SessionConfiguration
    let policy: SecurityPolicy
    /// Whether a delegate is asked about servers.
    let asks: Bool
    private let queue: LoopBound<RequestScheduler>
    /// Decides when tasks start.
    private lazy var scheduler: RequestScheduler = {
        let scheduler = queue.here { $0 }
        scheduler.tables.append(self)
        return scheduler
    }()
    private var engine: TransferEngine?
    /// By the places of their tickets, which they have from beginning to end.
    private var places: ContiguousArray<TaskRunner?> = []

    init(
        reactor: Reactor, configuration: SessionConfiguration, policy: SecurityPolicy, asks: Bool,
        queue: LoopBound<RequestScheduler>
    ) {
        self.asks = asks
        self.policy = policy
        self.reactor = reactor
        self.configuration = configuration
        self.queue = queue
    }

    func start(_ task: SessionTask) {
        // Cancelled or suspended by the loop's own thread before the message of another one arrived.
        let state = task.state
        guard state != .completed else { return }
        scheduler.submit(task, self, isSuspended: state == .suspended)
    }

    /// Runs a task whose turn it is.
    func launch(_ task: SessionTask) {
        guard task.state != .completed else { return scheduler.finished(task) }
        do throws(SessionError) {
            let engine = try currentEngine()
            let runner = TaskRunner(task, engine: engine, table: self)
            keep(runner)
            runner.start()
        } catch {
            scheduler.finished(task)
            task.finish(TaskOutcome(error: error))
        }
    }

    private func keep(_ runner: TaskRunner) {
        guard let index = runner.task.place.ticket?.index else { return }
        while places.count <= index { places.append(nil) }
        places[index] = runner
    }

    private func currentEngine() throws(SessionError) -> TransferEngine {
        if let engine { return engine }
        let new = try TransferEngine(
            reactor: reactor, configuration: configuration, policy: policy, asks: asks)
        engine = new
        followRescuePolicy()
        return new
    }

    func stop(_ task: SessionTask) {
        if let runner = runner(of: task) {
            runner.end(task.cancelledError)
        } else {
            task.finish(TaskOutcome(error: task.cancelledError))
            scheduler.finished(task)
        }
    }

    /// A runner has completed its task.
    func ended(_ runner: TaskRunner) {
        if let index = place(of: runner.task) { places[index] = nil }
        scheduler.finished(runner.task)
    }

    /// A running task waits until its host has room for a connection, or does not wait any more.
    func noteLine(_ task: SessionTask, _ isInLine: Bool) { scheduler.noteLine(task, isInLine) }

    /// The connection of a running task is dead; the sentence says why.
    ///
    /// The task is parked, and goes on when there is a path that it may use, which is now where another one is up.
    func lostPath(_ runner: TaskRunner, _ sentence: String) {
        guard !runner.isOver, !runner.isParked else { return }
        scheduler.lostPath(runner)
    }

    /// Binding to an alternative is for connections of which the gate says nothing, too.
    func followRescuePolicy() { engine?.rescues = scheduler.settings.rescue == .automatic }

    /// The gate has heard of another path, or of one after none.
    func pathsChanged() { engine?.pathsChanged() }

    /// Lets someone who waits for a task's end go on when this turn's ends are all known: whoever is woken then finds them together.
    func wake(_ waiter: UnsafeContinuation<Void, Never>) {
        guard let engine, !reactor.hasEnded else { return waiter.resume() }
        engine.waiters.append(waiter)
    }

    /// Holds a task, or lets it go on, as it is told to be now.
    ///
    /// Not as the message says: what the loop's own thread says is done at once, and overtakes the messages of others.
    func followState(of task: SessionTask) {
        switch task.state {
        case .running: scheduler.setSuspended(task, false, self)
        case .suspended: scheduler.setSuspended(task, true, self)
        case .canceling, .completed: break
        }
    }

    func close() {
        scheduler.tables.removeAll { $0 === self }
        places = []
        engine?.close()
        engine = nil
    }
}

// What the queue and the runners ask about.
extension RunnerTable {
    /// Those of the tasks that have begun and not ended.
    var runners: [TaskRunner] { places.compactMap { $0 } }

    func runner(of task: SessionTask) -> TaskRunner? { place(of: task).flatMap { places[$0] } }

    /// Where the runner of a task is; the place of a task that has ended may be another's by now.
    private func place(of task: SessionTask) -> Int? {
        guard let index = task.place.ticket?.index, places.indices.contains(index),
            places[index]?.task === task
        else { return nil }
        return index
    }

    /// How many transfers wait until their host has room for a connection.
    var waitingForConnection: Int { engine?.waiting ?? 0 }

    /// Whether an exchange may begin now; where not, its task is parked.
    func admits(_ runner: TaskRunner) -> Bool { scheduler.admits(runner) }

    /// Whether a task that has failed waits for the network instead.
    func holds(_ runner: TaskRunner, _ failure: SessionError) -> Bool { scheduler.holds(runner, failure) }

    /// What the sockets of a request that a runner sends now are bound to.
    func binding(for runner: TaskRunner) -> PathBinding {
        let binding = scheduler.gate.binding
        guard binding != .any, runner.options.interface == nil, configuration.interface == nil,
            !runner.request.url.isOnThisMachine
        else { return .any }
        return binding
    }

    /// What the exchange that a task is at asks of the network.
    func demand(of runner: TaskRunner) -> NetworkDemand { demand(runner.request, runner.task) }

    /// What a task asks of the network before it starts: nothing where a stored response may do.
    func demandBeforeStart(of task: SessionTask) -> NetworkDemand {
        let request = task.originalRequest
        if task.plan.cache != nil, task.plan.stream == nil, request.method == .get,
            request.options.cachePolicy != .reloadIgnoringLocalCacheData
        {
            return .nothing
        }
        return demand(request, task)
    }

    private func demand(_ request: SessionRequest, _ task: SessionTask) -> NetworkDemand {
        if request.url.isOnThisMachine { return .nothing }
        let options = task.plan.options.queueValues
        return NetworkDemand(
            options.networkCondition, avoidsExpense: !request.options.allowsExpensiveNetwork,
            needsInternet: options.requiresInternet)
    }
}
