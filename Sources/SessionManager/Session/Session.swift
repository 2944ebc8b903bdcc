// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
public import SessionCore
import Synchronization

/// What the tasks of a manager run in: one pool of connections, one set of cookies, one configuration.
///
/// A manager makes it when the first task is made, and a new one after it was invalidated with a reset.
public final class Session: Sendable {
    private struct State: ~Copyable {
        /// Those that were resumed, by their identifiers.
        var tasks = SmallMap<Int, SessionTask>()
        /// Tasks not resumed yet, held weakly so that they end with their last reference; a weak reference
        /// makes all counting of a task's references slower, 2,000 instructions for a request.
        var fresh = SmallMap<Int, Weak<SessionTask>>()
        var isInvalid = false
        /// Called when the last task of an invalidated session has ended, and all callers have been notified.
        var whenEmpty: (@Sendable () -> Void)?
        /// Outcomes that were read on other threads.
        var releases = DeferredReleases<TaskOutcome>()
    }

    /// What its tasks have in common.
    public let configuration: SessionConfiguration
    /// How its servers are judged.
    public let policy: SecurityPolicy
    /// The delegate that is asked about servers instead of the policy; nil where the policy decides.
    let serverJudge: (any SessionDelegate)?
    private let reactor: Reactor
    private let transport: LoopBound<SessionTransport>
    private let scheduler: LoopBound<RequestScheduler>
    private let state = Mutex(State())
    /// How many tasks have ended whose delegate, block and event are still to come.
    private let deliveries = Atomic(0)
    let events: EventBroadcaster<SessionEvent>
    /// The manager's, which decides when tasks start.
    let queue: RequestQueue

    init(
        configuration: SessionConfiguration, policy: SecurityPolicy, serverJudge: (any SessionDelegate)?,
        reactor: Reactor, events: EventBroadcaster<SessionEvent>, queue: RequestQueue,
        makeCarrier: CarrierMaker?, sockets: SocketCalls?
    ) {
        self.queue = queue
        self.serverJudge = serverJudge
        self.configuration = configuration
        self.policy = policy
        self.reactor = reactor
        self.events = events
        scheduler = queue.scheduler(on: reactor)
        transport = LoopBound(
            SessionTransport(
                reactor: reactor, configuration: configuration, policy: policy,
                asksAboutServers: serverJudge != nil, makeCarrier: makeCarrier, sockets: sockets),
            to: reactor)
    }

    deinit {
        // Every task holds its session, so none is left. The engine is closed on its own thread.
        let transport = transport
        scheduler.perform { scheduler in transport.here { scheduler.close($0) } }
    }

    /// Tasks that have not completed.
    var tasks: [SessionTask] {
        state.withLock { Self.tasks(of: $0) }.filter { $0.state != .completed }
    }

    private static func tasks(of state: borrowing State) -> [SessionTask] {
        guard !state.fresh.isEmpty else { return state.tasks.all }
        let fresh = state.fresh.all.compactMap(\.object)
        return (state.tasks.all + fresh).sorted { $0.identifier < $1.identifier }
    }

    /// Adds a task, which is resumed before its release if `isResumedNext`; false for an invalid session.
    func adopt(_ task: SessionTask, isResumedNext: Bool) -> Bool {
        state.withLock { state in
            guard !state.isInvalid else { return false }
            if isResumedNext {
                state.tasks.insert(task, for: task.identifier)
            } else {
                state.fresh.insert(Weak(object: task), for: task.identifier)
            }
            return true
        }
    }

    /// A task has gone; true where it was never resumed.
    func lost(_ identifier: Int) -> Bool {
        let (wasFresh, callback): (Bool, (@Sendable () -> Void)?) = state.withLock { state in
            guard state.fresh.remove(identifier) else { return (false, nil) }
            return (true, isLeft(by: state) ? state.whenEmpty.take() : nil)
        }
        callback?()
        return wasFresh
    }

    func forget(_ task: SessionTask) {
        var released: [TaskOutcome] = []
        let callback: (@Sendable () -> Void)? = state.withLock { state in
            if !state.tasks.remove(task.identifier) { state.fresh.remove(task.identifier) }
            let isEmpty = state.tasks.isEmpty
            if state.releases.isDue(all: isEmpty) { released = state.releases.removeDue(all: isEmpty) }
            return isLeft(by: state) ? state.whenEmpty.take() : nil
        }
        if !released.isEmpty {
            released.removeAll(keepingCapacity: true)
            state.withLock { $0.releases.reuse(released) }
        }
        callback?()
    }

    private func isLeft(by state: borrowing State) -> Bool {
        state.tasks.isEmpty && state.fresh.isEmpty && deliveries.load(ordering: .acquiring) == 0
    }

    /// A task has ended whose delegate, block and event are still to come.
    func deliveryBegins() { deliveries.add(1, ordering: .relaxed) }

    /// They have been called.
    func deliveryEnds() {
        guard deliveries.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        let callback = state.withLock { state in isLeft(by: state) ? state.whenEmpty.take() : nil }
        callback?()
    }

    /// What a reader on this thread gets of an outcome: copies of small content; the loop releases the rest.
    ///
    /// Memory given back on another thread costs malloc(3) a lock, which the loop needs all the time.
    func handOver(_ outcome: TaskOutcome) -> (response: SessionResponse?, data: Data?) {
        let (response, data) = (outcome.response, outcome.data)
        guard outcome.isSmall, outcome.error == nil, !reactor.isCurrent else { return (response, data) }
        state.withLock { state in
            // Where no task is under way the lock is not contended, and a stored outcome would stay for long.
            if !state.tasks.isEmpty { state.releases.add(outcome) }
        }
        return (response?.copied, data?.copied)
    }

    /// Takes no more tasks; the first call's `whenEmpty` is called when all have ended and been notified of.
    func invalidate(cancellingTasks: Bool, whenEmpty: @escaping @Sendable () -> Void) {
        let (tasks, isLeft): ([SessionTask], Bool) = state.withLock { state in
            // A caller that lets the tasks end may cancel them later; it is notified once.
            guard !state.isInvalid else { return (Self.tasks(of: state), false) }
            state.isInvalid = true
            guard !self.isLeft(by: state) else { return ([], true) }
            state.whenEmpty = whenEmpty
            return (Self.tasks(of: state), false)
        }
        if isLeft { return whenEmpty() }
        if cancellingTasks { for task in tasks { task.cancel() } }
    }

    /// Whether it has been invalidated.
    public var isInvalid: Bool { state.withLock { $0.isInvalid } }

    // MARK: What tasks ask for

    /// A task is resumed for the first time: it lasts until it has ended.
    func start(_ task: SessionTask) {
        state.withLock { state in
            // One that was cancelled meanwhile is in neither.
            guard !state.fresh.isEmpty, state.fresh.remove(task.identifier) else { return }
            state.tasks.insert(task, for: task.identifier)
        }
        publishResumed(task)
        // A closure that captures one object needs no memory of its own.
        if reactor.isCurrent { submit(task) } else { reactor.perform { task.session.submit(task) } }
    }
    private func submit(_ task: SessionTask) {
        scheduler.here { scheduler in transport.here { scheduler.submit(task, $0) } }
    }
    func stop(_ task: SessionTask) {
        // On the loop's own thread at once: the next request of a chain is sent in the same turn.
        if reactor.isCurrent {
            scheduler.here { $0.stop(task) }
        } else {
            scheduler.perform { $0.stop(task) }
        }
    }
    /// A task that has been started was suspended or resumed.
    func followState(of task: SessionTask) {
        if reactor.isCurrent {
            scheduler.here { $0.followState(of: task) }
        } else {
            scheduler.perform { $0.followState(of: task) }
        }
    }
    func publishResumed(_ task: SessionTask) { events.publish(.resumed(task), unlessEnded: task) }
    func publishSuspended(_ task: SessionTask) { events.publish(.suspended(task), unlessEnded: task) }
}

/// A reference that keeps nothing alive.
private struct Weak<Object: AnyObject & Sendable> {
    weak var object: Object?
}

/// The sessions of a manager: the one of further tasks, and former ones in which tasks still run.
struct ManagedSessions {
    /// For further tasks; nil until it is asked for.
    var current: Session?
    /// For as long as tasks hold them.
    private var former: [Weak<Session>] = []

    /// All that may have tasks, the oldest first.
    var all: [Session] { former.compactMap(\.object) + (current.map { [$0] } ?? []) }

    /// Has the next task get a new session; what runs in this one continues.
    mutating func renew() {
        former.removeAll { $0.object == nil }
        if let session = current.take() { former.append(Weak(object: session)) }
    }
}
