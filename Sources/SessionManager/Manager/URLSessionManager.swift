// SPDX-License-Identifier: Apache-2.0

package import EventLoop
public import Reachability
public import SessionCore
import Synchronization

/// Makes tasks and delivers what they bring: one pool of connections, one serializer, one queue for blocks.
///
/// It needs no main queue and no run loop: transfers run on a thread of the library, and blocks are called on
/// ``completionQueue``. Every member may be used from any thread. Tasks that were resumed last until they
/// have completed, and keep what they need alive: a manager may be released while they run. A task that was
/// never resumed lasts as long as it is kept.
public final class URLSessionManager: Sendable {
    private struct State: ~Copyable {
        var sessions = ManagedSessions()
        var serializer: any ResponseSerializer
        var queue: DeliveryQueue
        var delegate: (any SessionDelegate)?
        /// Whether the delegate gets bytes.
        var delegateHearsBytes = false
        /// The delegate, where it wants to be asked about servers.
        var serverJudge: (any SessionDelegate)?
        var interceptor: (any RequestInterceptor)?
        var policy: SecurityPolicy
        var cache: DiskResponseCache? { didSet { renewCaching() } }
        var cachedResponseHandler: (any CachedResponseHandler)? { didSet { renewCaching() } }
        /// Both together, ready for tasks.
        var caching: CacheAccess?
        var monitors: [EventMonitor] = []
        var strictTransport: StrictTransport?

        /// The plan of tasks without options.
        var ordinaryPlan: Shared<TaskPlan>?

        private mutating func renewCaching() {
            caching = cache.map { CacheAccess($0, handler: cachedResponseHandler) }
        }
    }

    /// What all sessions of this manager have in common.
    public let configuration: SessionConfiguration
    package let reactor: Result<Reactor, SessionError>
    /// Makes what carries out the transfers instead of libcurl; nil for libcurl.
    let makeCarrier: CarrierMaker?
    /// nil where it speaks to the network alone.
    private let sockets: SocketCalls?
    private let state: Mutex<State>
    private let hub = EventBroadcaster<SessionEvent>()
    /// Decides when tasks start, and holds them while there is no network.
    public let queue: RequestQueue

    /// A manager.
    ///
    /// - Parameters:
    ///   - configuration: limits, proxy and interface of its connections.
    ///   - securityPolicy: how servers are judged.
    ///   - responseSerializer: judges responses and makes objects of their content.
    ///   - completionQueue: where blocks are called.
    ///   - queue: when tasks start, and which network they follow; may be changed later by ``queue``.
    public init(
        configuration: SessionConfiguration = SessionConfiguration(),
        securityPolicy: SecurityPolicy = .default,
        responseSerializer: any ResponseSerializer = JSONResponseSerializer(),
        completionQueue: DeliveryQueue = .own, queue: RequestQueue.Settings = RequestQueue.Settings()
    ) {
        self.configuration = configuration
        sockets = .all
        makeCarrier = nil
        reactor = Self.sharedReactor
        self.queue = RequestQueue(queue, reactor: try? reactor.get(), events: hub)
        state = Mutex(State(serializer: responseSerializer, queue: completionQueue, policy: securityPolicy))
    }

    /// The same for a program that uses no sockets of this machine: nil, and no URL leads to one.
    package init(
        sockets: SocketCalls?, configuration: SessionConfiguration = SessionConfiguration(),
        securityPolicy: SecurityPolicy = .default,
        responseSerializer: any ResponseSerializer = JSONResponseSerializer(),
        completionQueue: DeliveryQueue = .own, queue: RequestQueue.Settings = RequestQueue.Settings()
    ) {
        self.configuration = configuration
        self.sockets = sockets
        makeCarrier = nil
        reactor = Self.sharedReactor
        self.queue = RequestQueue(queue, reactor: try? reactor.get(), events: hub)
        state = Mutex(State(serializer: responseSerializer, queue: completionQueue, policy: securityPolicy))
    }

    /// A manager whose connections are made by this loop's thread, and so in that thread's network namespace.
    ///
    /// The shared reachability manager watches another one: one that is never started takes its place.
    package init(
        configuration: SessionConfiguration, securityPolicy: SecurityPolicy, on reactor: Reactor,
        queue: RequestQueue.Settings = RequestQueue.Settings(), sockets: SocketCalls? = .all
    ) {
        self.configuration = configuration
        self.sockets = sockets
        makeCarrier = nil
        var queue = queue
        let idle = ReachabilityManager()
        queue.startsMonitoring = false
        queue.sharedManager = { idle }
        self.queue = RequestQueue(queue, reactor: reactor, events: hub)
        self.reactor = .success(reactor)
        state = Mutex(State(serializer: HTTPResponseSerializer(), queue: .own, policy: securityPolicy))
    }

    /// A manager whose transfers are carried out by something else than libcurl.
    package init(
        settings: Settings, completionQueue: DeliveryQueue = .own, on reactor: Result<Reactor, SessionError>,
        carriedBy makeCarrier: @escaping CarrierMaker
    ) {
        configuration = settings.configuration
        self.makeCarrier = makeCarrier
        sockets = nil
        self.reactor = reactor
        queue = RequestQueue(settings.queue, reactor: try? reactor.get(), events: hub)
        state = Mutex(
            State(
                serializer: settings.responseSerializer, queue: completionQueue,
                policy: settings.securityPolicy))
    }

    /// Makes objects of content, for the tasks that are made from now on.
    public var responseSerializer: any ResponseSerializer {
        get { state.withLock { $0.serializer } }
        set { change { $0.serializer = newValue } }
    }

    /// Where the blocks of the tasks that are made from now on are called.
    public var completionQueue: DeliveryQueue {
        get { state.withLock { $0.queue } }
        set { change { $0.queue = newValue } }
    }

    /// Takes part in the tasks that are made from now on; kept alive by the manager and by these tasks.
    ///
    /// One with ``SessionDelegate/asksAboutServers``, and the one after it, get a new ``session``.
    public var delegate: (any SessionDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            // Read outside the lock: it is the delegate's own code.
            let asks = newValue?.asksAboutServers == true
            let hears = newValue?.hearsOfBytes == true
            state.withLock { state in
                // A connection that one delegate has accepted must not serve tasks of another.
                if asks || state.serverJudge != nil, state.sessions.current?.isInvalid != true {
                    state.sessions.renew()
                }
                state.delegate = newValue
                state.delegateHearsBytes = hears
                state.ordinaryPlan = nil
                state.serverJudge = asks ? newValue : nil
            }
        }
    }

    /// How servers are judged.
    ///
    /// A change holds for the tasks that are made from now on: they get a new ``session``, since a connection
    /// that was accepted under one policy must not serve another.
    public var securityPolicy: SecurityPolicy {
        get { state.withLock { $0.policy } }
        set {
            state.withLock { state in
                guard state.policy != newValue else { return }
                state.policy = newValue
                if state.sessions.current?.isInvalid != true { state.sessions.renew() }
            }
        }
    }

    /// Changes the requests of further tasks before each try, and decides whether failures are tried again.
    public var interceptor: (any RequestInterceptor)? {
        get { state.withLock { $0.interceptor } }
        set { change { $0.interceptor = newValue } }
    }

    /// The response cache of the tasks that are made from now on; nil, the default, stores and uses nothing.
    ///
    /// ``SessionCore/RequestOptions/cachePolicy`` says how it is used. The content of streams is not stored.
    public var cache: DiskResponseCache? {
        get { state.withLock { $0.cache } }
        set { change { $0.cache = newValue } }
    }

    /// Decides what the tasks that are made from now on store in ``cache``; nil stores what may be stored.
    public var cachedResponseHandler: (any CachedResponseHandler)? {
        get { state.withLock { $0.cachedResponseHandler } }
        set { change { $0.cachedResponseHandler = newValue } }
    }

    /// What the tasks that are made from now on know of hosts that want https alone; see ``hsts``.
    var strictTransport: StrictTransport? {
        get { state.withLock { $0.strictTransport } }
        set { change { $0.strictTransport = newValue } }
    }

    /// Get every step of the tasks that are made from now on; none unless set.
    public var eventMonitors: [EventMonitor] {
        get { state.withLock { $0.monitors } }
        set { change { $0.monitors = newValue } }
    }

    /// The session that new tasks belong to; made when it is first asked for.
    ///
    /// - Throws: ``SessionError/Code/outOfResources`` where no thread can be started.
    public var session: Session {
        get throws(SessionError) {
            let reactor = try reactor.get()
            return state.withLock { state in
                if let session = state.sessions.current { return session }
                let session = Session(
                    configuration: configuration, policy: state.policy, serverJudge: state.serverJudge,
                    reactor: reactor, events: hub, queue: queue, makeCarrier: makeCarrier,
                    sockets: sockets)
                state.sessions.current = session
                return session
            }
        }
    }

    /// The tasks that have not completed: data, then upload, then download tasks, each in order of making.
    public var tasks: [SessionTask] { dataTasks + uploadTasks + downloadTasks }
    /// The data and stream tasks that have not completed.
    public var dataTasks: [SessionTask] { running { $0 == .data || $0 == .stream } }
    /// The upload tasks that have not completed.
    public var uploadTasks: [SessionTask] { running { $0 == .upload } }
    /// The download tasks that have not completed.
    public var downloadTasks: [SessionTask] { running { $0 == .download } }

    /// What happens to the tasks, in order, from now on.
    ///
    /// Nothing is lost during iteration; a program that stops reading but keeps the sequence makes the memory
    /// grow. The sequence ends when the task is cancelled, or the manager and all its tasks are gone.
    public var events: AsyncStream<SessionEvent> {
        AsyncStream { continuation in
            let number = hub.subscribe({ continuation.yield($0) }, onEnd: { continuation.finish() })
            continuation.onTermination = { [weak hub] _ in hub?.unsubscribe(number) }
        }
    }

    /// Takes no more tasks.
    ///
    /// - Parameters:
    ///   - cancellingTasks: whether running tasks are cancelled, or may end.
    ///   - resettingSession: whether the next task gets a new session of the same configuration; otherwise
    ///     every further task fails with ``SessionError/Code/invalidated``.
    public func invalidate(cancellingTasks: Bool = true, resettingSession: Bool = false) {
        if !resettingSession { _ = try? session }
        let (sessions, delegate): ([Session], (any SessionDelegate)?) = state.withLock { state in
            let sessions = state.sessions.all
            if resettingSession { state.sessions.renew() }
            return (sessions, state.delegate)
        }
        for session in sessions {
            session.invalidate(cancellingTasks: cancellingTasks) { [hub, weak session] in
                guard let session else { return }
                hub.publish(.invalidated(session))
                if let delegate { Task { await delegate.sessionDidBecomeInvalid(session) } }
            }
        }
    }

    private func running(_ isWanted: (SessionTask.Kind) -> Bool) -> [SessionTask] {
        state.withLock { $0.sessions.all }.flatMap { $0.tasks.filter { isWanted($0.kind) } }
    }

    /// Changes what further tasks are planned with.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.ordinaryPlan = nil
        }
    }

    /// The manager's settings for a task, with the task's options.
    func plan(_ options: TaskOptions?) -> Shared<TaskPlan> {
        guard let options else { return ordinaryPlan() }
        return state.withLock { Shared(Self.plan($0, options)) }
    }

    /// The same for a task without options: made once.
    func ordinaryPlan() -> Shared<TaskPlan> {
        state.withLock { state in
            if let plan = state.ordinaryPlan { return plan }
            let plan = Shared(Self.plan(state, TaskOptions()))
            state.ordinaryPlan = plan
            return plan
        }
    }

    private static func plan(_ state: borrowing State, _ options: TaskOptions) -> TaskPlan {
        let (serializer, queue, delegate) = (state.serializer, state.queue, state.delegate)
        var plan = TaskPlan()
        plan.options = options
        if options.uploadProgress != nil || options.downloadProgress != nil, options.progressQueue == nil {
            plan.options.progressQueue = queue
        }
        plan.delegate = delegate
        plan.delegateHearsBytes = state.delegateHearsBytes
        plan.monitors = state.monitors
        plan.monitorsHearBytes = state.monitors.contains { $0.hearsOfBytes }
        plan.strictTransport = state.strictTransport
        plan.cache = state.caching?.with(options.cachedResponseHandler)
        plan.interceptor = Interceptor.combining(manager: state.interceptor, request: options.interceptor)
        // Judged without content, an unfit media type is no reason to refuse a file.
        plan.validation = { serializer.refusal(of: $0) }
        plan.completion = CompletionDelivery(
            serializer: serializer, queue: options.completionQueue ?? queue, group: options.completionGroup,
            delegate: delegate)
        return plan
    }

    /// A task of the current session; it lasts only while it is referenced or runs.
    ///
    /// - Parameter isResumedNext: whether the caller resumes it at once, so that it need not be watched until
    ///   then.
    func task(
        _ request: SessionRequest, _ kind: SessionTask.Kind, _ plan: Shared<TaskPlan>,
        _ block: CompletionBlock? = nil, isResumedNext: Bool = false
    ) throws(SessionError) -> SessionTask {
        let session = try session
        var request = request
        request.url = try request.url.checked
        if !plan.value.options.mirrors.isEmpty {
            try MirrorFlow.check(plan.value.options.mirrors, of: request, kind)
        }
        let task = SessionTask(Shared(request), kind: kind, session: session, plan: plan, block: block)
        let group = plan.value.options.completionGroup
        group?.enter()
        guard session.adopt(task, isResumedNext: isResumedNext) else {
            group?.leave()
            throw SessionError(
                .invalidated, "the manager has been invalidated", advice: "make a new one",
                failingURL: request.url)
        }
        task.publish(.created)
        return task
    }
}
