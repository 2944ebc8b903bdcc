// SPDX-License-Identifier: Apache-2.0

import CLinux
package import EventLoop
public import FoundationEssentials
public import Reachability
import ReachabilityCore
public import SessionCore
import Synchronization

/// Finds out whether there is internet behind the path, and behind each other uplink, by asking a server of
/// your own.
///
///     let probe = try InternetProbe(InternetProbeConfiguration(url))
///     probe.start()
///     for await state in probe.states { print(state) }
///
/// The kernel knows paths, not what is behind them: a router whose uplink is down, a page to sign in. The
/// server is asked at once with each new path, again with pauses that double while the answer is not
/// ``InternetState/full``, and now and then when it is. Only a second failure, one second after the first,
/// ends ``InternetState/full``. Each question is a GET over a connection of its own that follows no redirect
/// and takes nothing from a cache. Nothing is asked before ``start()``.
///
/// ``state`` is about the path in use, which is asked by the kernel's own choice. An uplink is a link with a
/// path of its own (`LinkReport.isOnline`): each other one is asked over itself (SO_BINDTODEVICE, socket(7)),
/// so that ``uplinks`` tells which line is dead and which one would do. Uplinks beside a tunnel in use are
/// not asked, nor expensive ones while the preferred one works. Other uplinks are known where the provider is
/// a `ReachabilityManager`, or reports links.
///
/// Every member may be used from any thread.
public final class InternetProbe: Sendable {
    /// What is asked, and how often.
    public let configuration: InternetProbeConfiguration
    private let driver: LoopBound<InternetProbeDriver>
    private let current: CurrentFindings

    /// A probe.
    ///
    /// - Parameters:
    ///   - configuration: what is asked, and how often.
    ///   - provider: reports the paths; nil for one that is always there. ``ReachabilityManager/shared`` has
    ///     to be started by the
    ///     program: while the status is `unknown` the server is asked as if there were a path.
    ///   - session: proxy, interface and addresses of the questions.
    ///   - securityPolicy: how the server is judged, where the URL is https.
    /// - Throws: ``SessionError/Code/outOfResources`` where no thread can be started.
    public convenience init(
        _ configuration: InternetProbeConfiguration,
        provider: (any ReachabilityProvider)? = ReachabilityManager.shared,
        session: SessionConfiguration = SessionConfiguration(), securityPolicy: SecurityPolicy = .default
    ) throws(SessionError) {
        let reactor: Reactor
        do throws(ReactorError) { reactor = try Reactor.shared } catch {
            throw SessionError(
                .outOfResources, "no thread for transfers can be started: \(error)",
                advice: "raise the limits of open files and threads (ulimit -n, ulimit -u)")
        }
        self.init(
            configuration, provider: provider, session: session, securityPolicy: securityPolicy, on: reactor)
    }

    /// A probe whose questions leave from a loop's thread.
    package convenience init(
        _ configuration: InternetProbeConfiguration, provider: (any ReachabilityProvider)?,
        session: SessionConfiguration, securityPolicy: SecurityPolicy = .default, on reactor: Reactor,
        clock: ClockCalls = .system,
        isBindingRefused: @escaping @Sendable (String) -> Bool = { MonitoredSocket.isBindingRefused(to: $0) }
    ) {
        self.init(
            configuration, provider: provider,
            manager: URLSessionManager(
                configuration: session, securityPolicy: securityPolicy, on: reactor, queue: Self.queue,
                sockets: nil),
            on: reactor, clock: clock, isBindingRefused: isBindingRefused)
    }

    /// How the queue of a probe's questions is set.
    package static var queue: RequestQueue.Settings {
        // Its own questions are what others wait for.
        var queue = RequestQueue.Settings()
        queue.follows = .none
        // The line that is asked about is the one that carries the question.
        queue.rescue = .never
        // Its failure is told, and it is asked again.
        queue.waitsForClock = false
        return queue
    }

    /// A probe whose questions go by a manager of the same loop, with ``queue``.
    package init(
        _ configuration: InternetProbeConfiguration, provider: (any ReachabilityProvider)?,
        manager: URLSessionManager, on reactor: Reactor, clock: ClockCalls = .system,
        isBindingRefused: @escaping @Sendable (String) -> Bool = { MonitoredSocket.isBindingRefused(to: $0) }
    ) {
        self.configuration = configuration
        let current = CurrentFindings()
        self.current = current
        driver = LoopBound(
            InternetProbeDriver(
                configuration, provider: provider, manager: manager, reactor: reactor, clock: clock,
                isBindingRefused: isBindingRefused
            ) { current.store($0) },
            to: reactor)
    }

    deinit { driver.perform { $0.close() } }

    /// Begins to ask; does nothing where that was done.
    public func start() { driver.perform { [driver] in $0.start(driver) } }

    /// Asks no more; the state is ``InternetState/unknown`` then.
    public func stop() { driver.perform { $0.stop() } }

    /// Asks now, for instance because a transfer has failed; does nothing where there is no path, or a
    /// question is on its way.
    public func check() { driver.perform { [driver] in $0.hurry(driver) } }

    /// The same about one uplink alone, for what counts the answers; the pauses stay as they are.
    func check(_ interface: String) { driver.perform { [driver] in $0.ask(about: interface, driver) } }

    /// Takes over the pauses of another configuration; those that have begun change too.
    package func setPauses(_ configuration: InternetProbeConfiguration) {
        driver.perform { [driver, timing = configuration.timing] in $0.setPauses(timing, driver) }
    }

    /// Whether something waits for the internet, so that the pauses are short.
    package func setAwaited(_ isAwaited: Bool, by waiter: ObjectIdentifier) {
        driver.perform { [driver] in $0.setAwaited(isAwaited, by: waiter, driver) }
    }

    /// Asks over these interfaces from now on as over others, although their traffic costs.
    package func ask(expensive names: Set<String>) {
        driver.perform { [driver] in $0.ask(expensive: names, driver) }
    }

    /// What is known of the path in use.
    public var state: InternetState { current.load().state }

    /// Where to sign in to the network of the path in use; nil unless a redirect says so.
    public var portalURL: URL? { current.load().portalURL }

    /// What is known of each uplink, the preferred one first; empty before ``start()``, and where no name of
    /// an interface is known.
    public var uplinks: [UplinkInternet] { findings.uplinks }

    /// All that is known.
    package var findings: InternetFindings {
        var findings = current.load()
        let (wall, boot) = (WallClock.nanoseconds, clinux_boot_nanoseconds())
        for index in findings.uplinks.indices { findings.uplinks[index].correct(wall: wall, boot: boot) }
        return findings
    }

    /// The states: the present one first, then each different one; a slow reader gets the newest.
    ///
    /// The sequence ends when the task is cancelled or the probe is gone; it continues over stop and start.
    public var states: AsyncStream<InternetState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observe({ continuation.yield($0) }, end: { continuation.finish() })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }

    /// The uplinks: the present ones first, then whenever one comes or goes, or its state is another; a slow
    /// reader gets the newest.
    ///
    /// The sequence ends when the task is cancelled or the probe is gone; it continues over stop and start.
    public var uplinkChanges: AsyncStream<[UplinkInternet]> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observeFindings(
                { continuation.yield($0.uplinks) }, end: { continuation.finish() })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }

    /// Has `observer` called with the present uplinks, and then whenever one comes or goes, or its state is
    /// another, one call at a time.
    ///
    /// - Parameter queue: where it is called; a thread of its own unless said.
    public func observeUplinks(
        queue: DeliveryQueue = .own, _ observer: @escaping @Sendable ([UplinkInternet]) -> Void
    ) -> ReachabilityObservation {
        observeFindings { findings in queue.submit { observer(findings.uplinks) } }
    }

    /// Has `observer` called with the present state, and then with each different one, one at a time.
    ///
    /// - Parameter queue: where it is called; a thread of its own unless said.
    public func observeInternet(
        queue: DeliveryQueue = .own, _ observer: @escaping @Sendable (InternetState) -> Void
    ) -> ReachabilityObservation {
        observe { state in queue.submit { observer(state) } }
    }

    /// The same on the loop's thread, where it must return soon; `end` is called there when the probe is
    /// gone.
    package func observe(
        _ observer: @escaping @Sendable (InternetState) -> Void, end: @escaping @Sendable () -> Void = {}
    ) -> ReachabilityObservation {
        let known = KnownState()
        return observeFindings(
            { findings in if known.isReplaced(by: findings.state) { observer(findings.state) } }, end: end)
    }

    /// The same with all that is found.
    ///
    /// - Parameter hearsAnswers: Whether it is called with each answer, whether that is news or not.
    package func observeFindings(
        hearsAnswers: Bool = false, _ observer: @escaping @Sendable (InternetFindings) -> Void,
        end: @escaping @Sendable () -> Void = {}
    ) -> ReachabilityObservation {
        let subscription = InternetSubscription(observer, hearsAnswers: hearsAnswers, end: end)
        driver.perform { $0.add(subscription) }
        return ReachabilityObservation { [driver] in
            subscription.cancel()
            driver.perform { $0.remove(subscription) }
        }
    }
}

/// What is found, for other threads than the loop's.
private final class CurrentFindings: Sendable {
    private let findings = Mutex(InternetFindings())

    func load() -> InternetFindings { findings.withLock { $0 } }
    func store(_ new: InternetFindings) { findings.withLock { $0 = new } }
}

/// The state that an observer knows; nil before the first one.
private final class KnownState: Sendable {
    private let state = Mutex<InternetState?>(nil)

    /// Whether the state is another than the one before.
    func isReplaced(by new: InternetState) -> Bool {
        state.withLock { state in
            defer { state = new }
            return state != new
        }
    }
}

/// An observer of what is found.
final class InternetSubscription: Sendable {
    private let observer: @Sendable (InternetFindings) -> Void
    let hearsAnswers: Bool
    /// The probe is gone.
    let end: @Sendable () -> Void
    private let isCancelled = Atomic<Bool>(false)

    init(
        _ observer: @escaping @Sendable (InternetFindings) -> Void, hearsAnswers: Bool,
        end: @escaping @Sendable () -> Void
    ) {
        self.observer = observer
        self.hearsAnswers = hearsAnswers
        self.end = end
    }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }
    func publish(_ findings: InternetFindings) {
        if !isCancelled.load(ordering: .relaxed) { observer(findings) }
    }
}

extension UplinkProbeStateMachine.Network {
    /// What a report says of the uplinks.
    init(_ update: ReachabilityUpdate, _ links: [LinkReport]) {
        self.init()
        let path = update.path
        // Unknown: asking finds it out. With an alternative the transfer goes over that.
        isUsable = path.isOnline || update.status == .unknown || path.alternative != nil
        generation = path.generation
        isTunnel = path.isTunnel
        isAlternative = isUsable && path.interface == nil && path.alternative != nil
        let name = isUsable ? path.interface ?? path.alternative : nil
        let own = links.first { $0.name == name }
        preferred = name.map {
            .init(
                $0, index: own?.index ?? path.interfaceIndex,
                gateway: (path.gateway ?? own?.gateway)?.description,
                traits: UplinkTraits(isExpensive: path.isExpensive))
        }
        // This machine itself needs no uplink.
        guard path.medium != .loopback else { return }
        others = links.filter { $0.isOnline && $0.name != name }.map { link in
            .init(
                link.name, index: link.index, gateway: link.gateway?.description,
                traits: UplinkTraits(
                    isWiFi: link.isWiFi,
                    isWired: !link.isWiFi && link.medium != .cellular && link.medium != .other,
                    isExpensive: link.isExpensive, isConstrained: link.isConstrained))
        }
    }
}
