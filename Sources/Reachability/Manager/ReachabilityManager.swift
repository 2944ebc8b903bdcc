// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import ReachabilityCore
import Synchronization

/// Monitors whether the network, or one host, is reachable; reports changes as soon as the kernel does.
///
/// The counterpart of AFNetworking's `AFNetworkReachabilityManager`. It listens to rtnetlink(7) and asks the
/// routing table; it sends no packet. Use it to decide when to try again and to explain failures, never to
/// prevent a first attempt.
///
/// ```swift
/// let manager = ReachabilityManager.shared
/// manager.setStatusChangeBlock { status in print(status.localizedString()) }
/// manager.startMonitoring()
/// ```
///
/// All methods may be called from any thread, also inside blocks. The sockets stay in the network namespace
/// of the shared loop's thread, or in `ReachabilityConfiguration.networkNamespace`.
public final class ReachabilityManager: ReachabilityProvider, Sendable {
    /// The program's shared manager of the general path, which the program starts.
    public static let shared = ReachabilityManager()

    /// The configuration of the initializer.
    public let configuration: ReachabilityConfiguration

    private let target: MonitorTarget
    let environment: MonitorEnvironment
    private let queue: DeliveryQueue
    private let state = ReachabilityState()
    private let monitor = Mutex<MonitorHandle?>(nil)
    private let statusBlock = Mutex<ReachabilityObservation?>(nil)

    /// A manager for the general path: whether any destination is reachable.
    ///
    /// - Parameters:
    ///   - configuration: The target and its settings.
    ///   - deliveryQueue: The queue that calls blocks and observers.
    public convenience init(
        configuration: ReachabilityConfiguration = .init(), deliveryQueue: DeliveryQueue = .own
    ) {
        self.init(.general, configuration, deliveryQueue, .kernel)
    }

    /// A manager for one host, by name or literal address.
    ///
    /// A name is resolved in the background, and again when the path has changed; there is no report before
    /// its first resolution. A literal, also with a zone (`fe80::1%eth0`), needs no resolver.
    public convenience init(
        hostName: String, configuration: ReachabilityConfiguration = .init(),
        deliveryQueue: DeliveryQueue = .own
    ) {
        self.init(MonitorTarget(hostName), configuration, deliveryQueue, .kernel)
    }

    /// A manager for one address, for example of a device on the same link without a default route to it.
    public convenience init(
        address: IPAddress, configuration: ReachabilityConfiguration = .init(),
        deliveryQueue: DeliveryQueue = .own
    ) {
        self.init(.addresses([ReachabilityDestination(address)]), configuration, deliveryQueue, .kernel)
    }

    /// A manager for a network that is asked for, whether the kernel prefers it or not.
    ///
    /// Its status and path are those of a socket bound to the link (SO_BINDTODEVICE, socket(7)); without one
    /// the reason says what the link lacks, or that there is none. For one host through that network set
    /// `ReachabilityConfiguration.requirement` and use the other initializers.
    ///
    ///     let modem = ReachabilityManager(requiring: .medium(.cellular))
    public convenience init(
        requiring network: NetworkRequirement, configuration: ReachabilityConfiguration = .init(),
        deliveryQueue: DeliveryQueue = .own
    ) {
        var configuration = configuration
        configuration.requirement = network
        self.init(.general, configuration, deliveryQueue, .kernel)
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

    /// Starts monitoring; when it returns, ``status`` is known, unless a name is still being resolved.
    ///
    /// Every observer gets a first report, reachable or not, always on the delivery queue and never from
    /// inside this call. Repeated calls do nothing. If the kernel refuses netlink, the status is `unknown`,
    /// ``failure`` has the reason, and later attempts follow. If no descriptor or thread is left for the
    /// loop, only the next call tries again.
    public func startMonitoring() {
        guard let session = state.begin() else { return }
        let reactor: Reactor
        do {
            reactor = try environment.reactor()
        } catch {
            return reportFailure(error, session)
        }
        let state = state
        var delegate = MonitorDelegate(
            publish: { state.publish($0, session: session) },
            refresh: { state.refresh($0, session: session) },
            record: { state.record($0, $1, $2, session: session) })
        delegate.linkReceiver = { state.linkReceiver(session: session) }
        let monitor = MonitorHandle(
            target: target, configuration: configuration, environment: environment, reactor: reactor,
            delegate: delegate)
        // Nothing starts after a stop on another thread; a stop from now on finds the monitor.
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

    /// Stops monitoring; when it returns, no block runs any more and ``status`` is `unknown`.
    ///
    /// It waits for a block that is running on another thread, so do not hold a lock that the block needs.
    /// Inside a block it returns at once. Blocks and observers stay for the next start.
    public func stopMonitoring() {
        let (running, ending) = monitor.withLock { monitor in
            defer { monitor = nil }
            return (monitor, state.end())
        }
        ending.complete()
        running?.stop()
    }

    /// Requests an evaluation, for example because a request failed although the path looked usable.
    public func reevaluate() { monitor.withLock { $0 }?.request() }

    /// The same, and returns after the evaluation.
    func reevaluateAndWait() { monitor.withLock { $0 }?.requestAndWait() }

    /// Requests an evaluation, and returns when all resulting updates are published, after grace and damping.
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
    /// The path at this instant.
    public var path: ReachabilityPath { state.path }
    /// Whether ``startMonitoring()`` was called and ``stopMonitoring()`` was not; false also if no descriptor
    /// or thread was left to start with.
    public var isMonitoring: Bool { state.isMonitoring }
    /// The reason why the kernel cannot be monitored, or only by polling; nil without a failure.
    public var failure: ReachabilityError? { state.failure }
    /// The limitations of monitoring on this machine; empty if there are none.
    public var limitations: MonitorLimitations { state.limitations }
    /// The counters since the start.
    public var counters: MonitorCounters { state.counters }

    /// The status and path at one instant.
    public func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        state.current
    }

    /// The status as a sentence for people; `table` translates it.
    public func localizedStatusString(_ table: (_ key: String) -> String? = { _ in nil }) -> String {
        status.localizedString(table)
    }

    // MARK: - Observing

    /// Sets the block that is called with each new status; replaces the previous one, and nil removes it.
    ///
    /// The block is called once with the present status (or with the first one, if monitoring has not
    /// started), and then with each different status.
    public func setStatusChangeBlock(_ block: (@Sendable (ReachabilityStatus) -> Void)?) {
        let observation = block.map { block in
            let last = LastReportedStatus()
            return observeReachability { update in
                if last.isUnreported(update) { block(update.status) }
            }
        }
        let previous = statusBlock.withLock { current -> ReachabilityObservation? in
            defer { current = observation }
            return current
        }
        previous?.cancel()
    }

    /// Sets the block that is called with the limitations of monitoring, for a log; replaces the previous
    /// one, and nil removes it.
    ///
    /// It is called on the delivery queue once for each limitation between a start and a stop; a running call
    /// may end after the stop.
    public func setLimitationBlock(_ block: (@Sendable (MonitorLimitations) -> Void)?) {
        guard let block else { return state.setLimitationBlock(nil) }
        let queue = queue
        state.setLimitationBlock { limitations in queue.submit { block(limitations) } }
    }

    /// Adds an observer of statuses and paths.
    ///
    /// It gets the present state first (event `initial`), then every change in order, one at a time. An
    /// observer that is more than 64 updates behind loses the oldest, paths before statuses.
    public func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation {
        let state = state
        let token = state.add(ObserverQueue(queue: queue, observer: observer))
        return ReachabilityObservation { state.remove(token) }
    }

    /// Adds an observer of all links but loopback; it must not block, and is called on the loop's thread or
    /// on the caller's.
    ///
    /// It gets their reports soon, and whenever an evaluation finds others: also where the path in use stays
    /// as it is. While there is such an observer, each evaluation asks the kernel for all links.
    package func observeLinks(
        _ observer: @escaping @Sendable ([LinkReport]) -> Void
    ) -> ReachabilityObservation {
        let state = state
        let token = state.addLinkObserver(observer)
        reevaluate()
        return ReachabilityObservation { state.removeLinkObserver(token) }
    }

    /// Adds an observer that never blocks; it is called on the thread of the update.
    ///
    /// - Parameters:
    ///   - waits: whether the end of the observation and of monitoring waits for a running call.
    ///   - onStop: called after each stop of monitoring, which observers do not see.
    package func observeInline(
        waits: Bool = true, _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void,
        onStop: @escaping @Sendable () -> Void = {}, onClose: @escaping @Sendable () -> Void
    ) -> ReachabilityObservation {
        let state = state
        let mailbox = ObserverQueue(queue: .custom { $0() }, waits: waits, observer: observer)
        let token = state.add(mailbox, onStop: onStop, onClose: onClose)
        return ReachabilityObservation { state.remove(token) }
    }
}

/// The status last reported to a status block; used only by the thread that calls the block.
private final class LastReportedStatus: Sendable {
    private let last = Mutex<ReachabilityStatus?>(nil)

    /// Whether to call the block: for every first report, and for every other status.
    func isUnreported(_ update: ReachabilityUpdate) -> Bool {
        last.withLock { last in
            defer { last = update.status }
            return update.event == .initial || update.status != last
        }
    }
}
