// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
public import SessionCore
import Synchronization

/// The order in which a manager's tasks start, and what holds them: limits, lanes, the user, and above all
/// the network.
///
/// Every manager has one (``URLSessionManager/queue``). While its provider says that there is no usable path,
/// nothing starts, nothing fails, and nothing wakes the processor. When the path is back and has lasted for a
/// moment, tasks start in the order in which they were resumed, within the limits, a few at first
/// (``SessionCore/RequestRamp``). What ran when the path went away is parked and continues. Time in which a
/// task is held counts against none of its limits of time.
///
///     let task = try manager.downloadTask(with: request)
///     task.resume()                             // waits where there is no network
///     print(task.waitingReason as Any)          // network("eth0: no carrier")
///
/// A status that is `unknown` holds no task: a provider that was never started changes nothing. Hosts on this
/// machine (`localhost`, 127.0.0.0/8, `::1`) need no network and are held by the user alone.
///
/// Every member may be used from any thread.
public final class RequestQueue: Sendable {
    private struct State {
        var settings: Settings
        var isPaused = false
        var probe: InternetProbe?
        var observation: ReachabilityObservation?
    }

    private let state: Mutex<State>
    /// Nil where no thread could be started: there are no tasks then either.
    private let scheduler: LoopBound<RequestScheduler>?
    private let events: EventBroadcaster<SessionEvent>
    let report = QueueReport()

    init(_ settings: Settings, reactor: Reactor?, events: EventBroadcaster<SessionEvent>) {
        state = Mutex(State(settings: settings))
        self.events = events
        let report = report
        scheduler = reactor.map {
            LoopBound(RequestScheduler(settings, reactor: $0, events: events, report: report), to: $0)
        }
    }

    deinit {
        state.withLock { $0.observation }?.cancel()
        scheduler?.perform { $0.close() }
    }

    /// All settings at once.
    public var settings: Settings {
        get { state.withLock { $0.settings } }
        set {
            // Within the lock, so that two threads' changes arrive in one order.
            state.withLock { state in
                state.settings = newValue
                onLoop { $0.apply(newValue) }
            }
        }
    }

    /// Changes some settings, one caller after the other.
    private func change(_ change: (inout Settings) -> Void) {
        state.withLock { state in
            change(&state.settings)
            let new = state.settings
            onLoop { $0.apply(new) }
        }
    }

    /// The provider of the network's status; the shared reachability manager, which the first task starts.
    ///
    /// Another one may be set at any time; the reports of the former one do not count then.
    public var follows: NetworkSource {
        get { settings.follows }
        set { change { $0.follows = newValue } }
    }

    /// How many tasks run at most; nil, which is the default, for as many as the limit of connections per
    /// host allows.
    public var maximumActiveRequests: Int? {
        get { settings.maximumActiveRequests }
        set { change { $0.maximumActiveRequests = newValue } }
    }

    /// How many tasks run at most with one origin (scheme, host and port); nil, the default, for no limit but
    /// that of connections.
    ///
    /// Holds for tasks that are resumed from then on.
    public var maximumRequestsPerHost: Int? {
        get { settings.maximumRequestsPerHost }
        set { change { $0.maximumRequestsPerHost = newValue } }
    }

    /// How long the network may hold a task at a stretch; nil, the default, for as long as it takes.
    ///
    /// ``TaskOptions/offlineLimit`` is the same for one task. Holds for tasks that are resumed or parked from
    /// then on.
    public var offlineLimit: Duration? {
        get { settings.offlineLimit }
        set { change { $0.offlineLimit = newValue } }
    }

    /// Whether transfers are bound to another interface while the kernel's choice is dead; `automatic`.
    public var rescue: RescuePolicy {
        get { settings.rescue }
        set { change { $0.rescue = newValue } }
    }

    /// Whether requests may use a network that costs money or quota; yes.
    ///
    /// With false all of them wait while the network is one, and none leaves a dead line for such an uplink.
    /// ``SessionCore/RequestOptions/allowsExpensiveNetwork`` is the same for one request. What runs goes on
    /// until its connection is lost; where ``follows`` is no manager of this library it is parked.
    public var allowsExpensiveNetwork: Bool {
        get { settings.allowsExpensiveNetwork }
        set { change { $0.allowsExpensiveNetwork = newValue } }
    }

    /// Whether requests may use a network on which data is to be saved; yes.
    ///
    /// As with ``allowsExpensiveNetwork``.
    public var allowsConstrainedNetwork: Bool {
        get { settings.allowsConstrainedNetwork }
        set { change { $0.allowsConstrainedNetwork = newValue } }
    }

    /// Whether a request whose server's certificate a wrong clock makes invalid waits until the clock is set;
    /// yes.
    ///
    /// That is a certificate that is not valid yet, or one that has expired by a clock beyond 2055, while
    /// nothing keeps the clock right (adjtimex(2)). The task is held with ``SessionCore/HoldReason/clock``
    /// and tried again each time the clock is set; ``offlineLimit`` holds, and
    /// ``TaskOptions/waitsForNetwork`` set to false means that it fails at once. Hosts on this machine are
    /// not waited for.
    public var waitsForClock: Bool {
        get { settings.waitsForClock }
        set { change { $0.waitsForClock = newValue } }
    }

    /// How those that waited start when the network is back.
    public var ramp: RequestRamp {
        get { settings.ramp }
        set { change { $0.ramp = newValue } }
    }

    // MARK: The user's pause

    /// Whether ``pause()`` was called and ``resume()`` was not.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Holds everything: nothing starts, and the bytes of what runs stop, as with ``SessionTask/suspend()``.
    ///
    /// A reason of its own beside the network: its return does not end the pause, and ``resume()`` does not
    /// bring it back.
    public func pause() { setPaused(true) }

    /// Ends the pause.
    public func resume() { setPaused(false) }

    private func setPaused(_ isPaused: Bool) {
        state.withLock { state in
            guard state.isPaused != isPaused else { return }
            state.isPaused = isPaused
            onLoop { $0.setPaused(isPaused) }
        }
    }

    // MARK: How it is

    /// How many tasks are where; also in ``URLSessionManager/events`` (``SessionEvent/queueChanged(_:)``).
    public var counts: QueueCounts { report.counts }

    /// Why a task that asks for nothing special would wait now; empty where it may start.
    public var holdReasons: [HoldReason] { report.gate.reasons(.anyPath) }

    /// Looks for the internet behind each uplink; nil, the default, for none.
    ///
    /// It has to be started by the program. While it has found none behind the preferred uplink and some
    /// behind another one, new exchanges go over that, and running ones whose connection is silent, where
    /// ``rescue`` permits. While it has found none at all, tasks with ``TaskOptions/requiresInternet`` wait,
    /// transfers whose connection is dead, and behind a portal plain http to names; ``internetSentence`` says
    /// what was found. Without a probe a path is enough.
    public var internetProbe: InternetProbe? {
        get { state.withLock { $0.probe } }
        set {
            let observation = newValue?.observeFindings(hearsAnswers: true) {
                [weak self, weak newValue] findings in
                self?.onLoop { [weak newValue] in $0.internetChanged(findings, by: newValue) }
            }
            let former = state.withLock { state in
                defer { (state.probe, state.observation) = (newValue, observation) }
                return state.observation
            }
            former?.cancel()
            if newValue == nil { onLoop { $0.internetChanged(nil, by: nil) } }
        }
    }

    /// What the probe has found behind each uplink while there is no internet: "eth0: no answer in 10 s;
    /// wwan0: no answer in 10 s"; empty while there is, and without a probe.
    public var internetSentence: String { report.gate.facts.internetSentence }

    /// Where new exchanges go while the line behind the preferred uplink is dead; nil while they go over
    /// that.
    ///
    /// Those that ran before stay where they are unless their connection is dead. Requests that must not use
    /// the uplink wait.
    public var detour: UplinkDetour? { report.gate.facts.detour.map(UplinkDetour.init) }

    /// The scheduler for a session.
    func scheduler(on reactor: Reactor) -> LoopBound<RequestScheduler> {
        // Sessions exist only where there is a thread.
        scheduler
            ?? LoopBound(
                RequestScheduler(settings, reactor: reactor, events: events, report: report), to: reactor)
    }

    /// Later also on the loop's own thread, since the caller holds the lock.
    private func onLoop(_ body: @escaping @Sendable (RequestScheduler) -> Void) { scheduler?.perform(body) }
}
