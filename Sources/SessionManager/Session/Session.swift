// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import SessionCore
import Synchronization

/// What the tasks of a manager run in: one pool of connections, one set of cookies, one configuration.
///
/// A manager makes it when the first task is made, and a new one after it was invalidated with a reset.
public final class Session: Sendable {
    private struct State: ~Copyable {
        /// By their identifiers.
        var tasks = NumberedItems<SessionTask>()
        var isInvalid = false
        /// Called when the last task of an invalidated session has ended.
        var whenEmpty: (@Sendable () -> Void)?
    }

    /// What its tasks have in common.
    public let configuration: SessionConfiguration
    /// How its servers are judged.
    public let policy: SecurityPolicy
    /// Who is asked about servers instead of the policy; nil for nobody.
    let serverJudge: (any SessionDelegate)?
    private let reactor: Reactor
    private let runners: LoopBound<RunnerTable>
    private let state = Mutex(State())
    let events: EventHub
    /// The manager's, which decides when tasks start.
    let queue: RequestQueue

    init(
        configuration: SessionConfiguration, policy: SecurityPolicy, serverJudge: (any SessionDelegate)?,
        reactor: Reactor, events: EventHub, queue: RequestQueue
    ) {
        self.queue = queue
        self.serverJudge = serverJudge
        self.configuration = configuration
        self.policy = policy
        self.reactor = reactor
        self.events = events
        runners = LoopBound(
            RunnerTable(
                reactor: reactor, configuration: configuration, policy: policy, asks: serverJudge != nil,
                queue: queue.scheduler(on: reactor)),
            to: reactor)
    }

    deinit {
        // Every task holds its session, so none is left. The engine has to go on its own thread.
        runners.perform { $0.close() }
    }

    /// Tasks that have not completed.
    var tasks: [SessionTask] {
        state.withLock { $0.tasks.all }
    }

    /// Takes a task in; false once it has been invalidated.
    func adopt(_ task: SessionTask) -> Bool {
        state.withLock { state in
            guard !state.isInvalid else { return false }
            state.tasks.add(task, task.identifier)
            return true
        }
    }

    func forget(_ task: SessionTask) {
        let callback: (@Sendable () -> Void)? = state.withLock { state in
            state.tasks.remove(task.identifier)
            guard state.tasks.isEmpty else { return nil }
            return state.whenEmpty.take()
        }
        callback?()
    }

    /// Takes no more tasks; `whenEmpty` is called when the last one has ended.
    func invalidate(cancellingTasks: Bool, whenEmpty: @escaping @Sendable () -> Void) {
        let (tasks, isFirst): ([SessionTask], Bool) = state.withLock { state in
            guard !state.isInvalid else { return ([], false) }
            state.isInvalid = true
            if !state.tasks.isEmpty { state.whenEmpty = whenEmpty }
            return (state.tasks.all, true)
        }
        guard isFirst else { return }
        if tasks.isEmpty { return whenEmpty() }
        if cancellingTasks { for task in tasks { task.cancel() } }
    }

    /// Whether it has been invalidated.
    public var isInvalid: Bool { state.withLock { $0.isInvalid } }

    // MARK: What tasks ask for

    func start(_ task: SessionTask) {
        // Without a closure on the heap where that is not needed.
        if reactor.isCurrent { runners.here { $0.start(task) } } else { runners.perform { $0.start(task) } }
    }
    func stop(_ task: SessionTask) { onLoop { $0.stop(task) } }
    func setSuspended(_ task: SessionTask, _ isSuspended: Bool) {
        onLoop { $0.setSuspended(task, isSuspended) }
    }
    func noteResumed(_ task: SessionTask) { events.send(.resumed(task)) }
    func noteSuspended(_ task: SessionTask) { events.send(.suspended(task)) }

    /// On the loop's own thread at once: the next request of a chain leaves in the same turn.
    private func onLoop(_ body: @escaping @Sendable (RunnerTable) -> Void) {
        if reactor.isCurrent { runners.here(body) } else { runners.perform(body) }
    }
}
