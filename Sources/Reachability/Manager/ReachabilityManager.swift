// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import ReachabilityCore
import Synchronization

/// Watches whether the network, or one host, can be reached, and says so as soon as the kernel knows.
///
/// The counterpart of AFNetworking's `AFNetworkReachabilityManager`. It listens to rtnetlink(7) and asks the routing
/// table; no packet is sent. Use it to decide when to try again and to explain failures, never to forbid a first try.
///
/// ```swift
/// let manager = ReachabilityManager.shared
/// manager.setStatusChangeBlock { status in print(status.localizedString()) }
/// manager.startMonitoring()
/// ```
///
/// All methods may be called from any thread, inside blocks as well. The sockets stay in the network namespace that
/// the shared loop's thread was started in, or in `ReachabilityConfiguration.networkNamespace`, for good.
public final class ReachabilityManager: ReachabilityProvider, Sendable {
    /// The manager that a program's parts share.
    ///
    /// It watches the general path and is not started by itself.
    public static let shared = ReachabilityManager()

    /// The configuration it was made with.
    public let configuration: ReachabilityConfiguration

    private let target: MonitorTarget
    private let environment: MonitorEnvironment
    private let queue: DeliveryQueue
    private let state = ReachabilityState()
    private let monitor = Mutex<MonitorHandle?>(nil)
    private let statusBlock = Mutex<ReachabilityObservation?>(nil)

    /// A manager for the general path: whether there is a way out to anywhere.
    ///
    /// - Parameters:
    ///   - configuration: What to watch and how.
    ///   - deliveryQueue: Where blocks and observers are called.
    public convenience init(
        configuration: ReachabilityConfiguration = .init(), deliveryQueue: DeliveryQueue = .own
    ) {
        self.init(.general, configuration, deliveryQueue, .kernel)
    }

    /// A manager for one host, by name or literal address.
    ///
    /// A name is resolved in the background, and again when the path has changed. Until it has been resolved for the
    /// first time there is no report. A literal, with a zone too (`fe80::1%eth0`), never meets the resolver.
    public convenience init(
        hostName: String, configuration: ReachabilityConfiguration = .init(),
        deliveryQueue: DeliveryQueue = .own
    ) {
        self.init(MonitorTarget(hostName), configuration, deliveryQueue, .kernel)
    }

    /// A manager for one address, for example a device on the same link which no default route leads to.
    public convenience init(
        address: IPAddress, configuration: ReachabilityConfiguration = .init(),
        deliveryQueue: DeliveryQueue = .own
    ) {
        self.init(.addresses([ReachabilityDestination(address)]), configuration, deliveryQueue, .kernel)
    }

    package init(
        _ target: MonitorTarget, _ configuration: ReachabilityConfiguration, _ queue: DeliveryQueue,
        _ environment: MonitorEnvironment
    ) {
        self.target = target
        self.configuration = configuration
        self.queue = queue
        self.environment = environment
    }

    deinit {
        stopMonitoring()
        state.close()
    }

    // MARK: - Monitoring

    /// Starts to watch.
    ///
    /// When it returns, ``status`` is known, unless a name has still to be resolved.
    ///
    /// Every observer gets a first report, reachable or not, always on the delivery queue and never from inside this
    /// call. Starting twice does nothing. Where the kernel refuses netlink, the status is `unknown`,
    /// ``failure`` says why, and it is tried again now and then.
    ///
    /// Only where there is no descriptor or thread left for the loop, nothing is tried again until the next call.
    public func startMonitoring() {
        guard let session = state.begin() else { return }
        let reactor: Reactor
        do {
            reactor = try environment.reactor()
        } catch {
            reportFailure(error, session)
            return
        }
        let state = state
        let monitor = MonitorHandle(
            target: target, configuration: configuration, environment: environment, reactor: reactor,
            delegate: MonitorDelegate(
                publish: { state.publish($0, session: session) },
                refresh: { state.refresh($0, session: session) },
                record: { state.record($0, $1, $2, session: session) }))
        // A stop on another thread may have come first: then nothing is started. One that comes now finds the monitor.
        let isCurrent = self.monitor.withLock { current in
            guard state.isCurrent(session) else { return false }
            current = monitor
            return true
        }
        if isCurrent { monitor.startAndWait() }
    }

    private func reportFailure(_ error: ReachabilityError, _ session: UInt64) {
        state.record(MonitorCounters(), error, .noEvents, session: session)
        var path = ReachabilityPath()
        path.reason = ReachabilityReason(.kernelRefused, sentence: error.description)
        state.publish(
            ReachabilityUpdate(event: .initial, status: .unknown, previous: nil, path: path), session: session
        )
        state.abandon(session)
    }

    /// Stops watching.
    ///
    /// When it returns, no block runs any more and ``status`` is `unknown`.
    ///
    /// It waits for a block that is running on another thread; so do not call it while holding what that block waits
    /// for. Inside a block it returns at once. Blocks and observers stay, for the next start.
    public func stopMonitoring() {
        let (running, ending) = monitor.withLock { monitor in
            defer { monitor = nil }
            return (monitor, state.end())
        }
        ending.complete()
        running?.stop()
    }

    /// Has the kernel asked again now, for example because a request failed although the path looked good.
    public func reevaluate() { monitor.withLock { $0 }?.request() }

    /// Has the kernel asked, and returns when what follows has been told, grace and damping included.
    package func settle() async {
        guard let monitor = monitor.withLock({ $0 }) else { return }
        await withCheckedContinuation { continuation in monitor.whenSettled { continuation.resume() } }
    }

    // MARK: - How things are

    /// The status; `unknown` before start and after stop.
    public var status: ReachabilityStatus { state.status }
    /// Whether the status is `wifi` or `wired`; false while `unknown`.
    public var isReachable: Bool { state.status.isReachable }
    /// Whether the status is `wifi`.
    public var isReachableViaWiFi: Bool { state.status == .wifi }
    /// Whether the status is `wired`.
    public var isReachableViaWired: Bool { state.status == .wired }
    /// The path of this instant.
    public var path: ReachabilityPath { state.path }
    /// Whether ``startMonitoring()`` was called and ``stopMonitoring()`` was not; false as well where there was no descriptor or
    /// thread left to start with.
    public var isMonitoring: Bool { state.isMonitoring }
    /// Why the kernel cannot be watched, or only by asking it now and then; nil where all is well.
    public var failure: ReachabilityError? { state.failure }
    /// What the monitoring has to do without on this machine; empty where it has everything.
    public var limitations: MonitorLimitations { state.limitations }
    /// What happened since the start.
    public var counters: MonitorCounters { state.counters }

    /// The status and path of one instant.
    public func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) { state.current }

    /// The status as a sentence for people; `table` translates it.
    public func localizedStatusString(_ table: (_ key: String) -> String? = { _ in nil }) -> String {
        status.localizedString(table)
    }

    // MARK: - Observing

    /// Sets the block that is called with each new status; it replaces the one before, nil clears it.
    ///
    /// The block is called once with the present status (with the first one, where monitoring has not started), and
    /// then only when the status is another one.
    public func setStatusChangeBlock(_ block: (@Sendable (ReachabilityStatus) -> Void)?) {
        let observation = block.map { block in
            let last = LastReportedStatus()
            return observeReachability { update in
                if last.isNews(update) { block(update.status) }
            }
        }
        let previous = statusBlock.withLock { current -> ReachabilityObservation? in
            defer { current = observation }
            return current
        }
        previous?.cancel()
    }

    /// Sets the block that hears what the monitoring has to do without, for a log; it replaces the one before, nil
    /// clears it.
    ///
    /// It is called on the delivery queue once for each limitation that arises between a start and a stop, and a call
    /// that is under way may end after the stop.
    public func setLimitationBlock(_ block: (@Sendable (MonitorLimitations) -> Void)?) {
        guard let block else { return state.setLimitationBlock(nil) }
        let queue = queue
        state.setLimitationBlock { limitations in queue.submit { block(limitations) } }
    }

    /// Adds an observer of statuses and paths; any number may be there.
    ///
    /// It gets the present state first (event `initial`), then every change in order, one at a time. One that is more
    /// than 64 updates behind loses the oldest of them, those of paths before those of statuses.
    public func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation {
        let state = state
        let token = state.add(ObserverQueue(queue: queue, observer: observer))
        return ReachabilityObservation { state.remove(token) }
    }

    /// An observer that only passes on and never waits: it is called where the update comes about.
    ///
    /// - Parameter onStop: called after each stop of the monitoring, of which observers are not told.
    package func observeInline(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void,
        onStop: @escaping @Sendable () -> Void = {}, onClose: @escaping @Sendable () -> Void
    ) -> ReachabilityObservation {
        let state = state
        let mailbox = ObserverQueue(queue: .custom { $0() }, observer: observer)
        let token = state.add(mailbox, onStop: onStop, onClose: onClose)
        return ReachabilityObservation { state.remove(token) }
    }
}

/// What a status block has been told; only the thread that calls the block at the time asks.
private final class LastReportedStatus: Sendable {
    private let last = Mutex<ReachabilityStatus?>(nil)

    /// Whether the block is to be called: with every first report, and then with another status, whatever update brings it.
    func isNews(_ update: ReachabilityUpdate) -> Bool {
        last.withLock { last in
            defer { last = update.status }
            return update.event == .initial || update.status != last
        }
    }
}
